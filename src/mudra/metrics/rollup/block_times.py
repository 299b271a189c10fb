"""What the four points of one block say about its calls: ranks that are known, and an estimate.

In a block of n calls, the one of rank ceil(n * 50 %) took p50, and so on for
95, 99 and 100 (nearest rank, the definition that Mudra documents). Other agents
interpolate between ranks, by which a point lies between its call and the next
one. So a point is trusted to one rank: where the distance to the next point,
divided by the ranks in between, is over 1 %, the bounds include it. A rank that
is the last one took p100, whatever the point says.

The estimate places each of the n calls. The calls of the four ranks take their
points; the i-th call of those in between is the quantile (i - 1/2) / n of a normal
curve over the logarithm of the time, drawn through the two points next to it. Calls
below p50 continue the curve down to a quarter of p50. Both halves of a
rank matter: a p95 of 20 calls is their 92.5 % quantile, not the 95 %.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import erfc, log, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

from msgspec import Struct

from mudra.metrics.payload.catalogue import PERCENTS

_FINE_BITS: Final = 4
_FINE: Final = 1 << _FINE_BITS
_LARGEST: Final = 2**53
TRUSTED_PERCENT: Final = 1
"""Relative error of every point: agents count times in histograms of 2 or 3 digits."""
_BELOW_P50: Final = 4
_FLAT: Final = -9.0
_ROOT: Final = sqrt(2.0)


def rank(samples: int, percent: int) -> int:
    """Returns the rank, from 1, of the sorted sample that is this percentile (nearest rank)."""
    return -(-samples * percent // 100)


def coarse_cell(milliseconds: int) -> int:
    """Returns the number of the fixed cell that contains this time: 16 to each doubling."""
    shift = max(0, milliseconds.bit_length() - _FINE_BITS - 1)
    return shift * _FINE + (milliseconds >> shift)


def coarse_cell_edges(cell: int) -> tuple[int, int]:
    """Returns the first and last millisecond of a fixed cell."""
    shift = max(0, cell // _FINE - 1)
    first = (cell - shift * _FINE) << shift
    return first, first + (1 << shift) - 1


class Point(NamedTuple):
    """The call of `rank` took `time`, at least `low` and at most `high` milliseconds."""

    rank: int
    time: int
    low: int
    high: int


class BlockTimes(Struct, frozen=True):
    """The answered calls of one block. Points rise in rank; the last is the longest call."""

    samples: int
    points: tuple[Point, ...]
    placed: "tuple[_Segment, ...]"

    def estimated_before(self, cell: int) -> int:
        """Returns how many calls are estimated to be in the fixed cells before this one."""
        edge = coarse_cell_edges(cell)[0]
        passed = max((point.rank for point in self.points if point.time < edge), default=0)
        for segment in self.placed:
            if segment.start < edge <= segment.end:
                before = segment.calls_before(range(cell, cell + 1))[0]
                return passed + min(max(before, 0), segment.calls)
        return passed


class _Segment(Struct, frozen=True):
    """Calls strictly between two ranks, in times from `start` to `end`."""

    samples: int
    passed: int
    calls: int
    start: int
    end: int
    quantile: float
    """Normal quantile at the start."""
    slope: float
    """Normal quantiles for each unit of the logarithm of time."""

    def calls_before(self, cells: range) -> list[int]:
        """Returns how many of them are before each of these cells, which are within it."""
        steepness = -self.slope / _ROOT
        begin = -self.quantile / _ROOT - steepness * _log(self.start)
        half, passed = self.samples / 2, self.passed - 0.5
        # the normal distribution, in calls; rounded to the nearest call
        return [
            int(half * erfc(begin + steepness * edge) - passed)
            for edge in _EDGES[cells.start : cells.stop]
        ]

    def place(self, estimate: dict[int, int]) -> None:
        """Adds its calls: at one time for each fixed cell."""
        first, last = coarse_cell(self.start), coarse_cell(self.end)
        before, calls = 0, self.calls
        for cell, rounded in enumerate(self.calls_before(range(first + 1, last + 1)), first):
            if rounded > before:
                until = min(rounded, calls)
                time = _MIDDLES[cell] if cell > first else (self.start + _LASTS[cell]) // 2
                estimate[time] = estimate.get(time, 0) + until - before
                before = until
                if until == calls:
                    return
        low = self.start if first == last else coarse_cell_edges(last)[0]
        time = (low + self.end) // 2
        estimate[time] = estimate.get(time, 0) + calls - before


def block_times(samples: int, pxx: tuple[int, int, int, int]) -> BlockTimes:
    """Returns the times of a block with at least one answered call."""
    points = _points(samples, pxx)
    return BlockTimes(samples, points, _segments(samples, points))


def _points(samples: int, pxx: tuple[int, int, int, int]) -> tuple[Point, ...]:
    ranks, _ = _ranks(samples)
    times = [pxx[3] if at == samples else time for at, time in zip(ranks, pxx, strict=False)]
    points: list[Point] = []
    low = 0
    for place, (at, time) in enumerate(zip(ranks, times, strict=True)):
        gap = 0
        if place + 1 < len(ranks):
            gap = -((time - times[place + 1]) // (ranks[place + 1] - at))
            gap = gap if gap * 100 > time * TRUSTED_PERCENT else 0
        low = max(low, time - gap)
        points.append(Point(at, time, low, time + gap))
    return tuple(points)


def _segments(samples: int, points: Sequence[Point]) -> tuple[_Segment, ...]:
    if len(points) == 1:
        return ()
    _, quantiles = _ranks(samples)
    found: list[_Segment] = []
    for one, other, low, high in zip(points, points[1:], quantiles, quantiles[1:], strict=False):
        # times beyond 2**53 may differ by less than a floating-point number shows
        width = _log(other.time) - _log(one.time)
        slope = (high - low) / width if width > 0 else 0.0
        if not found and one.rank > 1:  # below p50 the curve continues
            start = one.time // _BELOW_P50
            quantile = low - slope * (_log(one.time) - _log(start)) if slope else _FLAT
            found.append(_Segment(samples, 0, one.rank - 1, start, one.time, quantile, slope))
        between = other.rank - one.rank - 1
        if between:
            found.append(_Segment(samples, one.rank, between, one.time, other.time, low, slope))
    return tuple(found)


@lru_cache(maxsize=4096)
def _ranks(samples: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Returns the distinct ranks of the four points, and their normal quantiles."""
    ranks = sorted({rank(samples, percent) for percent in PERCENTS})
    normal = NormalDist()
    # From above: with very many calls the share below the last one would round to 1.
    above = (normal.inv_cdf((samples - at + 0.5) / samples) for at in ranks)
    return tuple(ranks), tuple(-quantile for quantile in above)


def _log(milliseconds: int) -> float:
    return log(max(milliseconds, 0.5))


_ALL: Final = [coarse_cell_edges(cell) for cell in range(coarse_cell(_LARGEST) + 2)]
_EDGES: Final = [_log(first) for first, _ in _ALL]
_LASTS: Final = [last for _, last in _ALL]
_MIDDLES: Final = [(first + last) // 2 for first, last in _ALL]
