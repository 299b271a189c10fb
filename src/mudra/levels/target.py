"""Targets: what the network asks of a role, as data with the days from which they hold."""

import enum
from collections.abc import Iterable
from datetime import date
from typing import Final

from msgspec import Struct

from mudra.levels.spans import MaintenanceRule
from mudra.localization.language import translatable
from mudra.metrics.payload.catalogue import CALL_CODES, RequestType
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import PlainRefusal, RefusalKind, ValueRefused
from mudra.shared.text.visible_text import first_unseen

ALL_APIS: Final = ""
MAX_REASON: Final = 500
MAX_TARGETS: Final = 500
MAX_MS: Final = 7 * 86_400_000
_WHOLE: Final = 100.0
ROLES: Final = (EntityType.FIP, EntityType.AA)
"""The roles that have levels: the payloads of metrics say nothing about a single FIU."""


class Measure(enum.StrEnum):
    """A measure of a service level."""

    AVAILABILITY = "availability"
    """Share of calls that the member's own outages did not fail."""
    SUCCESS = "success"
    """Share of calls answered with 200; 4xx left out."""
    P95 = "p95"
    P99 = "p99"
    READY = "timeToData"
    """p95 of the time from an FI request to the notification that data is ready."""
    DATA = "endedInData"
    """Share of ended FI requests that ended with data."""
    MISSING = "missingReports"
    """Share of expected reports that an AA did not send."""

    @property
    def in_ms(self) -> bool:
        """Return whether it is a time in milliseconds; else a share in percent."""
        return self in {Measure.P95, Measure.P99, Measure.READY}

    @property
    def at_most(self) -> bool:
        """Return whether the target is the most that is allowed; else the least."""
        return self.in_ms or self is Measure.MISSING

    @property
    def by_api(self) -> bool:
        """Return whether it is measured for each API."""
        return self in {Measure.AVAILABILITY, Measure.SUCCESS, Measure.P95, Measure.P99}


OF_ROLE: Final = {
    EntityType.FIP: tuple(one for one in Measure if one is not Measure.MISSING),
    EntityType.AA: (Measure.AVAILABILITY, Measure.MISSING),
}
"""The measures that a role can have targets for."""


class Target(Struct, frozen=True, rename="camel"):
    """One target of a role: for one API, or for all together with an empty `api`.

    It holds from the first day on until before the last one, both of UTC as all days of metrics.
    """

    target_id: str
    role: EntityType
    measure: Measure
    api: str
    value: float
    """Percent, or milliseconds."""
    since: date
    until: date | None
    reason: str

    def holds(self, day: date) -> bool:
        """Returns whether it holds on a day."""
        return self.since <= day and (self.until is None or day < self.until)


class TargetCommand(Struct, frozen=True):
    """A target to set."""

    role: EntityType
    measure: Measure
    api: str
    value: float
    since: date
    reason: str


class NetworkRule(Struct, frozen=True, rename="camel"):
    """The rule of a network from a day (UTC) on, until a later rule begins."""

    since: date
    notice_hours: int
    """Maintenance is left out if it was announced so long before it began."""
    hours_a_month: int
    """The first so many hours of maintenance in 30 days are left out."""
    league: bool
    """Whether members see each other's figures in a league table."""
    published: bool
    """Whether all see on the public status what each FIP delivered."""
    reason: str

    @property
    def maintenance(self) -> MaintenanceRule:
        """The part that a report is made by."""
        return MaintenanceRule(self.notice_hours, self.hours_a_month)


MAX_NOTICE_HOURS: Final = 720
MAX_HOURS_A_MONTH: Final = 240
MAX_RULES: Final = 500
TOO_MANY_RULES: Final = PlainRefusal(
    RefusalKind.CONFLICT, f"{MAX_RULES} rules are stored: replace one that has not begun"
)
NO_SUCH_TARGET: Final = PlainRefusal(RefusalKind.NOT_FOUND, "no target of this ID holds or will")
TOO_MANY_TARGETS: Final = PlainRefusal(
    RefusalKind.CONFLICT, f"{MAX_TARGETS} targets are stored: end one first"
)
_BEGINNING: Final = date(2000, 1, 1)
SHIPPED_RULE: Final = NetworkRule(
    _BEGINNING,
    notice_hours=24,
    hours_a_month=24,
    league=False,
    published=False,
    reason=translatable(
        "members can tell their customers a day ahead; no member is shown another's figures"
    ),
)


def _shipped(measure: Measure, value: float, reason: str, api: str = ALL_APIS) -> Target:
    role = EntityType.AA if measure is Measure.MISSING else EntityType.FIP
    name = f"shipped-{role.value}-{measure.value}" + (f"-{api}" if api else "")
    return Target(name, role, measure, api, value, _BEGINNING, None, reason)


