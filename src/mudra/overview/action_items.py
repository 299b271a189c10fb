"""Items that need a member's attention now, the most urgent first, in the current language.

`action_items` is pure; `member_attention` gathers its facts over all areas.
"""

import enum
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.event import Caller
from mudra.audit.search_store import AuditSearch
from mudra.identity.accounts.user import User
from mudra.identity.memberships.invitation_store import Invitations
from mudra.identity.memberships.member import MemberStatus, NotYourEntity, able_admins
from mudra.identity.memberships.member_search import MemberFilter
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.memberships.membership_store import Memberships
from mudra.levels.budgets.budget_service import BudgetService
from mudra.levels.budgets.burn_rule import Burn, Outlook, shown_allowed
from mudra.levels.budgets.burn_store import StoredBurn
from mudra.levels.printing.labels import exact_text, measure_text
from mudra.localization.duration import span_text
from mudra.localization.language import current, gettext, ngettext
from mudra.metrics.health.api_names import api_names
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.explanation import may_see
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
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import NO_NAMES, fip_of
from mudra.metrics.incidents.verdict import reach_of
from mudra.metrics.notifications.alarm import symptom_text, title_of
from mudra.metrics.notifications.preference_service import FollowService
from mudra.metrics.payload.held_reports import HeldReport, HeldReportService
from mudra.metrics.payload.receipt_service import ReceiptService
from mudra.registry.lifecycle.record import Record
from mudra.registry.ports import Registry
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import EntityStatus, VersionStatus
from mudra.storage.database.transaction import Transaction
from mudra.tokens.secrets.secret_service import SecretService, SecretUsage

_DAY: Final = timedelta(days=1)
_SOON: Final = timedelta(days=7)
_NEAR: Final = timedelta(days=30)
_MAX_INCIDENTS: Final = 20


class Weight(enum.IntEnum):
    """The urgency of an item."""

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
    open incidents about it, those that affect most calls first.
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
    tokens: int = 0
    """Entity Access Tokens issued since the beginning of yesterday."""
    refused: int = 0
    """Those that were refused since then."""
    gets_tokens: bool = True
    """Whether its programs get tokens at all: those of a suspended member get none."""
    reaching: Sequence[StoredIncident] = ()
    """Other open incidents that it gets alarms about: the FIP or the network fails it."""
    names: Mapping[str, str] = NO_NAMES
    """The names of members, by ID."""
    budgets: Sequence[StoredBurn] = ()
    """Error budgets of the month that are used up."""
    awaits_admin: bool = False
    """Whether someone is invited to be an admin, and has not accepted."""


class MemberAttention(Struct, frozen=True):
    """An item that needs attention, and the facts that it was derived from."""

    facts: Facts
    items: Sequence[ActionItem]


async def member_attention(
    tx: Transaction, user: User, entity_id: str
) -> MemberAttention | NotYourEntity:
    """List what needs the attention of an entity's admins."""
    used = await tx.service(SecretService).usage(entity_id, user, Caller(f"user:{user.user_id}"))
    if isinstance(used, NotYourEntity):
        return used
    (member,) = await MemberSearch(tx).members(MemberFilter(entity_id=entity_id), "", 1)
    found = await tx.service(IncidentService).latest(
        only_open=True, entity_id=entity_id, limit=_MAX_INCIDENTS
    )
    reaching = await _reaching(tx, entity_id, {one.incident_id for one in found})
    found = sorted(found, key=_harm, reverse=True)
    burns = await tx.service(BudgetService).of_now(used.now, entity_id=entity_id, in_danger=True)
    days = await AuditSearch(tx).tokens_by_day(entity_id, _beginning_of_yesterday(used.now))
    facts = Facts(
        entity_type=member.entity_type,
        used=used,
        able_admins=able_admins(await Memberships(tx).admins(entity_id)),
        record=await tx.service(Registry).record(entity_id),
        missing=await _missing_windows(tx, entity_id, member.entity_type, used.now),
        now=used.now,
        incidents=found,
        held=await tx.service(HeldReportService).waiting_of(entity_id),
        tokens=sum(day.issued for day in days),
        refused=sum(day.refused for day in days),
        awaits_admin=await Invitations(tx).awaits_admin(entity_id),
        gets_tokens=member.status == MemberStatus.ACTIVE.value,
        reaching=reaching,
        names=await tx.service(HealthService).names() if reaching or found else NO_NAMES,
        budgets=[one for one in burns if one.burn.outlook is Outlook.GONE],
    )
    return MemberAttention(facts, action_items(facts))


def _harm(stored: StoredIncident) -> tuple[float, datetime]:
    """Returns the calls that an incident affects a minute, then when it began: the worst first."""
    return reach_of(stored.incident).calls_a_minute or 0.0, stored.incident.began


async def _reaching(
    tx: Transaction, entity_id: str, known: Collection[str]
) -> Sequence[StoredIncident]:
    followed = await tx.service(FollowService).of(entity_id)
    causes = await tx.service(IncidentService).open_causes()
    found = [
        one
        for one in causes
        if one.incident_id not in known
        and (may_see(one.incident, entity_id) or fip_of(one.incident.subject) in followed)
    ]
    return sorted(found, key=_harm, reverse=True)[:_MAX_INCIDENTS]


