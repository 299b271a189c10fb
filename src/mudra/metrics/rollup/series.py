"""Health over time for charts: one point for each window, some hours or a day.

A step without traffic is a gap: it has no success and no times, never zero or 100 %.
"""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from mudra.metrics.health.health import Health, health_of_calls
from mudra.metrics.payload.catalogue import CALL_CODES, TIMING_CODES, Tag
from mudra.metrics.ports import Series
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.rollup import Cell, Rollup, merge_all
from mudra.metrics.rollup.step import Step, starts


class Point(Struct, frozen=True):
    """One step: its start, and the health of its calls; None where there were none."""

    start: datetime
    health: Health | None


async def points(
    series: Series,
    within: TimeRange,
    step: Step,
    code: str = "",
    *,
    aa_id: str | None = None,
    fip_id: str | None = None,
) -> tuple[Point, ...]:
    """Returns a point for each step, over all calls together or those of one type code."""
    types = frozenset({code}) if code else frozenset(CALL_CODES)
    sums = await series.steps(within, step, types, aa_id=aa_id, fip_id=fip_id)
    return tuple(
        Point(start, health_of_calls(sums[start]) if start in sums else None)
        for start in starts(within, step)
    )


def health_of_all(cells: Iterable[tuple[Cell, Rollup]], code: str = "") -> Health | None:
    """Returns the health of these calls together; None without any."""
    found = [
        sums
        for cell, sums in cells
        if cell.tag is Tag.REQUESTS
        and (cell.type == code if code else cell.type not in TIMING_CODES)
    ]
    return health_of_calls(merge_all(found)) if found else None
