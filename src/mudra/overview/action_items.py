"""What needs a member's attention now, the most urgent first.

`action_items` is pure; `member_attention` gathers its facts over all areas.
"""

import enum
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.event import Caller
from mudra.identity.accounts.user import User
from mudra.identity.memberships.member import NotYourEntity, able_admins
from mudra.identity.memberships.member_search import MemberFilter
from mudra.metrics.health.api_names import api_names
from mudra.metrics.incidents.incident import (
    AaApi,
    AaCalls,
    AaReporting,
    Fip,
    FipApi,
    Network,
    Path,
    StoredIncident,
)
from mudra.metrics.notifications.alarm import symptom_text
from mudra.metrics.payload.held_reports import HeldReport
from mudra.overview.ports import AttentionReads
from mudra.registry.lifecycle.record import EntityStatus, Record, VersionStatus
from mudra.shared.entity_type import EntityType
from mudra.shared.time_text import span
from mudra.tokens.secrets.secret_service import SecretUsage

_DAY: Final = timedelta(days=1)
_SOON: Final = timedelta(days=7)
_NEAR: Final = timedelta(days=30)
_MAX_INCIDENTS: Final = 20


class Weight(enum.IntEnum):
    """How soon someone must act."""

    NOW = 0
    SOON = 1
    GOOD_TO_KNOW = 2

    @property
    def word(self) -> str:
        """The name in responses and commands: `now`, `soon`, `good-to-know`."""
        return self.name.lower().replace("_", "-")


class ActionItem(Struct, frozen=True):
    """One thing to do: what, why, and the page where it is done."""

    weight: Weight
    what: str
    why: str
    page: str
    act: str


class Facts(Struct, frozen=True):
    """The facts about a member.

    `missing` counts windows of the last day that were not reported; `incidents` are the
    open incidents about it, the newest first.
    """

    entity_type: str
    used: SecretUsage
    able_admins: int
    record: Record | None
    missing: int
    now: datetime
    incidents: Sequence[StoredIncident] = ()
    held: Sequence[HeldReport] = ()
    """Implausible reports that wait for an operator's decision, the latest first."""


class MemberAttention(Struct, frozen=True):
    """What needs attention, and the facts that it was derived from."""

    facts: Facts
    items: Sequence[ActionItem]


async def member_attention(
    work: AttentionReads, user: User, entity_id: str
) -> MemberAttention | NotYourEntity:
    """List what needs the attention of an entity's admins."""
    used = await work.secret_service.usage(entity_id, user, Caller(f"user:{user.user_id}"))
    if isinstance(used, NotYourEntity):
        return used
    (member,) = await work.member_search.members(MemberFilter(entity_id=entity_id), "", 1)
    found = await work.incidents.latest(only_open=True, entity_id=entity_id, limit=_MAX_INCIDENTS)
    facts = Facts(
        entity_type=member.entity_type,
        used=used,
        able_admins=able_admins(await work.memberships.admins(entity_id)),
        record=await work.registry.record(entity_id),
        missing=await _missing_windows(work, entity_id, member.entity_type, used.now),
        now=used.now,
        incidents=found,
        held=await work.held_reports.waiting_of(entity_id),
    )
    return MemberAttention(facts, action_items(facts))


async def _missing_windows(
    work: AttentionReads, entity_id: str, entity_type: str, now: datetime
) -> int:
    if entity_type != EntityType.AA.value:
        return 0
    return await work.receipts.missing_windows(entity_id, now)


def action_items(facts: Facts) -> Sequence[ActionItem]:
    """List what needs attention; empty if nothing does."""
    items = [
        *(_incident(one, facts.now) for one in facts.incidents),
        *_secret(facts.used, facts.now),
        *_old_secret(facts.used, facts.now),
        *_reporting(facts),
        *_held(facts.held),
        *_registration(facts.record),
        *_people(facts.able_admins),
    ]
    return sorted(items, key=lambda item: item.weight)


