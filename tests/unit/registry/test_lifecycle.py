"""What becomes of a registration, through the use cases and the storage in memory."""

import asyncio
import datetime as dt

import pytest

from mudra.registry.actor import DECIDE, SUBMIT, Actor, ActorKind
from mudra.registry.address import AddressPolicy
from mudra.registry.check import CheckedPayload, check_payload
from mudra.registry.decision import Act, Decision, TokenEffect, gets_no_token
from mudra.registry.difference import Risk
from mudra.registry.entry import EntityType
from mudra.registry.record import Standing, Status
from mudra.registry.refusal import (
    AlreadyHeld,
    DuplicateEntity,
    GoLiveTooFar,
    NeedsOperator,
    NotYours,
    ReasonMissing,
    UnknownEntity,
    UnknownVersion,
    VersionMoved,
    WrongState,
    WrongType,
)
from mudra.registry.register import Order, decide, put_due_live, submit_entry, update_entry
from mudra.registry.submission import Repeat
from mudra.registry.vocabulary import shipped_vocabulary
from tests.support.registry_memory import START, MemoryRegistry
from tests.support.registry_payloads import aa, fip, jwk, with_key

OPERATOR = Actor(ActorKind.OPERATOR, "olga", scopes=frozenset({SUBMIT, DECIDE}))
READER = Actor(ActorKind.OPERATOR, "rita")
ADMIN = Actor(ActorKind.MEMBER_ADMIN, "asha@fip.example", frozenset({"FIP-0"}))
ENTITY = Actor(ActorKind.ENTITY, "FIP-0", frozenset({"FIP-0"}))
STRANGER = Actor(ActorKind.ENTITY, "FIP-9", frozenset({"FIP-9"}))
LATER = START + dt.timedelta(days=3)


def checked(raw) -> CheckedPayload:
    result = check_payload(raw, AddressPolicy(), shipped_vocabulary())
    assert isinstance(result, CheckedPayload), result
    return result


@pytest.fixture
def registry():
    return MemoryRegistry()


def submit(registry, raw, actor=OPERATOR, **options):
    return asyncio.run(submit_entry(registry, checked(raw), actor, **options))


def update(registry, raw, actor=OPERATOR, **options):
    return asyncio.run(update_entry(registry, checked(raw), actor, **options))


def order(registry, act, entity_id="FIP-0", actor=OPERATOR, **options):
    return asyncio.run(decide(registry, Order(act, entity_id, actor, **options)))


def live(registry, raw=None):
    return submit(registry, raw or fip(), approved=True)


def standing(registry, entity_id="FIP-0"):
    return registry.records[entity_id].standing


def shown(registry):
    return {one.entity_id for one in asyncio.run(registry.current()).listed.values()}


def test_a_submission_waits_unseen_for_its_approval(registry):
    outcome = submit(registry, fip(), ENTITY)

    assert isinstance(outcome, Decision)
    assert (outcome.status, outcome.version) == ("submitted", 1)
    assert shown(registry) == set()
    assert not gets_no_token(standing(registry))


def test_an_approval_puts_a_submission_live(registry):
    submit(registry, fip(), ENTITY)

    outcome = order(registry, Act.APPROVE)

    assert outcome.status == "live"
    assert shown(registry) == {"FIP-0"}
    version = registry.records["FIP-0"].live
    assert (version.decided_by, version.live_from) == ("olga", START)


def test_a_rejected_member_hears_why_and_may_submit_again(registry):
    submit(registry, fip(), ENTITY)

    rejected = order(registry, Act.REJECT, reason="the code is another bank's")
    again = submit(registry, fip(code="NEW"), ENTITY)

    assert rejected.after.versions[0].reason == "the code is another bank's"
    assert (rejected.status, again.status, again.version) == ("rejected", "submitted", 2)


def test_a_second_first_submission_is_a_duplicate(registry):
    submit(registry, fip(), ENTITY)

    assert submit(registry, fip(), ENTITY) == DuplicateEntity("FIP-0")
    order(registry, Act.APPROVE)
    assert submit(registry, fip(), ENTITY) == DuplicateEntity("FIP-0")


@pytest.mark.parametrize(
    "actor", [STRANGER, Actor(ActorKind.MEMBER_ADMIN, "x", frozenset({"FIP-9"}))]
)
def test_a_member_submits_for_itself_only(registry, actor):
    assert submit(registry, fip(), actor) == NotYours("FIP-0")
    assert update(registry, fip(), actor) == NotYours("FIP-0")
    assert [one[0] for one in registry.refusals] == ["submit", "update"]


