"""Every refusal as the API and the pages show it, next to a stored list that a change must keep.

A change that is meant shows in the list after
`python -m tests.unit.http.response.test_refusals_on_the_wire`.
"""

import importlib
import json
import pkgutil
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

import mudra
from mudra.console.framework.console_errors import (
    NO_SUCH_PAGE,
    PROOF_TOO_OLD,
    CrossSiteForm,
    PageRefusal,
    StaleForm,
    page_problem,
)
from mudra.demo.faults.fault import (
    TOO_MANY_FAULT_KEYS,
    FaultKind,
    FaultRefused,
    fault_conflict,
    operators_fault,
)
from mudra.disputes.dispute import Act, State
from mudra.disputes.dispute_service import NoSuchDispute, NoSuchEvidence
from mudra.disputes.evidence import TOO_MANY_FILES, TOO_MANY_FILES_TODAY
from mudra.disputes.raise_rule import TOO_MANY_OPEN, TOO_MANY_TODAY, AlreadyOpen
from mudra.disputes.step_rule import TOO_LATE_TO_REOPEN, TOO_MANY_STEPS, NotInThisState
from mudra.http.request.request_context import EnvelopeFault
from mudra.http.response.errors import problem_of
from mudra.http.response.http_refusals import (
    NO_SUCH_ADDRESS,
    UNEXPECTED,
    HttpRefusal,
    InvalidField,
    MethodNotAllowed,
    NoAuthorization,
    TooManyCalls,
    Unavailable,
    too_many_listeners,
)
from mudra.identity.accounts.acts.change_address import NEEDS_SECOND_OPERATOR, NO_ADDRESS_CHANGE
from mudra.identity.accounts.acts.send_link import too_many_link_requests
from mudra.identity.accounts.email_link import LinkFault, LinkRefused
from mudra.identity.accounts.password_rules import PasswordFault, PasswordRefusal
from mudra.identity.accounts.refusals import (
    ADDRESS_TAKEN,
    HashingBusy,
    NoSuchUser,
    WrongAccountKind,
)
from mudra.identity.memberships.admins import LastAdmin, NotAnAdmin, no_such_entity
from mudra.identity.memberships.contact import TooManyContacts
from mudra.identity.memberships.hand_over import NoInvitation
from mudra.identity.memberships.in_bulk.bulk_act import (
    TooManyMembers,
    already_suspended,
    no_admin_invited,
)
from mudra.identity.memberships.in_bulk.member_file import FileRefused
from mudra.identity.memberships.invitation import TooManyInvitations
from mudra.identity.memberships.member import Member, MemberStatus, NotYourEntity
from mudra.identity.memberships.member_status import already_retired, entry_not_live
from mudra.identity.memberships.onboard import MemberDiffers
from mudra.identity.operators.operator import (
    NO_OPERATOR,
    OwnScopes,
    Scope,
    ScopeMissing,
    ScopeNotHeld,
)
from mudra.identity.operators.person_rule import LastOperator, OwnAccount, PersonHoldsMore
from mudra.identity.passkeys.check_passkey import PASSKEY_REFUSED
from mudra.identity.passkeys.manage_passkeys import PASSKEYS_OFF, TOO_MANY_PASSKEYS
from mudra.identity.second_factor.after_password import CODE_MISSING, ENROLL_FIRST, TOKENS_OFF
from mudra.identity.second_factor.check_code import CODE_REFUSED
from mudra.identity.second_factor.enroll import FACTOR_REQUIRED, NO_SECOND_FACTOR, SET_UP_ENDED
from mudra.identity.sign_in.sign_in import SignInRefused, TooManyAttempts, TooManySignIns
from mudra.identity.single_sign_on.claims import SignOnRefused
from mudra.identity.single_sign_on.local_sign_in import LOCAL_SIGN_IN_OFF
from mudra.identity.single_sign_on.ports import ProviderFailed
from mudra.levels.level_service import NO_LEVELS, NO_SUCH_REPORT, TOO_MANY_REPORTS
from mudra.levels.printing.league import NO_LEAGUE
from mudra.levels.printing.pdf import NO_PDF, TOO_MANY_PRINTS
from mudra.levels.target import NO_SUCH_TARGET, TOO_MANY_RULES, TOO_MANY_TARGETS
from mudra.localization.language import ENGLISH, written_in
from mudra.localization.languages import Languages
from mudra.metrics.announcements.announcement import (
    ANNOUNCED_BEFORE,
    NOT_PUBLISHED,
    TOO_MANY_ANNOUNCEMENTS,
    NoSuchAnnouncement,
)
from mudra.metrics.health.picture import TooManyPairs
from mudra.metrics.incidents.acts.act import INCIDENT_NOT_OPEN, INCIDENT_NOT_OVER, Acknowledged
from mudra.metrics.incidents.incident_service import NoSuchIncident
from mudra.metrics.incidents.silence import TOO_MANY_MAINTENANCES, TOO_MUCH_MAINTENANCE
from mudra.metrics.incidents.silence_service import NO_SUCH_SILENCE
from mudra.metrics.notifications.preferences import NO_OWN_WEBHOOK, USUAL, checked
from mudra.metrics.notifications.webhook import (
    MESSAGE_WAITS,
    NoSuchEvent,
    NoSuchWebhook,
    TooManyWebhooks,
    fips_refused,
    too_many_resends,
    too_many_tests,
)
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.held_reports import (
    HELD_REPORT_REPLACED,
    NO_SUCH_HELD_REPORT,
    HeldState,
    held_report_decided,
)
from mudra.metrics.payload.ingest_rule import Receipt, TxnIdReused, WindowKey
from mudra.metrics.payload.push_limits import TooBusyForPushes, TooManyPushes
from mudra.metrics.payload.push_report import NotYourMetrics
from mudra.metrics.payload.validation import ReportRefused
from mudra.metrics.subscriptions.subscription import SubscriptionGone
from mudra.metrics.subscriptions.webhook_subscription import TooManyChallenges, TooManySubscriptions
from mudra.overview.mail_queue_store import NoSuchMail
from mudra.registry.lifecycle.decision import RegistryAction, reason_missing
from mudra.registry.lifecycle.refusal import (
    NOT_YOUR_ENTRY,
    AlreadyHeld,
    NeedsOperator,
    SecondOperatorNeeded,
    SecondOperatorTied,
    WrongState,
    content_differs,
    duplicate_entity,
    go_live_too_far,
    unknown_entity,
    unknown_version,
    version_moved,
    version_not_named,
    wrong_type,
)
from mudra.registry.payload.refusals import (
    PayloadNotChecked,
    PayloadRefused,
    too_fast_writes,
    too_many_checks,
    too_many_writes,
)
from mudra.registry.probe.probe import not_probed, nothing_to_probe
from mudra.server_protocol.body_errors import (
    BodyReadLate,
    BodyTooLarge,
    BodyTooSlow,
    ClientGone,
    MalformedBody,
    UnsupportedEncoding,
    UnsupportedMediaType,
)
from mudra.shared.dpop_proof import ProofInvalid
from mudra.shared.finding import Finding
from mudra.shared.refusal import LimitedUntil, Refusal, ValueRefused
from mudra.shared.unavailable import Outage, ServiceUnavailable
from mudra.tokens.authentication.client_assertion import AssertionInvalid
from mudra.tokens.authentication.proof_guard import TooManyProofs
from mudra.tokens.authentication.secret_check import (
    RateLimited,
    SecretExpired,
    SecretGraceEnded,
    SecretUnknown,
)
from mudra.tokens.authentication.token_check import (
    TokenExpired,
    TokenInvalid,
    TokenOfOtherKind,
    TokenRevoked,
)
from mudra.tokens.revocation.revocation_limit import TooManyRevocations
from mudra.tokens.revocation.revoke_token import ANOTHER_CLIENTS_TOKEN
from mudra.tokens.secrets.address_binding import (
    EXEMPTION_BY_OPERATOR,
    AddressesInUse,
    AddressNotListed,
    NoListedAddresses,
    TooManySwitches,
)
from mudra.tokens.secrets.reset_rule import ResetLimitReached, ResetTooSoon
from mudra.tokens.secrets.secret_service import NOTHING_IN_GRACE, SecretChanged
from mudra.tokens.signing_keys.signing_key_service import UnknownKey