SHIPPED: Final = (
    _shipped(
        Measure.AVAILABILITY,
        99.5,
        translatable(
            "3 h 36 min of a month of 30 days: what the open-finance networks of Brazil and the "
            "United Kingdom ask for"
        ),
    ),
    Target(
        "shipped-AA-availability",
        EntityType.AA,
        Measure.AVAILABILITY,
        ALL_APIS,
        99.5,
        _BEGINNING,
        None,
        translatable("the same as for a FIP: a customer cannot tell which of the two is down"),
    ),
    _shipped(Measure.SUCCESS, 95.0, translatable("the network's rule: GOOD is above 95 % success")),
    _shipped(
        Measure.P95,
        10_000,
        translatable(
            "twice the limit of the median: the median of a healthy API is below 5 s by the "
            "network's rule"
        ),
    ),
    _shipped(Measure.P99, 30_000, translatable("an answer later than 30 s counts as a timeout")),
    _shipped(
        Measure.READY,
        600_000,
        translatable("a customer waits for the data: ten minutes are one window"),
    ),
    _shipped(
        Measure.DATA,
        90.0,
        translatable(
            "some requests rightly end without data: an account is closed, or access denied"
        ),
    ),
    _shipped(
        Measure.MISSING,
        1.0,
        translatable(
            "43 of the 4,320 windows of 30 days: an agent sends the windows of a restart later"
        ),
    ),
)
"""The targets of a network that has set none; each is replaced by one of its measure and API."""


def target_refused(command: TargetCommand, today: date) -> ValueRefused | None:
    """Returns why a target cannot be set; None for one that can."""
    if command.role not in OF_ROLE:
        return ValueRefused("role", f"must be one of {', '.join(ROLES)}")
    if command.measure not in OF_ROLE[command.role]:
        allowed = ", ".join(OF_ROLE[command.role])
        return ValueRefused("measure", f"must be one of {allowed} for the role {command.role}")
    if command.api and (not command.measure.by_api or command.api not in CALL_CODES):
        return ValueRefused(
            "api", f"must be empty, or one of {', '.join(CALL_CODES)} where APIs are measured"
        )
    most = float(MAX_MS) if command.measure.in_ms else _WHOLE
    if not 0 < command.value <= most:
        unit = "milliseconds" if command.measure.in_ms else "percent"
        return ValueRefused("value", f"must be above 0 and at most {most:,.0f} {unit}")
    return _day_refused(command.since, today) or _reason_refused(command.reason)


def rule_refused(rule: NetworkRule, today: date) -> ValueRefused | None:
    """Returns why a rule cannot be set; None for one that can."""
    if not 0 <= rule.notice_hours <= MAX_NOTICE_HOURS:
        return ValueRefused("noticeHours", f"must be 0 to {MAX_NOTICE_HOURS}")
    if not 0 <= rule.hours_a_month <= MAX_HOURS_A_MONTH:
        return ValueRefused("hoursAMonth", f"must be 0 to {MAX_HOURS_A_MONTH}")
    return _day_refused(rule.since, today) or _reason_refused(rule.reason)


def _day_refused(since: date, today: date) -> ValueRefused | None:
    if since < today:
        return ValueRefused("since", f"must be {today.isoformat()} or later: the past is fixed")
    return None


def _reason_refused(text: str) -> ValueRefused | None:
    reason = text.strip()
    if not 0 < len(reason) <= MAX_REASON or first_unseen(reason):
        return ValueRefused("reason", f"must be one line of 1 to {MAX_REASON} characters")
    return None


def rule_on(stored: Iterable[NetworkRule], day: date) -> NetworkRule:
    """Returns the rule of a day: the latest that has begun by then, else the shipped one."""
    begun = [one for one in stored if one.since <= day]
    return max(begun, key=lambda one: one.since, default=SHIPPED_RULE)


def in_force(stored: Iterable[Target], day: date) -> tuple[Target, ...]:
    """Returns the targets of a day: a stored one in place of the shipped one of its kind.

    Of two stored ones of a kind, the one that began later holds.
    """
    found: dict[tuple[EntityType, Measure, str], Target] = {}
    own = [one for one in stored if one.holds(day)]
    for one in (*SHIPPED, *sorted(own, key=lambda each: (each.since, each.target_id))):
        found[one.role, one.measure, one.api] = one
    return tuple(found[key] for key in sorted(found))


def target_of(
    targets: Iterable[Target], role: EntityType, measure: Measure, api: str
) -> Target | None:
    """Returns the target of an API: its own, else that of all APIs; of a heartbeat its own only."""
    known = {one.api: one for one in targets if (one.role, one.measure) == (role, measure)}
    if api == RequestType.HEARTBEAT:
        return known.get(api)
    return known.get(api) or known.get(ALL_APIS)
