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
from mudra.metrics.rollup.latency_distribution import coarse_cell, coarse_cell_edges, coarsen, rank
from mudra.metrics.rollup.rollup import Rollup, answered, rollup

ALL_CALLS: Final = ""
"""The type under which all calls of a pair are added up."""
_LIMIT: Final = coarse_cell(GOOD_BELOW_MS)
"""The cell that contains the limit: its middle is below the limit, its end above."""
_LIMIT_BEGINS_MS: Final = coarse_cell_edges(_LIMIT)[0]


class PairSums(Struct, frozen=True):
    """Calls of one AA to one FIP. `soon_…` of the answered ones ended before the limit of GOOD."""

    total: int
    succeeded: int
    client_errors: int
    answered: int
    soon_lower: int
    soon_upper: int
    soon_estimate: int
    longest: int

    @property
    def judged(self) -> int:
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
        sum(n for cell, n in zip(times.cells, times.estimate, strict=True) if cell <= _LIMIT),
        times.longest,
    )


def pair_sums_of(blocks: Sequence[RequestBlock]) -> PairSums:
    """Returns what `pair_sums` returns for the roll-up of raw blocks, at a tenth of its cost.

    In most blocks all calls end before the limit, so that no distribution is needed.
    """
    slow = [block for block in blocks if block.pxx[3] >= _LIMIT_BEGINS_MS]
    sums = pair_sums(rollup(slow))
    if len(slow) == len(blocks):
        return sums
    soon = [block for block in blocks if block.pxx[3] < _LIMIT_BEGINS_MS]
    at = tuple(map(sum, zip(*(block.counts for block in soon), strict=True)))
    ended = answered(at)
    longest = max((block.pxx[3] for block in soon if answered(block.counts)), default=0)
    quick = PairSums(
        at[Position.TOTAL],
        at[Position.OK_200],
        sum(at[FIRST_4XX:FIRST_5XX]),
        *(ended, ended, ended, ended),
        longest,
    )
    return add_pairs(sums, quick)


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


def status_of_pair(sums: PairSums) -> Status:
    """Returns GOOD, BAD or UNSURE, by the rule of decisions part 5."""
    if not sums.judged:
        return Status.UNSURE
    if not sums.answered or sums.succeeded * 100 <= sums.judged * GOOD_ABOVE_PERCENT:
        return Status.BAD
    wanted = rank(sums.answered, 50)
    # The estimate is below the limit, and so are its bounds where they contain it.
    at_best = sums.soon_upper >= wanted
    at_worst = sums.soon_lower >= wanted or sums.longest < GOOD_BELOW_MS
    estimate = sums.soon_estimate >= wanted
    soon = (at_best and (estimate or at_worst)) or (at_worst and estimate)
    return Status.GOOD if soon else Status.BAD