SIGN_ON_REASONS = (
    "not-an-operator", "no-scopes", "no-scope-claim", "account-disabled", "email-not-verified",
    "no-email",
)  # fmt: skip
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = NOW + timedelta(minutes=9, microseconds=1)
FINDINGS = (Finding("$.fips[0].id", "is missing", "1 to 64 characters"), Finding("$.ver", "is new"))
RECEIPT = Receipt("r-1", WindowKey("SAARTHI-AA", Tag.REQUESTS, NOW), "t-1", b"", 1, NOW)
MEMBER = Member("KAVERI-FIP", "FIP", "Kaveri Bank", "active", ())
ADDRESSES = tuple(f"192.0.2.{last}" for last in range(1, 8))
REFUSALS: tuple[Refusal, ...] = (
    # The request itself
    InvalidField("limit must be a whole number"), EnvelopeFault("txnId must be a UUID"),
    MalformedBody("the body is no JSON"), MalformedBody("the body is too deep", unread=True),
    ClientGone(), BodyTooSlow(2.5, 100), BodyTooSlow(30, 100), BodyReadLate(), BodyTooLarge(65536),
    UnsupportedMediaType("text/html", "application/json"), UnsupportedEncoding("br", ("gzip",)),
    NO_SUCH_ADDRESS, MethodNotAllowed(("GET", "POST")),
    Unavailable(), Unavailable("no place for 3 more", 7),
    *(Unavailable(ServiceUnavailable(cause).sentence) for cause in Outage),
    UNEXPECTED, too_many_listeners(60),
    # Tokens and secrets
    AssertionInvalid("exp is over"), UnknownKey("k-1"), ANOTHER_CLIENTS_TOKEN,
    TooManyRevocations(600), NoAuthorization(), TokenInvalid(), TokenOfOtherKind("a User Access Token"),
    TokenExpired(NOW), TokenRevoked(),
    ProofInvalid("htm is not the method"), TooManyProofs(30), RateLimited(1), RateLimited(90),
    NotYourEntity(), SecretChanged(3), SecretUnknown(), SecretExpired(NOW), SecretGraceEnded(NOW),
    ResetTooSoon(LATER, NOW), ResetLimitReached(LATER, NOW), NOTHING_IN_GRACE,
    AddressNotListed("KAVERI-FIP", "192.0.2.1"), NoListedAddresses("KAVERI-FIP"),
    AddressesInUse(ADDRESSES[:2]), AddressesInUse(ADDRESSES), TooManySwitches(LATER, NOW),
    EXEMPTION_BY_OPERATOR,
    FaultRefused("minutes must be 1 to 60"),
    fault_conflict(FaultKind.EXPIRED_SECRET, FaultKind.GRACE_WARNING),
    operators_fault(FaultKind.GRACE_WARNING), TOO_MANY_FAULT_KEYS,
    # People and their accounts
    SignInRefused(), TooManyAttempts(LATER, NOW), TooManySignIns(LATER, NOW, 60), CODE_REFUSED, CODE_MISSING, TOKENS_OFF,
    ENROLL_FIRST, NO_SECOND_FACTOR, SET_UP_ENDED, PASSKEY_REFUSED,
    *(SignOnRefused(reason) for reason in SIGN_ON_REASONS),
    ProviderFailed("no-answer"), LOCAL_SIGN_IN_OFF, ValueRefused("name", "must be 1 to 40 printable characters"), TOO_MANY_PASSKEYS,
    PASSKEYS_OFF, FACTOR_REQUIRED, HashingBusy(2),
    *(PasswordRefusal(fault) for fault in PasswordFault),
    *(LinkRefused(fault) for fault in LinkFault),
    too_many_link_requests(600), ScopeMissing(Scope.MEMBERS), NO_OPERATOR,
    ScopeNotHeld(Scope.REGISTRY), OwnScopes(), OwnAccount(), PersonHoldsMore(Scope.REGISTRY),
    LastOperator(), NEEDS_SECOND_OPERATOR, NO_ADDRESS_CHANGE,
    ValueRefused("email", "must be an email address"),
    ADDRESS_TAKEN, WrongAccountKind(), NoSuchUser(),
    # Members
    TooManyInvitations(LATER, NOW), TooManyContacts(LATER, NOW), FileRefused(0, "is empty"),
    FileRefused(3, "has no entity ID"), no_such_entity("KAVERI-FIP"), already_retired("KAVERI-FIP"),
    already_suspended("KAVERI-FIP"), no_admin_invited("KAVERI-FIP"), TooManyMembers(501),
    entry_not_live("KAVERI-FIP", MemberStatus.SUSPENDED), NoInvitation(), NotAnAdmin(), LastAdmin(),
    MemberDiffers(MEMBER, "name"), NoSuchMail(),
    # Registry
    PayloadNotChecked(), PayloadRefused(FINDINGS[:1]), PayloadRefused(FINDINGS), too_many_writes(60),
    too_many_checks(1), too_fast_writes(1),
    NOT_YOUR_ENTRY, NeedsOperator("registry"), nothing_to_probe("KAVERI-FIP"),
    not_probed("KAVERI-FIP"), unknown_entity("KAVERI-FIP"), unknown_version("KAVERI-FIP", 3),
    duplicate_entity("KAVERI-FIP"), AlreadyHeld("$.kid", "k-1", "DECCAN-FIP"),
    AlreadyHeld("entityinfo.name", "Deccan Bank", "DECCAN-FIP", looks_alike=True),
    version_not_named("KAVERI-FIP"), content_differs("KAVERI-FIP", 3),
    AlreadyHeld("$.n", "", "DECCAN-FIP"), WrongState("KAVERI-FIP", "approve", "live", "pending"),
    SecondOperatorNeeded("KAVERI-FIP", is_admin=True),
    SecondOperatorNeeded("KAVERI-FIP", is_admin=False), SecondOperatorTied("KAVERI-FIP", LATER),
    SecondOperatorNeeded("KAVERI-FIP", is_admin=False, onboarded=True),
    SecondOperatorTied("KAVERI-FIP", None),
    version_moved("KAVERI-FIP", 1, 2), wrong_type("FIU", "FIP"),
    *filter(None, (reason_missing(RegistryAction.SUSPEND, ""),)),
    go_live_too_far(90),
    # Metrics
    ReportRefused(FINDINGS, 2), ReportRefused(FINDINGS[:1], 1),
    TxnIdReused("SAARTHI-AA", "t-1", RECEIPT), NotYourMetrics("SAARTHI-AA"), TooManyPushes(30),
    TooBusyForPushes(5), TooManyPairs(), NO_SUCH_HELD_REPORT,
    held_report_decided(HeldState.ADMITTED, "noc@network.example"), HELD_REPORT_REPLACED,
    NoSuchIncident(), ValueRefused("note", "must be text"), INCIDENT_NOT_OPEN, INCIDENT_NOT_OVER,
    Acknowledged("noc@network.example"), NO_SUCH_SILENCE, ValueRefused("until", "must be later"),
    TOO_MANY_MAINTENANCES, TOO_MUCH_MAINTENANCE, NoSuchAnnouncement(),
    ValueRefused("title", "must be text"), TOO_MANY_ANNOUNCEMENTS, SubscriptionGone(),
    NOT_PUBLISHED, ANNOUNCED_BEFORE, NoSuchEvent(), too_many_resends(90),
    NoSuchWebhook(), no_such_entity("KAVERI-FIP"), MESSAGE_WAITS, too_many_tests(90), too_many_tests(1800),
    ValueRefused("timeZone", "must be a time zone"), NO_OWN_WEBHOOK,
    *(
        one
        for one in (
            checked(replace(USUAL, time_zone="Nowhere")),
            checked(replace(USUAL, quiet_from=time(22), quiet_until=None)),
            checked(replace(USUAL, quiet_from=None, quiet_until=time(22))),
            checked(replace(USUAL, quiet_from=time(22), quiet_until=time(22))),
        )
        if isinstance(one, Refusal)
    ),
    fips_refused("must be FIPs of the network"), ValueRefused("url", "must be https"), TooManyWebhooks(5),
    TooManySubscriptions(), TooManyChallenges(),
    # Disputes and service levels
    NoSuchDispute(), NoSuchEvidence(), AlreadyOpen("7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"),
    TOO_MANY_OPEN, TOO_MANY_TODAY, NotInThisState(Act.ACCEPT, State.WITHDRAWN),
    NotInThisState(Act.INFORM, State.LAPSED), TOO_MANY_STEPS, TOO_LATE_TO_REOPEN, TOO_MANY_FILES,
    TOO_MANY_FILES_TODAY, NO_SUCH_REPORT, NO_LEVELS, TOO_MANY_REPORTS, NO_SUCH_TARGET,
    TOO_MANY_TARGETS, TOO_MANY_RULES, NO_LEAGUE, NO_PDF, TOO_MANY_PRINTS,
    # The console
    TooManyCalls(3), CrossSiteForm(), StaleForm(), PROOF_TOO_OLD, NO_SUCH_PAGE,
    PageRefusal("choose at most 200 incidents at once"),
)  # fmt: skip
"""Each class at least once, by subject."""
BASES = {HttpRefusal, LimitedUntil}
LANGUAGES = Languages()
STORED = Path(__file__).with_name("refusals_on_the_wire.jsonl")