def _beginning_of_yesterday(now: datetime) -> datetime:
    """Return since when tokens are counted: issued ones are counted by days of UTC."""
    day = (now - _DAY).astimezone(UTC)
    return day.replace(hour=0, minute=0, second=0, microsecond=0)


async def _missing_windows(tx: Transaction, entity_id: str, entity_type: str, now: datetime) -> int:
    if entity_type != EntityType.AA.value:
        return 0
    return await tx.service(ReceiptService).missing_windows(entity_id, now)


def action_items(facts: Facts) -> Sequence[ActionItem]:
    """List what needs attention; empty if nothing does."""
    items = [
        *(_incident(one, facts) for one in facts.incidents),
        *(_from_elsewhere(one, facts) for one in facts.reaching),
        *_secret(facts.used, facts.now),
        *(_programs(facts) if facts.gets_tokens else ()),
        *_reporting(facts),
        *_held(facts.held),
        *(_budget(one.burn) for one in facts.budgets),
        *_registration(facts.record),
        *_people(facts),
    ]
    return sorted(items, key=lambda item: item.weight)


def _programs(facts: Facts) -> Sequence[ActionItem]:
    """List what the programs of a member that gets tokens need."""
    used = facts.used
    return (*_old_secret(used, facts.now), *_first_token(used), *_unused_secret(facts))


def _incident(stored: StoredIncident, facts: Facts) -> ActionItem:
    incident, page = stored.incident, f"health/incidents/{stored.incident_id}"
    lasts = span_text(facts.now - incident.began)
    found = gettext("%(symptom)s in its bad windows", symptom=symptom_text(incident))
    reported = gettext("For %(time)s, as reported by the AAs: %(found)s.", time=lasts, found=found)
    seen = gettext("For %(time)s: %(found)s.", time=lasts, found=found)
    match incident.subject:
        case Fip():
            what, why, act = gettext("Your APIs are failing"), reported, gettext("See the incident")
        case FipApi(_, code):
            api = api_names(code)
            what = gettext("%(api)s failing", api=f"{api[:1].upper()}{api[1:]}")
            why, act = reported, gettext("See the incident")
        case AaCalls():
            what, why, act = gettext("Your calls to FIPs are failing"), seen, gettext("See which")
        case AaApi(_, code):
            what = gettext("Your calls to FIPs are failing: %(apis)s", apis=api_names(code))
            why, act = seen, gettext("See which")
        case AaReporting():
            what, act = gettext("Your agent is not reporting"), gettext("See missing reports")
            why = gettext(
                "For %(time)s. Run %(command)s on its host to check it.",
                time=lasts,
                command="mudra agent status",
            )
        case Path(aa_id, fip_id):
            aa, fip = (facts.names.get(one, one) for one in (aa_id, fip_id))
            what = gettext("The path between %(aa)s and %(fip)s is failing", aa=aa, fip=fip)
            others, act = gettext("Both reach others."), gettext("See the calls")
            why = f"{seen} {others}"
        case Network():
            what, why = gettext("The whole network is failing"), seen
            act = gettext("See the calls")
    return ActionItem(Weight.NOW, what, why, page, act)


def _from_elsewhere(stored: StoredIncident, facts: Facts) -> ActionItem:
    """Return what a member needs to know of an incident at others; its title is the alarm's."""
    if fip_of(stored.incident.subject) is None:
        return _incident(stored, facts)
    lasts = span_text(facts.now - stored.incident.began)
    if facts.entity_type == EntityType.AA.value:
        why = gettext("For %(time)s. Your calls are among those affected.", time=lasts)
    else:
        why = gettext(
            "For %(time)s. You follow this FIP; your calls through AAs may fail.", time=lasts
        )
    page, act = f"health/incidents/{stored.incident_id}", gettext("See the incident")
    return ActionItem(Weight.NOW, title_of(stored.incident, facts.names), why, page, act)


def _secret(used: SecretUsage, now: datetime) -> Sequence[ActionItem]:
    left = used.current.expires_at - now
    act = gettext("Reset it")
    if left <= timedelta():
        why = gettext("Your programs get no new tokens until it is reset.")
        return [ActionItem(Weight.NOW, gettext("The secret has expired"), why, "secret", act)]
    if left > _NEAR:
        return []
    weight = Weight.NOW if left <= _SOON else Weight.SOON
    why = gettext("Reset it with a grace period so that no program stops.")
    what = gettext("The secret expires in %(time)s", time=span_text(left))
    return [ActionItem(weight, what, why, "secret", act)]


