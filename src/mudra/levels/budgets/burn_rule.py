"""The error budget of a month: what is spent, how fast, and whether it ends before the month. Pure.

A budget is what the target allows of the calls of the whole month. Calls that are still to come
are taken to be as many an hour as those of the last week. The burn rate of a window is its share of
failures over the share that the target allows: at 1 a budget lasts exactly one month.
"""

import enum
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.levels.calculation import Figure
from mudra.levels.target import ALL_APIS, Measure
from mudra.metrics.rollup.coverage import TimeRange

LONG: Final = timedelta(days=7)
SHORT: Final = timedelta(days=1)
"""Both windows have to agree: a bad day alone is an incident, a bad week that is over is past."""
_CENTS: Final = 100
_FEW: Final = 10


class Outlook(enum.StrEnum):
    """The prospect of a budget until the end of its month."""

    WITHIN = "within"
    BURNING = "burning"
    """At the rates of both windows it is gone before the month ends."""
    GONE = "gone"
    """More than the month allows has failed."""

    def is_worse_than(self, other: "Outlook") -> bool:
        """Returns whether this is worse."""
        order = [*Outlook]
        return order.index(self) > order.index(other)


class Burn(Struct, frozen=True, rename="camel"):
    """The budget of one measure, over all calls for customers."""

    measure: Measure
    target: float
    """Percent."""
    allowed: int
    """Failures that the target allows in the whole month, by the volume that is expected."""
    spent: int
    """Failures of the month so far."""
    counted: int
    """Calls, FI requests or reports of the month so far, of which these are failures."""
    left_percent: float
    """Of the budget; below zero once it is gone."""
    day_rate: float
    week_rate: float
    """Burn rates of the last day and week; 1 uses up the budget in exactly one month."""
    gone_at: datetime | None
    """When it will be gone at the slower of both rates; None where that is after the month."""
    outlook: Outlook


class Seen(Struct, frozen=True):
    """The figures of a member in the month so far, and in the two windows."""

    month: Sequence[Figure]
    week: Sequence[Figure]
    day: Sequence[Figure]


def burns_of(seen: Seen, month: TimeRange, now: datetime) -> tuple[Burn, ...]:
    """Returns the budgets of all measures that are a share with a target and have calls."""
    week, day = _by_measure(seen.week), _by_measure(seen.day)
    found = []
    for measure, figure in _by_measure(seen.month).items():
        if measure in week and measure in day:
            found.append(_burn(figure, week[measure], day[measure], month, now))
    return tuple(found)


def at_pace(burn: Burn, until: datetime, failed_an_hour: float, end: datetime) -> Burn:
    """Returns a budget that was counted `until` then, at the pace of an incident that is open.

    The rates of a day and of a week do not see an outage of an hour: what uses up the rest within
    a day, before the `end` of the month, will not last.
    """
    if burn.outlook is not Outlook.WITHIN or failed_an_hour <= 0:
        return burn
    gone_at = until + timedelta(hours=(burn.allowed - burn.spent) / failed_an_hour)
    if gone_at >= min(until + SHORT, end):
        return burn
    return replace(burn, outlook=Outlook.BURNING, gone_at=gone_at)


def reached_percent(burn: Burn) -> float:
    """Returns what the month has reached so far, in percent, as its target is."""
    part = burn.spent if burn.measure.at_most else burn.counted - burn.spent
    return 100 * part / burn.counted


def shown_allowed(burn: Burn) -> tuple[float, int]:
    """Returns the failures that are allowed as pages show them, and with how many decimals.

    Of few, 4 of 1 is not what the budget is over by: it was 1.4, as what is left of it shows.
    """
    if burn.allowed >= _FEW or not burn.spent or not burn.left_percent:
        return burn.allowed, 0
    return burn.spent / (1 - burn.left_percent / 100), 1


def _by_measure(figures: Iterable[Figure]) -> dict[Measure, Figure]:
    return {
        one.measure: one
        for one in figures
        if one.api == ALL_APIS
        and one.target is not None
        and not one.measure.in_ms
        and one.whole > 0
    }


def _burn(so_far: Figure, week: Figure, day: Figure, month: TimeRange, now: datetime) -> Burn:
    assert so_far.target is not None
    target = Fraction(str(so_far.target))
    share = (target if so_far.measure.at_most else 100 - target) / 100
    to_come = week.whole * Fraction(max(month.end - now, timedelta()) / LONG)
    allowed = share * (so_far.whole + to_come)
    spent = _failed(so_far)
    rates = [Fraction(_failed(one), one.whole) for one in (day, week)]
    slower = min(rates)
    gone = spent > allowed
    burning = not gone and spent + slower * to_come > allowed
    gone_at = None
    if burning:
        gone_at = now + (month.end - now) * float((allowed - spent) / (slower * to_come))
    return Burn(
        so_far.measure,
        so_far.target,
        int(allowed),
        spent,
        so_far.whole,
        _cents(100 * (allowed - spent) / allowed) if allowed else 0.0,
        _rate(rates[0], share),
        _rate(rates[1], share),
        gone_at,
        Outlook.GONE if gone else Outlook.BURNING if burning else Outlook.WITHIN,
    )


def _rate(failing: Fraction, share: Fraction) -> float:
    return _cents(failing / share) if share else 0.0


def _failed(one: Figure) -> int:
    return one.part if one.measure.at_most else one.whole - one.part


def _cents(number: Fraction) -> float:
    return round(number * _CENTS) / _CENTS