def test_every_refusal_is_among_them() -> None:
    for module in pkgutil.walk_packages(mudra.__path__, "mudra."):
        if ".migrations" not in module.name:
            importlib.import_module(module.name)

    assert {type(one) for one in REFUSALS} == refusals_below(Refusal) - BASES


def refusals_below(base: type[Refusal]) -> set[type[Refusal]]:
    below = {one for one in base.__subclasses__() if one.__module__.startswith("mudra.")}
    return below.union(*(refusals_below(one) for one in below))


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda one: type(one).__name__)
def test_a_refusal_says_in_a_sentence_what_is_wrong_and_when_to_try_again(refusal: Refusal) -> None:
    problem = problem_of(refusal)

    assert len(problem.sentence.split()) >= 3
    assert not problem.sentence.endswith(".")
    assert ("Retry-After" in problem.headers) == (problem.status in {429, 503})
    assert ("WWW-Authenticate" in problem.headers) == (problem.status == 401)


def test_every_refusal_is_shown_as_before() -> None:
    stored = [json.loads(line) for line in STORED.read_text().splitlines()]

    assert [shown(one) for one in REFUSALS] == stored


def shown(refusal: Refusal) -> Mapping[str, object]:
    """Returns what a caller of the API gets, and what the pages say where it is something else."""
    page, wire = page_problem(refusal), problem_of(refusal)
    with written_in(LANGUAGES.find("hi") or ENGLISH):
        hindi = page_problem(refusal).sentence
    found: dict[str, object] = {
        "class": type(refusal).__name__,
        "status": wire.status,
        "code": wire.code.value,
        "text": wire.sentence,
        "headers": dict(wire.headers),
    }
    if wire.findings:
        found["findings"] = len(wire.findings)
    if page.sentence != wire.sentence:
        found["page"] = page.sentence
    if hindi != page.sentence:
        found["hindi"] = hindi
    return found


if __name__ == "__main__":
    STORED.write_text(
        "".join(f"{json.dumps(shown(one), ensure_ascii=False)}\n" for one in REFUSALS)
    )