def _old_secret(used: SecretUsage, now: datetime) -> Sequence[ActionItem]:
    if used.old is None or used.old.grace_until is None:
        return []
    rest = span_text(used.old.grace_until - now)
    if used.old_use.count_in_grace == 0:
        why = gettext("It stays valid for %(time)s unless you retire it.", time=rest)
        what = gettext("The old secret is no longer used")
        return [ActionItem(Weight.GOOD_TO_KNOW, what, why, "secret", gettext("Retire it"))]
    what = ngettext(
        "The old secret is still used from %(num)s address",
        "The old secret is still used from %(num)s addresses",
        len(used.old_use.addresses),
    )
    why = gettext("These programs stop getting tokens in %(time)s.", time=rest)
    return [ActionItem(Weight.SOON, what, why, "secret", gettext("See from where"))]


def _first_token(used: SecretUsage) -> Sequence[ActionItem]:
    """A new member's next step: its first secret was never used."""
    new = used.current.version == 1 and used.now - used.current.created_at < _NEAR
    if not new or used.current_use.addresses:
        return []
    what = gettext("The secret has not been used yet")
    why = gettext("Your programs get tokens with the secret; the page has the code for it.")
    return [ActionItem(Weight.SOON, what, why, "try", gettext("Get the first token"))]


def _unused_secret(facts: Facts) -> Sequence[ActionItem]:
    """Programs still come with an old secret: no one has given them the new one."""
    used = facts.used
    if used.current.version == 1 or used.old is not None or not facts.refused:
        return []
    if used.current_use.last_used_at is not None:
        return []
    what = gettext("Tokens are refused, and the new secret was never used")
    why = ngettext(
        "%(num)s request refused since yesterday. Give the new secret to your programs.",
        "%(num)s requests refused since yesterday. Give the new secret to your programs.",
        facts.refused,
    )
    return [ActionItem(Weight.NOW, what, why, "secret", gettext("Show the secret"))]


def _reporting(facts: Facts) -> Sequence[ActionItem]:
    if not facts.missing:
        return []
    why = gettext(
        "Missing reports are left out of the figures. The agent can send them for up to 7 days."
    )
    what = ngettext(
        "%(num)s window of the last 24 hours not reported",
        "%(num)s windows of the last 24 hours not reported",
        facts.missing,
    )
    page = "health?range=24h#missing"
    return [ActionItem(Weight.SOON, what, why, page, gettext("See missing reports"))]


def _held(held: Sequence[HeldReport]) -> Sequence[ActionItem]:
    if not held:
        return []
    latest, number = held[0], len(held)
    what = gettext("A report is held as implausible")
    if number > 1:
        what = gettext("%(count)s reports are held as implausible", count=number)
    why = gettext(
        "The latest claims %(claimed)s %(what)s in the window of %(at)s UTC; at most %(limit)s are"
        " plausible. It counts in no sum until an operator admits it. When it is wrong, push the"
        " window again.",
        claimed=current().number(latest.doubt.claimed),
        what=gettext(latest.doubt.what),
        at=f"{latest.window:%Y-%m-%d %H:%M}",
        limit=current().number(latest.doubt.limit),
    )
    return [ActionItem(Weight.SOON, what, why, "health#held", gettext("See reports"))]


def _budget(burn: Burn) -> ActionItem:
    what = gettext(
        "The error budget of this month is used up: %(measure)s", measure=measure_text(burn.measure)
    )
    number = current().number
    why = gettext(
        "%(spent)s failures so far; the target of %(target)s allows %(allowed)s.",
        spent=number(burn.spent),
        target=exact_text(burn.measure, burn.target),
        allowed=number(*shown_allowed(burn)),
    )
    return ActionItem(Weight.SOON, what, why, "levels", gettext("See the budgets"))


def _registration(record: Record | None) -> Sequence[ActionItem]:
    page = "registration"
    if record is None:
        what = gettext("No registration yet")
        why = gettext("Other members cannot find you in the registry.")
        return [ActionItem(Weight.SOON, what, why, page, gettext("Register"))]
    if record.status is EntityStatus.SUSPENDED:
        what = gettext("The registration is suspended")
        why = gettext("No new tokens are issued; ask the operator of the network.")
        return [ActionItem(Weight.NOW, what, why, page, gettext("See why"))]
    last = record.versions[-1]
    if last.status is VersionStatus.REJECTED:
        what = gettext("Version %(number)s was rejected", number=last.number)
        why = gettext("The operator's reason: %(reason)s", reason=last.reason)
        return [ActionItem(Weight.NOW, what, why, page, gettext("Correct it"))]
    if last.status is VersionStatus.SUBMITTED:
        why = gettext("You need not do anything; what others see has not changed yet.")
        what = gettext("Version %(number)s is awaiting the operator's approval", number=last.number)
        return [ActionItem(Weight.GOOD_TO_KNOW, what, why, page, gettext("See it"))]
    return []


def _people(facts: Facts) -> Sequence[ActionItem]:
    if facts.able_admins > 1:
        return []
    what = gettext("Only one admin can act")
    why = gettext("When that person is away, no one can reset the secret.")
    if facts.awaits_admin:
        why = gettext("Another one is invited, and has not accepted yet.")
        return [ActionItem(Weight.GOOD_TO_KNOW, what, why, "people", gettext("People"))]
    return [ActionItem(Weight.GOOD_TO_KNOW, what, why, "people", gettext("Add one"))]