def _incident(stored: StoredIncident, now: datetime) -> ActionItem:
    incident, page = stored.incident, f"health?incident={stored.incident_id}"
    lasts = f"For {span(now - incident.began)}"
    found = f"{symptom_text(incident)} in its bad windows"
    match incident.subject:
        case Fip():
            what, act = "Your APIs are failing", "Compare AAs"
            why = f"{lasts}, as reported by the AAs: {found}."
        case FipApi(_, code):
            api = api_names(code)
            what, act = f"{api[:1].upper()}{api[1:]} failing", "Compare AAs"
            why = f"{lasts}, as reported by the AAs: {found}."
        case AaCalls():
            what, act = "Your calls to FIPs are failing", "See which"
            why = f"{lasts}: {found}."
        case AaApi(_, code):
            what, act = f"Your calls to FIPs are failing: {api_names(code)}", "See which"
            why = f"{lasts}: {found}."
        case AaReporting():
            what, act = "Your agent is not reporting", "See missing reports"
            why = f"{lasts}. Run mudra agent status on its host to check it."
        case Path(aa_id, fip_id):
            what, act = f"The path between {aa_id} and {fip_id} is failing", "See the calls"
            why = f"{lasts}: {found}. Both reach others."
        case Network():
            what, act = "The whole network is failing", "See the calls"
            why = f"{lasts}: {found}."
    return ActionItem(Weight.NOW, what, why, page, act)


def _secret(used: SecretUsage, now: datetime) -> Sequence[ActionItem]:
    left = used.current.expires_at - now
    if left <= timedelta():
        why = "Your programs get no new tokens until it is reset."
        return [ActionItem(Weight.NOW, "The secret has expired", why, "secret", "Reset it")]
    if left > _NEAR:
        return []
    weight = Weight.NOW if left <= _SOON else Weight.SOON
    why = "Reset it with a grace period so that no program stops."
    return [ActionItem(weight, f"The secret expires in {span(left)}", why, "secret", "Reset it")]


def _old_secret(used: SecretUsage, now: datetime) -> Sequence[ActionItem]:
    if used.old is None or used.old.grace_until is None:
        return []
    rest = span(used.old.grace_until - now)
    places = len(used.old_use.addresses)
    if used.old_use.count_in_grace == 0:
        why = f"It stays valid for {rest} unless you retire it."
        what = "The old secret is no longer used"
        return [ActionItem(Weight.GOOD_TO_KNOW, what, why, "secret", "Retire it")]
    what = f"The old secret is still used from {places} address{'' if places == 1 else 'es'}"
    why = f"These programs stop getting tokens in {rest}."
    return [ActionItem(Weight.SOON, what, why, "secret", "See from where")]


def _reporting(facts: Facts) -> Sequence[ActionItem]:
    if not facts.missing:
        return []
    windows = f"{facts.missing} window{'' if facts.missing == 1 else 's'}"
    why = "Missing reports are left out of the figures. The agent can send them for up to 7 days."
    what = f"{windows} of the last 24 hours not reported"
    return [ActionItem(Weight.SOON, what, why, "health", "See missing reports")]


def _held(held: Sequence[HeldReport]) -> Sequence[ActionItem]:
    if not held:
        return []
    latest, number = held[0], len(held)
    what = "A report is held as implausible"
    if number > 1:
        what = f"{number} reports are held as implausible"
    why = (
        f"The latest claims {latest.doubt.claimed:,} {latest.doubt.what} in the window of"
        f" {latest.window:%Y-%m-%d %H:%M} UTC; at most {latest.doubt.limit:,} are plausible."
        " It counts in no sum until an operator admits it. When it is wrong, push the window again."
    )
    return [ActionItem(Weight.SOON, what, why, "health", "See reports")]


def _registration(record: Record | None) -> Sequence[ActionItem]:
    page = "registration"
    if record is None:
        why = "Other members cannot find you in the registry."
        return [ActionItem(Weight.SOON, "No registration yet", why, page, "Register")]
    if record.status is EntityStatus.SUSPENDED:
        why = "No new tokens are issued; ask the operator of the network."
        return [ActionItem(Weight.NOW, "The registration is suspended", why, page, "See why")]
    last = record.versions[-1]
    if last.status is VersionStatus.REJECTED:
        why = f"The operator's reason: {last.reason}"
        return [
            ActionItem(Weight.NOW, f"Version {last.number} was rejected", why, page, "Correct it")
        ]
    if last.status is VersionStatus.SUBMITTED:
        why = "You need not do anything; what others see has not changed yet."
        what = f"Version {last.number} is awaiting the operator's approval"
        return [ActionItem(Weight.GOOD_TO_KNOW, what, why, page, "See it")]
    return []


def _people(able: int) -> Sequence[ActionItem]:
    if able > 1:
        return []
    why = "When that person is away, no one can reset the secret."
    return [ActionItem(Weight.GOOD_TO_KNOW, "Only one admin can act", why, "people", "Add one")]
