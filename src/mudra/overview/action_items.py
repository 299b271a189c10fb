"""What needs a member's attention now, the worst first.

`attention` is pure: facts come in, lines go out; `facts_of` gathers them over all areas.
"""

import enum
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.identity.accounts.user import UserState
from mudra.metrics.health.status_history import api_name
from mudra.metrics.incidents.incident import AaCalls, AaReporting, FipApi, Incident
from mudra.registry.lifecycle.record import EntityStatus, Record, VersionStatus
from mudra.shared.entity_type import EntityType
from mudra.shared.time_text import span
from mudra.tokens.secrets.secret_service import SecretUsage
from mudra.unit_of_work import UnitOfWork

_DAY: Final = timedelta(days=1)
_SOON: Final = timedelta(days=7)
_NEAR: Final = timedelta(days=30)
_MAX_INCIDENTS: Final = 20


class Weight(enum.IntEnum):
    """How soon somebody must act."""

    NOW = 0
    SOON = 1
    GOOD_TO_KNOW = 2

    @property
    def word(self) -> str:
        """The word of answers and commands: `now`, `soon`, `good-to-know`."""
        return self.name.lower().replace("_", "-")


class ActionItem(Struct, frozen=True):
    """One thing to see to: what, why, and the page where it is done."""

    weight: Weight
    what: str
    why: str
    page: str
    act: str


class Facts(Struct, frozen=True):
    """What is known of a member.

    `missing` counts windows of the last day that did not come; `incidents` are those about it
    that are open, the newest first.
    """

    entity_type: str
    used: SecretUsage
    able_admins: int
    record: Record | None
    missing: int
    now: datetime
    incidents: Sequence[Incident] = ()


async def facts_of(
    work: UnitOfWork, entity_id: str, entity_type: str, used: SecretUsage, record: Record | None
) -> Facts:
    """Gather the facts of a member whose secret and registry record were read."""
    admins = await work.memberships.admins(entity_id)
    found = await work.incidents.latest(only_open=True, entity_id=entity_id, limit=_MAX_INCIDENTS)
    return Facts(
        entity_type=entity_type,
        used=used,
        able_admins=sum(1 for admin in admins if admin.state is UserState.ACTIVE),
        record=record,
        missing=await _missing_windows(work, entity_id, entity_type, used.now),
        now=used.now,
        incidents=[one.incident for one in found],
    )


async def _missing_windows(
    work: UnitOfWork, entity_id: str, entity_type: str, now: datetime
) -> int:
    if entity_type != EntityType.AA.value:
        return 0
    return await work.receipts.missing_windows(entity_id, now)


def attention(facts: Facts) -> Sequence[ActionItem]:
    """List what needs attention; nothing for a member with whom all is well."""
    lines = [
        *(_incident(one, facts.now) for one in facts.incidents),
        *_secret(facts.used, facts.now),
        *_old_secret(facts.used, facts.now),
        *_reporting(facts),
        *_registration(facts.record),
        *_people(facts.able_admins),
    ]
    return sorted(lines, key=lambda line: line.weight)


def _incident(incident: Incident, now: datetime) -> ActionItem:
    lasts = f"For {span(now - incident.began)}"
    counts = f"{incident.succeeded:,} of {incident.judged:,} calls succeeded in its bad windows"
    match incident.subject:
        case FipApi(_, code):
            api = api_name(code)
            what, act = f"{api[:1].upper()}{api[1:]} is bad", "See it by AA"
            why = f"{lasts}, as the AAs report it: {counts}."
        case AaCalls():
            what, act = "Your calls to FIPs fail", "See which"
            why = f"{lasts}: {counts}."
        case AaReporting():
            what, act = "Nothing is heard from your agent", "See the gaps"
            why = f"{lasts}. Where it runs, mudra agent status says how it is."
    return ActionItem(Weight.NOW, what, why, "health", act)


def _secret(used: SecretUsage, now: datetime) -> Sequence[ActionItem]:
    left = used.current.expires_at - now
    if left <= timedelta():
        why = "Your programs get no new tokens until it is reset."
        return [ActionItem(Weight.NOW, "The secret has expired", why, "secret", "Reset it")]
    if left > _NEAR:
        return []
    weight = Weight.NOW if left <= _SOON else Weight.SOON
    why = "Reset it with a grace period, and no program stops meanwhile."
    return [ActionItem(weight, f"The secret expires in {span(left)}", why, "secret", "Reset it")]


def _old_secret(used: SecretUsage, now: datetime) -> Sequence[ActionItem]:
    if used.old is None or used.old.grace_until is None:
        return []
    rest = span(used.old.grace_until - now)
    places = len(used.old_use.addresses)
    if used.old_use.count_in_grace == 0:
        why = f"It stays valid for {rest} more, unless you retire it."
        what = "Nothing uses the old secret any more"
        return [ActionItem(Weight.GOOD_TO_KNOW, what, why, "secret", "Retire it")]
    what = f"The old secret is still used from {places} address{'' if places == 1 else 'es'}"
    why = f"In {rest} these programs get no more tokens."
    return [ActionItem(Weight.SOON, what, why, "secret", "See from where")]


def _reporting(facts: Facts) -> Sequence[ActionItem]:
    if not facts.missing:
        return []
    windows = f"{facts.missing} window{'' if facts.missing == 1 else 's'}"
    why = "A gap counts neither as health nor as zero; the agent can send them later, for 7 days."
    what = f"{windows} of the last 24 hours did not come"
    return [ActionItem(Weight.SOON, what, why, "health", "See the gaps")]


def _registration(record: Record | None) -> Sequence[ActionItem]:
    page = "registration"
    if record is None:
        why = "Other members cannot find you in the registry."
        return [ActionItem(Weight.SOON, "No registration yet", why, page, "Register")]
    if record.standing is EntityStatus.SUSPENDED:
        why = "No new tokens are issued; ask the operator of the network."
        return [ActionItem(Weight.NOW, "The registration is suspended", why, page, "See why")]
    last = record.versions[-1]
    if last.status is VersionStatus.REJECTED:
        why = f"The operator's reason: {last.reason}"
        return [
            ActionItem(Weight.NOW, f"Version {last.number} was rejected", why, page, "Correct it")
        ]
    if last.status is VersionStatus.SUBMITTED:
        why = "Nothing for you to do; what others see has not changed yet."
        what = f"Version {last.number} waits for the operator's approval"
        return [ActionItem(Weight.GOOD_TO_KNOW, what, why, page, "See it")]
    return []


def _people(able: int) -> Sequence[ActionItem]:
    if able > 1:
        return []
    why = "When that person is away, nobody can reset the secret."
    return [ActionItem(Weight.GOOD_TO_KNOW, "Only one admin can act", why, "people", "Add one")]
