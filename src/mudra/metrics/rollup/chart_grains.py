"""Selects the sums for a chart: the coarsest that fit into a step.

Where they are stale, or the range cuts them, the next finer rows replace them, so that a
chart shows every acknowledged push.
"""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from mudra.metrics.payload.catalogue import day_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.step import Step, starts


class Grains(Struct, frozen=True):
    """The rows of a chart: disjoint, and together the whole range."""

    days: tuple[datetime, ...]
    hours: tuple[datetime, ...]
    windows: tuple[datetime, ...]


def grains(
    within: TimeRange, step: Step, stale_days: Iterable[datetime], stale_hours: Iterable[datetime]
) -> Grains:
    """Selects the rows for a range."""
    bad_hours = frozenset(stale_hours)
    bad_days = frozenset(stale_days) | {day_start(hour) for hour in bad_hours}
    days, left = _whole(within, Step.DAY, bad_days) if step is Step.DAY else ((), (within,))
    if step is Step.WINDOW:
        return Grains((), (), within.windows)
    hours: list[datetime] = []
    windows: list[datetime] = []
    for part in left:
        found, rest = _whole(part, Step.HOUR, bad_hours)
        hours += found
        windows += [window for one in rest for window in one.windows]
    return Grains(days, tuple(hours), tuple(windows))


def _whole(
    within: TimeRange, step: Step, stale: frozenset[datetime]
) -> tuple[tuple[datetime, ...], tuple[TimeRange, ...]]:
    """Returns the whole steps of a range with valid sums, and what is left of it."""
    good: list[datetime] = []
    left: list[TimeRange] = []
    for start in starts(within, step):
        end = start + step.value
        if start >= within.start and end <= within.end and start not in stale:
            good.append(start)
        else:
            left.append(TimeRange(max(start, within.start), min(end, within.end)))
    return tuple(good), tuple(left)
