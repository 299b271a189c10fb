"""Figures over time: what a chart shows, one point for each window, hour or day.

A step without traffic is a gap: it has no success and no times, never zero or 100 %.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from mudra.metrics.catalogue import TIMINGS, Tag, window_start
from mudra.metrics.coverage import TimeRange
from mudra.metrics.health import Health, health_of_calls
from mudra.metrics.ports import Cell, Figures
from mudra.metrics.rollup import Rollup, merge_all

_TIMING_CODES: Final = frozenset(str(code) for code in TIMINGS)


class Step(enum.Enum):
    """How much time one point covers; hours and days are those of UTC."""

    WINDOW = timedelta(minutes=10)
    HOUR = timedelta(hours=1)
    SIX_HOURS = timedelta(hours=6)
    DAY = timedelta(days=1)

    def start_of(self, at: datetime) -> datetime:
        """Start of the step that holds this moment."""
        day = day_start(at)
        return day + (window_start(at) - day) // self.value * self.value


_FINEST: Final = (  # some dozens of points, at most 92
    (timedelta(hours=8), Step.WINDOW),
    (timedelta(days=2), Step.HOUR),
    (timedelta(days=10), Step.SIX_HOURS),
)


@dataclass(frozen=True, slots=True)
class Point:
    """One step: its start, and how the calls did; None where there were none."""

    start: datetime
    health: Health | None


def step_for(within: TimeRange) -> Step:
    """The finest step that keeps a chart readable."""
    length = within.end - within.start
    return next((step for longest, step in _FINEST if length <= longest), Step.DAY)


def starts(within: TimeRange, step: Step) -> tuple[datetime, ...]:
    """The starts of all steps that touch this time, in order."""
    found = []
    at = step.start_of(within.start)
    while at < within.end:
        found.append(at)
        at += step.value
    return tuple(found)


async def points(  # whose calls, of which time and API
    figures: Figures,
    within: TimeRange,
    step: Step,
    code: str = "",
    *,
    aa_id: str | None = None,
    fip_id: str | None = None,
) -> tuple[Point, ...]:
    """A point for each step, over all calls taken together or over those of one type code."""
    found = []
    for start in starts(within, step):
        part = TimeRange(max(start, within.start), min(start + step.value, within.end))
        if aa_id is None:
            sums = await figures.over_aas(part, fip_id=fip_id, tag=Tag.REQUESTS)
        else:
            sums = await figures.totals(part, aa_id=aa_id, fip_id=fip_id, tag=Tag.REQUESTS)
        found.append(Point(start, health_of_all(sums.items(), code)))
    return tuple(found)


def health_of_all(cells: Iterable[tuple[Cell, Rollup]], code: str = "") -> Health | None:
    """The health of these calls together; None without any."""
    found = [
        sums
        for cell, sums in cells
        if cell.tag is Tag.REQUESTS
        and (cell.type == code if code else cell.type not in _TIMING_CODES)
    ]
    return health_of_calls(merge_all(found)) if found else None


def day_start(at: datetime) -> datetime:
    """Start of the day, in UTC, that holds this moment."""
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
