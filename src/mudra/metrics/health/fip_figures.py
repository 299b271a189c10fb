"""What an operator's own dashboards show of each API of a FIP in a window."""

from collections.abc import Iterator

from msgspec import Struct

from mudra.metrics.health.judging import health_of
from mudra.metrics.sums.totals import Totals


class FipFigures(Struct, frozen=True, gc=False):
    """The calls of all AAs to one API of one FIP."""

    fip_id: str
    api: str
    requests: int
    success: float | None
    """A share from 0 to 1, 4xx left out; None without a denominator."""
    p50_s: float | None
    """The estimated median response time in seconds; None without a response."""


def figures_of(totals: Totals) -> Iterator[FipFigures]:
    """Yields the figures of sums of calls over all AAs."""
    for fip_id, code, health in zip(
        totals.fip_ids(), totals.codes(), health_of(totals), strict=True
    ):
        p50_s = None if health.time is None else health.time.p50 / 1000
        yield FipFigures(fip_id, code, health.total, health.success, p50_s)
