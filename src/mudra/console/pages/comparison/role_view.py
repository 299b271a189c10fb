"""A role in a week as pages show it: each measure, its quartiles, and the own place."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.comparison.role_measures import Compared, Kind, Place, RoleWeek
from mudra.comparison.weeks import WEEK, last_settled, week_name
from mudra.console.pages.comparison.funnel_view import STAGES
from mudra.localization.language import gettext, translatable
from mudra.metrics.rollup.percentage import percentage

_KINDS: Final = {
    Kind.DONE_SHARE: translatable("Done, %"),
    Kind.P95_MS: translatable("p95, ms"),
}
_PLACES: Final = {
    Place.BEST_QUARTER: (translatable("best quarter"), "good"),
    Place.BETTER_HALF: (translatable("better half"), "good"),
    Place.WORSE_HALF: (translatable("worse half"), "warn"),
    Place.WORST_QUARTER: (translatable("worst quarter"), "bad"),
}


class MeasureLine(Struct, frozen=True):
    """One measure: shares in percent, times in milliseconds."""

    step: str
    measure: str
    group: str
    low: float | None
    median: float | None
    high: float | None
    mine: float | None
    place: str
    tone: str


class RoleView(Struct, frozen=True):
    """A role in a week, with the names of the weeks around it."""

    week: str
    before: str
    after: str
    """Empty where that week is not settled."""
    role: str
    lines: Sequence[MeasureLine]
    hidden: Sequence[str]
    """The measures of which too few members have calls."""


def role_view(found: RoleWeek, now: datetime, entity_id: str = "") -> RoleView:
    """Returns a role's week as pages show it; with the values of a member where it is named."""
    lines = [_line(one) for one in found.compared(entity_id)]
    after = found.week + WEEK
    return RoleView(
        week_name(found.week),
        week_name(found.week - WEEK),
        week_name(after) if after <= last_settled(now) else "",
        found.role.value,
        [one for one in lines if one.median is not None or one.mine is not None],
        [f"{one.step}, {one.measure}" for one in lines if one.median is None],
    )


def _line(one: Compared) -> MeasureLine:
    quartiles = one.quartiles
    place, tone = _PLACES[one.place] if one.place else ("", "quiet")
    low, median, high = (
        (None, None, None)
        if quartiles is None
        else (
            _shown(one.kind, quartiles.low),
            _shown(one.kind, quartiles.median),
            _shown(one.kind, quartiles.high),
        )
    )
    return MeasureLine(
        gettext(STAGES[one.stage]),
        gettext(_KINDS[one.kind]),
        one.group,
        low,
        median,
        high,
        None if one.mine is None else _shown(one.kind, one.mine),
        place,
        tone,
    )


def _shown(kind: Kind, value: float) -> float:
    return percentage(value, 1) if kind is Kind.DONE_SHARE else value