def test_a_member_names_itself_as_the_requester(registry):
    sent = fip() | {"requester": {"name": "Other", "id": "OTHER"}}

    assert submit(registry, sent, ENTITY) == NotYours("FIP-0")
    assert isinstance(submit(registry, sent, OPERATOR), Decision)


def test_an_operator_without_the_scope_changes_nothing(registry):
    live(registry)

    assert submit(registry, fip(1), READER) == NeedsOperator(SUBMIT)
    for act in (Act.APPROVE, Act.REJECT, Act.SUSPEND, Act.RESTORE, Act.RETIRE, Act.ROLL_BACK):
        assert order(registry, act, actor=READER, reason="x", version=1) == NeedsOperator(DECIDE)
    assert len(registry.kept) == 2


@pytest.mark.parametrize("act", [Act.APPROVE, Act.REJECT, Act.SUSPEND, Act.RESTORE, Act.ROLL_BACK])
@pytest.mark.parametrize("actor", [ADMIN, ENTITY])
def test_members_do_not_decide_on_themselves(registry, act, actor):
    live(registry)

    assert order(registry, act, actor=actor, reason="x", version=1) == NeedsOperator(DECIDE)


def test_a_member_s_admin_may_retire_it_and_its_entity_token_may_not(registry):
    live(registry)

    assert order(registry, Act.RETIRE, actor=ENTITY, reason="x") == NeedsOperator(DECIDE)
    assert isinstance(order(registry, Act.RETIRE, actor=ADMIN, reason="merged"), Decision)
    assert standing(registry) is Standing.RETIRED


@pytest.mark.parametrize(
    "changes", [{"name": "Renamed"}, {"tags": ""}, {"fitypes": ["SIP"]}, {"inboundports": ["8443"]}]
)
def test_a_harmless_update_is_live_at_once(registry, changes):
    live(registry)

    outcome = update(registry, fip(**changes), ENTITY)

    assert (outcome.status, outcome.version) == ("live", 2)
    assert registry.records["FIP-0"].versions[0].status is Status.SUPERSEDED


@pytest.mark.parametrize(
    ("changes", "risk"),
    [
        ({"certificate": jwk(1)}, Risk.KEY),
        ({"baseurl": "v2:https://other.example"}, Risk.TRAFFIC),
        ({"ips": ["9.0.0.0", "9.0.0.1"]}, Risk.FIREWALL),
    ],
)
def test_a_dangerous_update_waits_and_the_former_version_stays(registry, changes, risk):
    live(registry)

    outcome = update(registry, fip(**changes), ENTITY)

    assert (outcome.status, outcome.publication) == ("submitted", None)
    assert {one.risk for one in outcome.changes} == {risk}
    assert registry.records["FIP-0"].live.number == 1


def test_another_web_page_of_an_aa_waits_for_approval(registry):
    live(registry, aa())

    outcome = update(registry, aa(webviewurl="https://evil.example"))

    assert outcome.status == "submitted"
    assert [one.risk for one in outcome.changes] == [Risk.REDIRECT]


def test_another_order_of_the_same_addresses_needs_no_approval(registry):
    live(registry, fip(ips=["9.1.1.1", "9.1.1.2"]))

    assert update(registry, fip(ips=["9.1.1.2", "9.1.1.1"]), ENTITY).status == "live"


def test_an_update_of_nothing_known_is_refused(registry):
    assert update(registry, fip()) == UnknownEntity("FIP-0")
    assert order(registry, Act.APPROVE) == UnknownEntity("FIP-0")


def test_an_entity_does_not_change_its_type(registry):
    live(registry)

    assert update(registry, aa(id="FIP-0")) == UnknownEntity("FIP-0")


def test_the_type_is_the_one_the_entity_was_onboarded_as(registry):
    registry.onboarded["FIP-0"] = EntityType.FIU

    assert submit(registry, fip(), ENTITY) == WrongType("FIP", "FIU")


def test_a_repeated_update_is_recognised(registry):
    live(registry)
    update(registry, fip(name="New"), ENTITY)

    again = update(registry, fip(name="New"), ENTITY)

    assert isinstance(again, Repeat)
    assert (again.version, again.status) == (2, "live")
    assert len(registry.records["FIP-0"].versions) == 2


def test_a_newer_update_withdraws_the_one_that_waits(registry):
    live(registry)
    update(registry, with_key(fip(), 1), ENTITY)

    update(registry, with_key(fip(), 2), ENTITY)

    statuses = [one.status for one in registry.records["FIP-0"].versions]
    assert statuses == [Status.LIVE, Status.WITHDRAWN, Status.SUBMITTED]


