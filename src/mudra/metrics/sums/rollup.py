"""The row of a sum: the calls of one AA to one FIP by one type, as those who read it see it."""

from typing import Final

from msgspec import Struct

from mudra.metrics.payload.catalogue import Tag

LIMIT_MS: Final = 5000
"""A median below this is GOOD; each sum counts the calls that reached it."""


class Cell(Struct, frozen=True, gc=False):
    """One AA, one FIP, one tag, one type: the finest unit that is counted.

    An empty AA, FIP or type means all of them together; all types of request.
    """

    aa_id: str
    fip_id: str
    tag: Tag
    type: str


class Late(Struct, frozen=True, gc=False):
    """Answered calls that took `LIMIT_MS` or longer: certainly, at most, and by estimate.

    `lower` <= `estimate` <= `upper`; each adds up exactly.
    """

    lower: int
    upper: int
    estimate: int


class ResponseTime(Struct, frozen=True, gc=False):
    """Response times of answered calls, in whole milliseconds; `p100` is the longest, exact."""

    samples: int
    p50: int
    p95: int
    p99: int
    p100: int
    reported: bool
    """The four values are those of one report; else p50, p95 and p99 are estimates."""


class Rollup(Struct, frozen=True, gc=False):
    """Sums over blocks."""

    blocks: int
    counts: tuple[int, ...]
    statuses: tuple[int, ...]
    data_bytes: int
    late: Late
    time: ResponseTime | None
    """None without an answered request, and where times were not asked for."""

    @property
    def answered(self) -> int:
        """The number of calls with a response of any status; each has a response time."""
        return sum(self.counts[1:])


NONE_LATE: Final = Late(0, 0, 0)
