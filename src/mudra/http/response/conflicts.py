"""The refusals by the present state of each call, as the OpenAPI document lists them.

Under 409, or 404 where more than an unknown ID is meant: each by its kind. They are those of the
rules: where a sentence names something, that of an example. A test reads the code of each call and
compares. Never refuses anything itself.
"""

from datetime import UTC, datetime
from typing import Final

from mudra.disputes import evidence, raise_rule, step_rule
from mudra.disputes.dispute import Act, State
from mudra.identity.accounts.acts.change_address import NEEDS_SECOND_OPERATOR, NO_ADDRESS_CHANGE
from mudra.identity.accounts.refusals import ADDRESS_TAKEN, NoSuchUser, WrongAccountKind
from mudra.identity.memberships.admins import LastAdmin, NotAnAdmin
from mudra.identity.memberships.hand_over import NoInvitation
from mudra.identity.memberships.member import Member, MemberStatus
from mudra.identity.memberships.member_status import already_retired, entry_not_live
from mudra.identity.memberships.onboard import MemberDiffers
from mudra.identity.operators.operator import OwnScopes, Scope, ScopeNotHeld
from mudra.identity.operators.person_rule import LastOperator, OwnAccount
from mudra.identity.second_factor.enroll import NO_SECOND_FACTOR
from mudra.levels.level_service import NO_LEVELS, NOTHING_REPORTED, TOO_MANY_REPORTS
from mudra.levels.printing.league import NO_LEAGUE
from mudra.levels.printing.pdf import NO_PDF
from mudra.levels.target import NO_SUCH_TARGET, TOO_MANY_RULES, TOO_MANY_TARGETS
from mudra.metrics.announcements import announcement
from mudra.metrics.incidents import own_maintenance, silence
from mudra.metrics.incidents.acts import act
from mudra.metrics.incidents.silence_service import NO_SUCH_SILENCE
from mudra.metrics.notifications import webhook
from mudra.metrics.notifications.preferences import NO_OWN_WEBHOOK
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.held_reports import (
    HELD_REPORT_REPLACED,
    HeldState,
    held_report_decided,
)
from mudra.metrics.payload.ingest_rule import Receipt, TxnIdReused, WindowKey
from mudra.overview.mail_queue_store import NoSuchMail
from mudra.registry.lifecycle import refusal as entries
from mudra.registry.probe.probe import not_probed, nothing_to_probe
from mudra.tokens.secrets.address_binding import AddressesInUse, NoListedAddresses
from mudra.tokens.secrets.secret_service import NOTHING_IN_GRACE, SecretChanged

_ENTITY: Final = "KAVERI-FIP"
_ID: Final = "6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90"
_AT: Final = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)

