"""Percentiles over several windows and AAs: bounds, and an estimate.

Percentiles cannot be merged exactly (decisions part 5). The bounds follow from
the two step functions of `latency_distribution.py`: the call of the wanted rank
took at least the first time at which that many calls may have ended, and at
most the first time at which that many certainly have. Both are wider by 1 %,
the error of the histograms in which agents count times: no report says how its
points were found.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from msgspec import Struct

from mudra.metrics.rollup.block_times import TRUSTED_PERCENT, coarse_cell_edges, rank
from mudra.metrics.rollup.latency_distribution import LatencyDistribution


class Percentile(Struct, frozen=True):
    """One percentile in milliseconds: nearest rank, between `low` and `high`."""

    low: int
    high: int
    estimate: int

    @property
    def exact(self) -> bool:
        """True when the bounds are equal, which the error of reports leaves of 0 ms alone."""
        return self.low == self.high


class ResponseTime(Struct, frozen=True):
    """Response times of answered calls; `p100` is the longest, as reported."""

    samples: int
    p50: Percentile
    p95: Percentile
    p99: Percentile
    p100: int


def response_time(distribution: LatencyDistribution) -> ResponseTime | None:
    """Returns p50, p95, p99 and p100 of a distribution; None when no call was answered."""
    samples = distribution.samples
    if not samples:
        return None
    until = _until(distribution)
    return ResponseTime(
        samples,
        _of_rank(distribution, until, rank(samples, 50)),
        _of_rank(distribution, until, rank(samples, 95)),
        _of_rank(distribution, until, rank(samples, 99)),
        distribution.longest,
    )


def percentile(distribution: LatencyDistribution, percent: int) -> Percentile:
    """Returns this percentile (50, 95 or 99) of a distribution that has samples."""
    return _of_rank(distribution, _until(distribution), rank(distribution.samples, percent))


class _Until(NamedTuple):
    """The sums of the rises of a distribution up to each cell."""

    lower: Sequence[int]
    upper: Sequence[int]
    estimate: Sequence[int]


def _until(distribution: LatencyDistribution) -> _Until:
    return _Until(
        [*accumulate(distribution.lower)],
        [*accumulate(distribution.upper)],
        [*accumulate(distribution.estimate)],
    )


def _of_rank(distribution: LatencyDistribution, until: _Until, wanted: int) -> Percentile:
    low = _edges(distribution, _first(until.upper, wanted))[0]
    high = _edges(distribution, _first(until.lower, wanted))[1]
    high = min(high, distribution.longest)
    # Four values that no set of this many calls can have (another definition of percentiles)
    # would cross the bounds; both values then stay inside.
    low, high = min(low, high), max(low, high)
    estimate = min(max(_estimate(distribution, until.estimate, wanted), low), high)
    return Percentile(
        low - _error(low), max(high, min(high + _error(high), distribution.longest)), estimate
    )


def _estimate(distribution: LatencyDistribution, until: Sequence[int], wanted: int) -> int:
    """Returns the time of the wanted rank; the calls of one cell are spread evenly in it."""
    place = _first(until, wanted)
    first, last = _edges(distribution, place)
    calls = distribution.estimate[place]
    before = until[place] - calls
    return first + (2 * (wanted - before) - 1) * (last - first + 1) // (2 * calls)


def _error(milliseconds: int) -> int:
    """Returns the possible error of a reported time, rounded up."""
    return -(-milliseconds * TRUSTED_PERCENT // 100)


def _first(until: Sequence[int], wanted: int) -> int:
    """Returns the place of the first cell at which the sum of the rises reaches the rank."""
    place = bisect_left(until, wanted)
    if place == len(until):
        raise ValueError(f"a distribution of {until[-1]} samples has no rank {wanted}")
    return place


def _edges(distribution: LatencyDistribution, place: int) -> tuple[int, int]:
    cell = distribution.cells[place]
    return coarse_cell_edges(cell) if distribution.coarse else (cell, cell)
