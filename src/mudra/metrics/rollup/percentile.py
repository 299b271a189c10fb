"""Percentiles of windows and AAs taken together: bounds that always hold, and an estimate.

Percentiles cannot be merged exactly (decisions part 5). What can be said for
certain follows from the two step functions of `spread.py`: the call of the
wanted rank took at least the first time at which that many calls may have
ended, and at most the first time at which that many surely have.
"""

from itertools import accumulate

from msgspec import Struct

from mudra.metrics.rollup.latency_distribution import LatencyDistribution, coarse_cell_edges, rank


class Percentile(Struct, frozen=True):
    """One percentile in milliseconds: nearest rank, surely within `low` and `high`."""

    low: int
    high: int
    estimate: int

    @property
    def exact(self) -> bool:
        """Nothing is left to estimate."""
        return self.low == self.high


class ResponseTime(Struct, frozen=True):
    """Response times of answered calls; `p100` is the exact maximum."""

    samples: int
    p50: Percentile
    p95: Percentile
    p99: Percentile
    p100: int


def response_time(spread: LatencyDistribution) -> ResponseTime | None:
    """What the spread says of p50, p95, p99 and p100, or None where no call was answered."""
    samples = spread.samples
    if not samples:
        return None
    return ResponseTime(
        samples,
        percentile(spread, 50),
        percentile(spread, 95),
        percentile(spread, 99),
        spread.longest,
    )


def percentile(spread: LatencyDistribution, percent: int) -> Percentile:
    """This percentile (50, 95 or 99) of a spread that has samples."""
    wanted = rank(spread.samples, percent)
    low = _edges(spread, _first(spread.maybe, wanted))[0]
    high = min(_edges(spread, _first(spread.surely, wanted))[1], spread.longest)
    # Four figures that no set of this many calls can have (another definition of percentiles)
    # would cross the bounds; both figures then stay inside.
    low, high = min(low, high), max(low, high)
    first, last = _edges(spread, _first(spread.likely, wanted))
    return Percentile(low, high, min(max((first + last) // 2, low), high))


def _first(rises: tuple[int, ...], wanted: int) -> int:
    """Place of the first cell at which the sum of the rises reaches the wanted rank."""
    for place, count in enumerate(accumulate(rises)):
        if count >= wanted:
            return place
    raise ValueError(f"a spread of {sum(rises)} samples has no rank {wanted}")


def _edges(spread: LatencyDistribution, place: int) -> tuple[int, int]:
    cell = spread.cells[place]
    return coarse_cell_edges(cell) if spread.coarse else (cell, cell)