ACT_ON_PERSON: Final = (OwnAccount(), NoSuchUser())
LOCK_PERSON_OUT: Final = (*ACT_ON_PERSON, LastOperator())
CHANGE_ADDRESS: Final = (*LOCK_PERSON_OUT, ADDRESS_TAKEN)
CONFIRM_ADDRESS: Final = (*CHANGE_ADDRESS, NEEDS_SECOND_OPERATOR, NO_ADDRESS_CHANGE)
CONFIRM_LINK: Final = (ADDRESS_TAKEN, WrongAccountKind(), NoSuchUser())
SET_PASSWORD: Final = (WrongAccountKind(),)
RESET_FACTOR: Final = (*ACT_ON_PERSON, NO_SECOND_FACTOR)
MAKE_OPERATOR: Final = (
    *(ScopeNotHeld(Scope.KEYS), OwnScopes()),
    *(LastOperator(), WrongAccountKind()),
)
ADD_ADMIN: Final = (WrongAccountKind(),)
HAND_OVER: Final = (*ADD_ADMIN, NotAnAdmin())
REMOVE_ADMIN: Final = (LastAdmin(), NotAnAdmin())
INVITE_AGAIN: Final = (NoInvitation(),)
ONBOARD: Final = (
    MemberDiffers(Member(_ENTITY, "FIP", "Kaveri Bank", "active", ()), "type"),
    WrongAccountKind(),
)
MEMBER_STATUS: Final = (
    already_retired(_ENTITY),
    entry_not_live(_ENTITY, MemberStatus.SUSPENDED),
)
SECRET: Final = (SecretChanged(3),)
END_OLD_SECRET: Final = (NOTHING_IN_GRACE,)
BINDING: Final = (NoListedAddresses(_ENTITY), AddressesInUse(("203.0.113.17",)))
_HELD_BY_ANOTHER: Final = (
    entries.AlreadyHeld("entityinfo.entityhandle", "@kaveri", _ENTITY),
    entries.AlreadyHeld("entityinfo.certificate.kid", "kaveri-2026", _ENTITY),
    entries.AlreadyHeld("entityinfo.certificate.n", "", _ENTITY),
    entries.AlreadyHeld("entityinfo.name", "Kaveri Bank", _ENTITY, looks_alike=True),
    entries.AlreadyHeld("entityinfo.code", "BANK0042", _ENTITY, looks_alike=True),
)
UPDATE: Final = (
    *_HELD_BY_ANOTHER,
    entries.WrongState(_ENTITY, "update", "retired", "live or suspended"),
)
SUBMIT: Final = (entries.duplicate_entity(_ENTITY), *UPDATE)
RETIRE: Final = (entries.WrongState(_ENTITY, "retire", "unlisted", "live or suspended"),)
DECIDE: Final = (
    entries.version_moved(_ENTITY, 3, 4),
    entries.content_differs(_ENTITY, 3),
    entries.SecondOperatorNeeded(_ENTITY, is_admin=False),
    entries.SecondOperatorTied(_ENTITY, _AT),
    entries.WrongState(
        _ENTITY, "approve", "live without a pending version", "submitted or updated"
    ),
    *_HELD_BY_ANOTHER,
    entries.unknown_version(_ENTITY, 3),
)
PROBE: Final = (nothing_to_probe(_ENTITY),)
PROBED: Final = (not_probed(_ENTITY),)
_EARLIER: Final = Receipt(_ID, WindowKey("SAARTHI-AA", Tag.REQUESTS, _AT), _ID, b"", 1, _AT)
PUSH: Final = (TxnIdReused("SAARTHI-AA", _ID, _EARLIER),)
HELD: Final = (
    held_report_decided(HeldState.ADMITTED, "operator:vikram@network.example"),
    HELD_REPORT_REPLACED,
)
WEBHOOK: Final = (
    webhook.TooManyWebhooks(5),
    webhook.ALREADY_ADDED,
    webhook.fips_refused('must be FIPs: "KAVERI" is no FIP'),
)
TEST_WEBHOOK: Final = (webhook.MESSAGE_WAITS,)
RESEND: Final = (webhook.NoSuchEvent(),)
RETRY_MAIL: Final = (NoSuchMail(),)
PREFERENCES: Final = (NO_OWN_WEBHOOK,)
FOLLOW: Final = (webhook.fips_refused("must be FIPs of this network"),)
MAINTENANCE: Final = (silence.TOO_MANY_MAINTENANCES, silence.TOO_MUCH_MAINTENANCE)
CHANGE_MAINTENANCE: Final = (own_maintenance.HAS_BEGUN, NO_SUCH_SILENCE, *MAINTENANCE)
END_SILENCE: Final = (NO_SUCH_SILENCE,)
ACT_ON_INCIDENT: Final = (act.INCIDENT_NOT_OPEN, act.INCIDENT_NOT_OVER)
ANNOUNCE: Final = (announcement.TOO_MANY_ANNOUNCEMENTS, announcement.ANNOUNCED_BEFORE)
CHANGE_ANNOUNCEMENT: Final = (announcement.NoSuchAnnouncement(),)
ADD_UPDATE: Final = (announcement.NOT_PUBLISHED, *CHANGE_ANNOUNCEMENT)
REPORT: Final = (NOTHING_REPORTED, TOO_MANY_REPORTS, NO_LEVELS)
LEAGUE: Final = (NO_LEAGUE,)
PRINT: Final = (NO_PDF,)
TARGET: Final = (TOO_MANY_TARGETS,)
END_TARGET: Final = (NO_SUCH_TARGET,)
RULE: Final = (TOO_MANY_RULES,)
RAISE: Final = (raise_rule.AlreadyOpen(_ID), raise_rule.TOO_MANY_OPEN, raise_rule.TOO_MANY_TODAY)
_STEP: Final = (step_rule.TOO_MANY_STEPS,)
OWN_STEP: Final = (step_rule.NotInThisState(Act.WITHDRAW, State.REJECTED), *_STEP)
ATTACH: Final = (
    step_rule.NotInThisState(Act.ATTACH, State.REJECTED),
    *(evidence.TOO_MANY_FILES, evidence.TOO_MANY_FILES_TODAY),
    *_STEP,
)
DECIDE_DISPUTE: Final = (
    step_rule.NotInThisState(Act.ACCEPT, State.WITHDRAWN),
    step_rule.TOO_LATE_TO_REOPEN,
    *_STEP,
)
