"""Health over time for charts: one point for each window, some hours or a day.

A step without traffic is a gap: it has no success and no times, never zero or 100 %.
"""

from collections.abc import Collection
from datetime import datetime

from msgspec import Struct

from mudra.metrics.health.health import Health
from mudra.metrics.health.judging import health_of
from mudra.metrics.payload.catalogue import CUSTOMER_CODES, Tag
from mudra.metrics.ports import RollupQueries
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.step import Step, starts
from mudra.metrics.sums.totals import Totals


class Point(Struct, frozen=True):
    """One step: its start, and the health of its calls; None where there were none."""

    start: datetime
    health: Health | None


async def points(
    rollups: RollupQueries,
    within: TimeRange,
    step: Step,
    codes: Collection[str],
    *,
    aa_id: str | None = None,
    fip_id: str | None = None,
) -> tuple[Point, ...]:
    """Returns a point for each step, over the calls of these types together."""
    sums = await rollups.steps(within, step, codes, aa_id=aa_id, fip_id=fip_id)
    found = dict(zip(sums.starts(), health_of(sums), strict=True))
    return tuple(Point(start, found.get(start)) for start in starts(within, step))


def health_of_all(totals: Totals, code: str = "") -> Health | None:
    """Returns the health of all calls for customers, or of one type's; None without any."""
    calls = totals.only(Tag.REQUESTS, (code,) if code else CUSTOMER_CODES).by()
    return next(iter(health_of(calls)), None)
