"""The few sums that decide between GOOD and BAD for a pair in the AA x FIP matrix.

A status needs no distribution of times, only how many calls ended soon enough. These
are three numbers that add up exactly, so that a database can add them. Times
count in the fixed cells of the roll-ups: the status is that of
`health_of_calls` over the same calls in those cells.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from mudra.metrics.health.health import GOOD_ABOVE_PERCENT, GOOD_BELOW_MS, Status
from mudra.metrics.payload.catalogue import FIRST_4XX, FIRST_5XX, Position
from mudra.metrics.payload.report import RequestBlock
from mudra.metrics.rollup.block_times import block_times, coarse_cell, coarse_cell_edges, rank
from mudra.metrics.rollup.latency_distribution import coarsen
from mudra.metrics.rollup.rollup import Rollup, answered

ALL_CALLS: Final = ""
"""The type under which all calls of a pair are added up."""
_LIMIT: Final = coarse_cell(GOOD_BELOW_MS)
"""The cell that contains the limit."""
SOON_BEFORE_MS, _LIMIT_ENDS_MS = coarse_cell_edges(_LIMIT)
"""A call that ended before the first of them ended soon, however its cell is counted."""
PARTS: Final = 32
_SOON_PARTS: Final = 17
"""So many 32nds of that cell's times are below the limit: 4864 to 4999 of 4864 to 5119 ms."""
assert (_LIMIT_ENDS_MS + 1 - SOON_BEFORE_MS) * _SOON_PARTS == PARTS * (
    GOOD_BELOW_MS - SOON_BEFORE_MS
)


class PairSums(Struct, frozen=True):
    """Calls of one AA to one FIP. `soon_…` of the answered ones ended before the limit of GOOD.

    `soon_estimate` counts 32nds of calls, so that those in the cell of the limit count in part.
    """

    total: int
    succeeded: int
    client_errors: int
    answered: int
    soon_lower: int
    soon_upper: int
    soon_estimate: int
    longest: int

    @property
    def eligible(self) -> int:
        """Calls in the denominator of success: all but 4xx."""
        return self.total - self.client_errors


def pair_sums(row: Rollup) -> PairSums:
    """Returns the sums of one cell's roll-up."""
    times = coarsen(row.times)
    at = row.counts
    return PairSums(
        at[Position.TOTAL],
        at[Position.OK_200],
        sum(at[FIRST_4XX:FIRST_5XX]),
        answered(at),
        sum(n for cell, n in zip(times.cells, times.lower, strict=True) if cell < _LIMIT),
        sum(n for cell, n in zip(times.cells, times.upper, strict=True) if cell <= _LIMIT),
        sum(
            n * (PARTS if cell < _LIMIT else _SOON_PARTS)
            for cell, n in zip(times.cells, times.estimate, strict=True)
            if cell <= _LIMIT
        ),
        times.longest,
    )


def pair_sums_of(blocks: Sequence[RequestBlock]) -> PairSums:
    """Returns what `pair_sums` returns for the roll-up of raw blocks, at a tenth of its cost.

    In most blocks all calls end before the limit, and the others are looked at there alone.
    """
    at = tuple(map(sum, zip(*(block.counts for block in blocks), strict=True)))
    lower = upper = estimate = longest = 0
    for block in blocks:
        samples = answered(block.counts)
        if not samples:
            continue
        longest = max(longest, block.pxx[3])
        if block.pxx[3] < SOON_BEFORE_MS:
            lower, upper, estimate = lower + samples, upper + samples, estimate + samples * PARTS
            continue
        times = block_times(samples, block.pxx)
        points = times.points
        lower += max((one.rank for one in points if one.high < SOON_BEFORE_MS), default=0)
        upper += next((one.rank - 1 for one in points if one.low > _LIMIT_ENDS_MS), samples)
        before = times.estimated_before(_LIMIT)
        within = times.estimated_before(_LIMIT + 1) - before
        estimate += before * PARTS + within * _SOON_PARTS
    return PairSums(
        at[Position.TOTAL],
        at[Position.OK_200],
        sum(at[FIRST_4XX:FIRST_5XX]),
        answered(at),
        lower,
        upper,
        estimate,
        longest,
    )


def add_pairs(one: PairSums, other: PairSums) -> PairSums:
    """Returns the sum of both."""
    return PairSums(
        one.total + other.total,
        one.succeeded + other.succeeded,
        one.client_errors + other.client_errors,
        one.answered + other.answered,
        one.soon_lower + other.soon_lower,
        one.soon_upper + other.soon_upper,
        one.soon_estimate + other.soon_estimate,
        max(one.longest, other.longest),
    )


def is_good_in_sums(sums: PairSums) -> bool:
    """Returns whether these calls are GOOD, and so is every sum of such: each term adds up.

    Where no AA sees other calls of a FIP, none can be outvoted (weighing.py). Of sums that are
    arrays it returns an array.
    """
    return (
        (sums.succeeded * 100 > sums.eligible * GOOD_ABOVE_PERCENT)
        & (sums.soon_lower * 2 >= sums.answered)
        & (sums.soon_upper * 2 >= sums.answered)
    )


def status_of_pair(sums: PairSums) -> Status:
    """Returns GOOD, BAD or UNSURE, by the rule of decisions part 5."""
    if not sums.eligible:
        return Status.UNSURE
    if not sums.answered or sums.succeeded * 100 <= sums.eligible * GOOD_ABOVE_PERCENT:
        return Status.BAD
    wanted = rank(sums.answered, 50)
    # The estimate is below the limit, and so are its bounds where they contain it.
    at_best = sums.soon_upper >= wanted
    at_worst = sums.soon_lower >= wanted or sums.longest < GOOD_BELOW_MS
    estimate = sums.soon_estimate > wanted * PARTS - PARTS // 2  # the middle of that call
    soon = (at_best and (estimate or at_worst)) or (at_worst and estimate)
    return Status.GOOD if soon else Status.BAD