def test_an_operator_approves_the_version_that_was_looked_at(registry):
    live(registry)
    update(registry, with_key(fip(), 1), ENTITY)
    update(registry, with_key(fip(), 2), ENTITY)

    assert order(registry, Act.APPROVE, version=2) == VersionMoved("FIP-0", 2, 3)
    assert order(registry, Act.APPROVE, version=3).status == "live"


def test_a_scheduled_version_goes_live_at_its_time_and_not_before(registry):
    live(registry)
    update(registry, with_key(fip(), 1), ENTITY)

    approved = order(registry, Act.APPROVE, goes_live_at=LATER)
    registry.now = LATER - dt.timedelta(milliseconds=1)
    early = asyncio.run(put_due_live(registry))
    registry.now = LATER
    due = asyncio.run(put_due_live(registry))

    assert (approved.status, early, due) == ("approved", 0, 1)
    record = registry.records["FIP-0"]
    assert (record.live.number, record.live.live_from, record.live.goes_live_at) == (
        2,
        LATER,
        LATER,
    )
    assert record.versions[0].live_until == LATER
    assert asyncio.run(put_due_live(registry)) == 0


def test_a_first_entry_can_be_scheduled_too(registry):
    submit(registry, fip(), ENTITY)

    order(registry, Act.APPROVE, goes_live_at=LATER)

    assert (standing(registry), shown(registry)) == (Standing.UNLISTED, set())
    registry.now = LATER
    asyncio.run(put_due_live(registry))
    assert (standing(registry), shown(registry)) == (Standing.LIVE, {"FIP-0"})


def test_a_time_more_than_a_year_ahead_is_refused(registry):
    submit(registry, fip(), ENTITY)

    assert order(
        registry, Act.APPROVE, goes_live_at=START + dt.timedelta(days=400)
    ) == GoLiveTooFar(366)


def test_a_scheduled_version_can_still_be_rejected(registry):
    submit(registry, fip(), ENTITY)
    order(registry, Act.APPROVE, goes_live_at=LATER)

    assert order(registry, Act.REJECT, reason="mistake").status == "rejected"


def test_a_suspension_hides_the_entry_and_stops_its_tokens_until_it_is_restored(registry):
    live(registry)

    suspended = order(registry, Act.SUSPEND, reason="key leaked")
    hidden = shown(registry)
    restored = order(registry, Act.RESTORE)

    assert (suspended.tokens, restored.tokens) == (TokenEffect.STOP, TokenEffect.RESUME)
    assert suspended.publication.body is None
    assert (hidden, shown(registry)) == (set(), {"FIP-0"})
    assert registry.token_effects == [("FIP-0", TokenEffect.STOP), ("FIP-0", TokenEffect.RESUME)]


def test_a_suspended_member_is_updated_without_being_shown(registry):
    live(registry)
    order(registry, Act.SUSPEND, reason="key leaked")

    waiting = update(registry, with_key(fip(), 1), ENTITY)
    approved = order(registry, Act.APPROVE)

    assert (waiting.status, approved.status, approved.publication) == ("submitted", "live", None)
    assert (standing(registry), shown(registry)) == (Standing.SUSPENDED, set())


def test_a_retirement_is_for_good(registry):
    live(registry)
    update(registry, with_key(fip(), 1), ENTITY)

    retired = order(registry, Act.RETIRE, reason="licence returned")

    assert (retired.tokens, shown(registry)) == (TokenEffect.STOP, set())
    assert [one.status for one in retired.after.versions] == [Status.SUPERSEDED, Status.WITHDRAWN]
    for act in (Act.APPROVE, Act.SUSPEND, Act.RESTORE, Act.RETIRE, Act.ROLL_BACK):
        assert isinstance(order(registry, act, reason="x", version=1), WrongState)
    assert isinstance(update(registry, fip(name="x")), WrongState)
    assert submit(registry, fip()) == DuplicateEntity("FIP-0")


def test_a_retirement_of_a_suspended_member_changes_nothing_in_the_directory(registry):
    live(registry)
    order(registry, Act.SUSPEND, reason="x")

    retired = order(registry, Act.RETIRE, reason="y")

    assert (retired.publication, retired.tokens) == (None, TokenEffect.NONE)


def test_a_rollback_goes_live_at_once_and_equals_the_former_version(registry):
    live(registry)
    update(registry, with_key(fip(name="Worse"), 1), ENTITY, approved=False)
    order(registry, Act.APPROVE)
    update(registry, with_key(fip(name="Worst"), 2), ENTITY)

    outcome = order(registry, Act.ROLL_BACK, version=1, reason="the new key does not work")

    record = registry.records["FIP-0"]
    assert (outcome.status, outcome.version, record.live.equal_to) == ("live", 4, 1)
    assert record.live.entry == record.versions[0].entry
    assert record.pending is None


