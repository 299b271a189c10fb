"""Health over time for charts: one point for each window, some hours or a day.

A step without traffic is a gap: it has no success and no times, never zero or 100 %.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from mudra.metrics.health.health import Health, health_of_calls
from mudra.metrics.payload.catalogue import CALL_CODES, Tag
from mudra.metrics.ports import RollupQueries
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.step import Step, starts

if TYPE_CHECKING:
    from mudra.metrics.sums.totals import Totals


class Point(Struct, frozen=True):
    """One step: its start, and the health of its calls; None where there were none."""

    start: datetime
    health: Health | None


async def points(
    rollups: RollupQueries,
    within: TimeRange,
    step: Step,
    code: str = "",
    *,
    aa_id: str | None = None,
    fip_id: str | None = None,
) -> tuple[Point, ...]:
    """Returns a point for each step, over all calls together or those of one type code."""
    types = frozenset({code}) if code else frozenset(CALL_CODES)
    sums = await rollups.steps(within, step, types, aa_id=aa_id, fip_id=fip_id)
    return tuple(
        Point(start, health_of_calls(sums[start]) if start in sums else None)
        for start in starts(within, step)
    )


def health_of_all(totals: "Totals", code: str = "") -> Health | None:
    """Returns the health of all calls together, or of those of one type; None without any."""
    calls = totals.only(Tag.REQUESTS, (code,) if code else CALL_CODES).by()
    return next((health_of_calls(row) for row in calls.rows()), None)