@pytest.mark.parametrize("version", [0, 2, 9])
def test_a_rollback_goes_to_versions_that_were_live_only(registry, version):
    live(registry)
    update(registry, with_key(fip(), 1), ENTITY)
    order(registry, Act.REJECT, reason="no")

    assert order(registry, Act.ROLL_BACK, version=version, reason="x") == UnknownVersion(
        "FIP-0", version
    )


def test_a_rollback_to_the_live_version_is_refused(registry):
    live(registry)

    assert isinstance(order(registry, Act.ROLL_BACK, version=1, reason="x"), WrongState)


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501, "a\nb", "=?utf-8?q?x?="])
def test_what_hurts_a_member_needs_a_reason(registry, reason):
    live(registry)

    for act in (Act.SUSPEND, Act.RETIRE, Act.ROLL_BACK):
        assert order(registry, act, reason=reason, version=1) == ReasonMissing(act.value)


def test_a_restore_or_approval_out_of_turn_is_refused(registry):
    live(registry)

    assert isinstance(order(registry, Act.RESTORE), WrongState)
    assert isinstance(order(registry, Act.APPROVE), WrongState)
    assert isinstance(order(registry, Act.REJECT, reason="x"), WrongState)
    order(registry, Act.SUSPEND, reason="x")
    assert isinstance(order(registry, Act.SUSPEND, reason="x"), WrongState)


@pytest.mark.parametrize(
    ("second", "path"),
    [
        (aa(1, entityhandle="@aa0"), "entityinfo.entityhandle"),
        (aa(1, certificate=jwk(5) | {"kid": "kid-20000"}), "entityinfo.certificate.kid"),
        (aa(1, certificate=jwk(20_000) | {"kid": "other"}), "entityinfo.certificate.n"),
    ],
)
def test_what_another_entity_holds_is_refused_without_naming_it(registry, second, path):
    live(registry, aa())

    outcome = submit(registry, second)

    assert isinstance(outcome, AlreadyHeld)
    assert (outcome.path, outcome.holder) == (path, "AA-0")
    assert "AA-0" not in outcome.sentence()


def test_a_former_key_stays_taken(registry):
    live(registry)
    update(registry, with_key(fip(), 1), approved=True)

    assert isinstance(submit(registry, with_key(fip(2), 0)), AlreadyHeld)


def test_a_mere_submission_blocks_nobody_s_key(registry):
    submit(registry, with_key(fip(9), 0), STRANGER)

    rightful = submit(registry, fip(), ENTITY)
    order(registry, Act.APPROVE)

    assert isinstance(rightful, Decision)
    assert isinstance(order(registry, Act.APPROVE, "FIP-9"), AlreadyHeld)


def test_an_entity_may_return_to_its_own_former_key(registry):
    live(registry)
    update(registry, with_key(fip(), 1), approved=True)

    assert isinstance(update(registry, with_key(fip(), 0)), Decision)


def test_an_approval_in_one_step_is_all_or_nothing(registry):
    submitter = Actor(ActorKind.OPERATOR, "sam", scopes=frozenset({SUBMIT}))

    assert submit(registry, fip(), submitter, approved=True) == NeedsOperator(DECIDE)
    assert registry.records == {}
    live(registry)
    assert update(registry, with_key(fip(), 1), submitter, approved=True) == NeedsOperator(DECIDE)
    assert len(registry.records["FIP-0"].versions) == 1


def test_every_refusal_says_what_to_do(registry):
    live(registry)
    refusals = [
        submit(registry, fip()),
        submit(registry, fip(1), ENTITY),
        submit(registry, fip(1), READER),
        update(registry, fip(3)),
        order(registry, Act.RESTORE),
        order(registry, Act.SUSPEND),
        order(registry, Act.ROLL_BACK, version=7, reason="x"),
    ]

    assert [one.sentence() for one in refusals] == [
        "entityinfo.id FIP-0 is taken; update it with PUT if it is yours",
        "entityinfo.id and requester.id must be the entity that you act for",
        "this needs an operator with the scope registry:submit",
        "the registry has no entry FIP-3 of this type",
        "FIP-0 is live; restore needs it to be suspended",
        "reason must be a text of 1 to 500 characters to suspend",
        "FIP-0 has no version 7 that was ever live",
    ]
    assert len(registry.refusals) == 7
