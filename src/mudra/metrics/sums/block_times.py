"""The response times of single blocks: an estimate of all, and certain counts of late calls.

In a block of n calls, the one of rank ceil(n * 50 %) took p50, and so on for 95, 99 and 100
(nearest rank, the definition that Mudra documents). A rank that is the last one took p100, whatever
the point says.

The estimate places each of the n calls. The calls of the four ranks take their points; the i-th
call of those in between is the quantile (i - 1/2) / n of a normal curve over the logarithm of the
time, drawn through the two points next to it. Calls below p50 continue the curve down to a quarter
of p50. Both halves of a rank matter: a p95 of 20 calls is their 92.5 % quantile, not the 95 %.

Other agents interpolate between ranks, by which a point lies between its call and the next one. So
a point is trusted to one rank for what is certain: where the distance to the next point, divided by
the ranks in between, is over 1 %, the call of its rank may be that much sooner or later.

Times count in fixed cells: exact below 8 ms, above it 8 to each doubling, at most 1/8 wide.
"""

from functools import lru_cache
from math import erfc, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mudra.metrics.payload.catalogue import PERCENTS
from mudra.metrics.sums.cells import Array, Flags
from mudra.metrics.sums.rollup import LIMIT_MS

TRUSTED_PERCENT: Final = 1
"""Relative error of every point: agents count times in histograms of 2 or 3 digits."""
_FINE_BITS: Final = 3
_FINE: Final = 1 << _FINE_BITS
PLACES: Final = _FINE * (53 - _FINE_BITS + 1)
"""The number of cells of the times below 2^53 ms."""
_BELOW_P50: Final = 4
_EXACT_P95, _EXACT_P99 = 20, 100
_INTERPOLATED: Final = 0.985
"""A point below such a part of the longest is another call: agents keep two digits at least."""
_USUAL_SPREAD: Final = 0.6
"""Of the logarithm of times: p95 is 2.7 times p50."""
_USUAL_COUNTS: Final = 8
"""It counts as much as so many calls."""
_FLAT: Final = -9.0
_FAR: Final = 9
_PARTS: Final = 512
_TOGETHER: Final = 1000
"""Blocks that are estimated together: of more, each column would take new pages of the machine."""
_LOG_LIMIT: Final = float(np.log(LIMIT_MS))

_Floats = NDArray[np.float64]


class BlockTimes(NamedTuple):
    """The times of blocks: `calls` in cell `place`, block by block, `width` of each.

    Those of one block are in no order, not yet added up. `late` has a row for each block: calls
    that took `LIMIT_MS` or longer certainly, possibly and by estimate.
    """

    width: Array
    place: Array
    calls: Array
    late: Array


def cell_of(times: Array) -> Array:
    """Returns the cells of these milliseconds, below 2^53."""
    shift = np.maximum(np.frexp(times.astype(np.float64))[1].astype(np.int64) - _FINE_BITS - 1, 0)
    found: Array = shift * _FINE + (times >> shift)
    return found


def first_of(cells: Array) -> Array:
    """Returns the first millisecond of each cell."""
    shift = np.maximum(cells // _FINE - 1, 0)
    found: Array = (cells - shift * _FINE) << shift
    return found


def times_of(samples: Array, pxx: Array) -> BlockTimes:
    """Returns the times of these blocks; each has answered calls, and four points in a row."""
    known, which = np.unique(samples, return_inverse=True)
    quantiles = np.array([_quantiles(one) for one in known.tolist()]).reshape(-1, len(PERCENTS))
    starts = range(0, max(len(samples), 1), _TOGETHER)
    spans = [slice(start, start + _TOGETHER) for start in starts]
    parts = [_times_of(samples[span], pxx[span], quantiles[which[span]]) for span in spans]
    return BlockTimes(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _times_of(samples: Array, pxx: Array, quantiles: _Floats) -> BlockTimes:
    reported = _points(samples, pxx)
    points = reported._replace(time=reported.time.copy())
    points.time[:, 0] = _median_call(samples, reported.time[:, 0], pxx)
    cells = cell_of(points.time)
    on = np.flatnonzero(points.valid)
    placed = [(on // len(PERCENTS), cells.ravel()[on], np.ones(len(on), np.int64))]
    has_late = pxx[:, -1] >= LIMIT_MS  # of the others all calls are sooner
    soon = (points.valid & (points.time < LIMIT_MS)).sum(1)
    for block, stretch in _stretches(samples, points, cells, quantiles):
        some = np.flatnonzero(has_late[block])
        counted = stretch.chosen(some).soon()
        soon += np.bincount(block[some], counted, len(samples)).astype(np.int64)
        of, place, calls = stretch.placed()
        placed.append((block[of], place, calls))
    row, place, calls = (np.concatenate(column) for column in zip(*placed, strict=True))
    late = np.zeros((len(samples), 3), np.int64)
    some = np.flatnonzero(has_late)
    low, high = _soon_bounds(samples[some], _Points._make(column[some] for column in reported))
    late[some] = samples[some, None] - np.stack([high, low, soon[some]], 1)
    order = np.argsort(row.astype(np.int16), kind="stable")  # of 16 bits, by counting
    width = np.bincount(row, minlength=len(samples))
    return BlockTimes(width, place[order], calls[order], late)


class _Points(NamedTuple):
    """Ranks and times of the four points of each block; equal ranks count once, as the first."""

    rank: Array
    time: Array
    valid: Flags


def _points(samples: Array, pxx: Array) -> _Points:
    rank: Array = -(-samples[:, None] * np.array(PERCENTS) // 100)
    time = np.where(rank == samples[:, None], pxx[:, 3:], pxx)
    return _Points(rank, time, np.diff(rank, axis=1, prepend=0) > 0)


def _median_call(samples: Array, p50: Array, pxx: Array) -> Array:
    """Returns the time of the call of rank ceil(n / 2), also where p50 was interpolated.

    With fewer than 20 calls the p95 of a nearest rank is the longest, with fewer than 100 the p99.
    Where it is clearly less the agent interpolates, and of an even number of calls p50 is the
    middle between two of them.
    """
    found = p50.copy()
    few = (samples > 1) & (samples < _EXACT_P99) & (samples % 2 == 0)
    longest = np.where(samples < _EXACT_P95, pxx[:, 1], pxx[:, 2])
    # In floating-point numbers: times below 2^53 would overflow.
    on = np.flatnonzero(few & (longest * 1.0 < pxx[:, 3] * _INTERPOLATED))
    if len(on):
        half = np.array([_half_step(one) for one in samples[on].tolist()])
        spread = (_log(pxx[on, 3]) - _log(p50[on])) / half[:, 1]
        share = samples[on] / (samples[on] + _USUAL_COUNTS)
        step = (share * spread + (1.0 - share) * _USUAL_SPREAD) * half[:, 0]
        sooner = np.where(samples[on] == 2, 2 * p50[on] - pxx[on, 3], p50[on] * np.exp(-step))  # noqa: PLR2004  # two samples
        found[on] = np.maximum(np.rint(sooner), np.minimum(p50[on], 1))
    return found


@lru_cache(maxsize=128)
def _half_step(samples: int) -> tuple[float, float]:
    """Returns half the way between the middle two calls, and that to the last, as quantiles."""
    inverse = NormalDist().inv_cdf
    return inverse(0.5 + 0.5 / samples), inverse(1.0 - 0.5 / samples)


class _Stretch(NamedTuple):
    """Calls strictly between two ranks, along a normal curve from `start` to `end` ms."""

    samples: Array
    passed: Array
    calls: Array
    start: Array
    end: Array
    first: Array
    """The cells of time of both."""
    last: Array
    intercept: _Floats
    """The normal quantile of 1 ms."""
    slope: _Floats
    """Normal quantiles for each unit of the logarithm of time."""

    def chosen(self, some: Array) -> "_Stretch":
        """Returns some of them."""
        return _Stretch._make(column[some] for column in self)

    def soon(self) -> Array:
        """Returns how many of its calls are estimated to be below `LIMIT_MS`."""
        found = np.where(self.end < LIMIT_MS, self.calls, 0)
        some = np.flatnonzero((self.start < LIMIT_MS) & (self.end >= LIMIT_MS))
        if len(some):
            one = np.ones(len(some), np.int64)
            found[some] = self.chosen(some).before(one, np.full(len(some), _LOG_LIMIT))
        return found

    def placed(self) -> tuple[Array, Array, Array]:
        """Returns its calls by cell of time: which stretch, which cell, how many."""
        width = self.last - self.first + 1
        begins = np.cumsum(width) - width
        cell = np.repeat(self.first - begins, width)
        cell += np.arange(len(cell))
        until = self.before(width, _LOG_FIRST[cell + 1])
        until[begins + width - 1] = self.calls
        calls = until.copy()
        calls[1:] -= until[:-1]
        calls[begins] = until[begins]
        kept = np.flatnonzero(calls)
        return np.repeat(np.arange(len(width)), width)[kept], cell[kept], calls[kept]

    def before(self, width: Array, logarithm: _Floats) -> Array:
        """Returns how many of its calls are before logarithms of a time: so many of each stretch.

        It rises with the time within a stretch.
        """
        z = np.repeat(self.slope, width)
        z *= logarithm
        z += np.repeat(self.intercept, width)
        found = _normal(z)
        found *= np.repeat(self.samples, width)
        found -= np.repeat(self.passed - 0.5, width)
        np.maximum(found, 0, out=found)
        np.minimum(found, np.repeat(self.calls, width), out=found)
        return found.astype(np.int64)


def _stretches(
    samples: Array, points: _Points, cells: Array, quantiles: _Floats
) -> list[tuple[Array, _Stretch]]:
    """Returns the stretches between points, and below the first, each with its blocks."""
    found = []
    of_points = (points.rank, points.time, cells, _log(points.time), quantiles)
    columns = [np.ascontiguousarray(one.T) for one in of_points]
    for place in range(len(PERCENTS) - 1):
        on = np.flatnonzero(points.valid[:, place + 1])
        rank, time, cell, log, quantile = ((one[place][on], one[place + 1][on]) for one in columns)
        width = log[1] - log[0]
        # times beyond 2^53 may differ by less than a floating-point number shows
        slope = np.divide(quantile[1] - quantile[0], width, out=np.zeros(len(on)), where=width > 0)
        intercept = quantile[0] - slope * log[0]
        between = rank[1] - rank[0] - 1
        found.append((on, _Stretch(samples[on], rank[0], between, *time, *cell, intercept, slope)))
        if not place:
            begin = time[0] // _BELOW_P50
            below = (samples[on], np.zeros_like(rank[0]), rank[0] - 1, begin, time[0])
            # Of few calls p50 and the longest say little of their spread: a usual one counts too.
            own = np.divide(1.0, slope, out=np.zeros(len(on)), where=slope > 0)
            share = samples[on] / (samples[on] + _USUAL_COUNTS)
            wide = 1.0 / (share * own + (1.0 - share) * _USUAL_SPREAD)
            flat = np.where(slope > 0, quantile[0] - wide * log[0], _FLAT)
            spread = (flat, np.where(slope > 0, wide, 0.0))
            found.append((on, _Stretch(*below, cell_of(begin), cell[0], *spread)))
    return [_with_calls(on, stretch) for on, stretch in found]


def _with_calls(on: Array, stretch: _Stretch) -> tuple[Array, _Stretch]:
    some = np.flatnonzero(stretch.calls != 0)
    return on[some], stretch.chosen(some)


def _soon_bounds(samples: Array, points: _Points) -> tuple[Array, Array]:
    """Returns how many calls ended before the limit at least, and at most."""
    rank, time, valid = points
    low, high = np.zeros(len(samples), np.int64), samples.copy()
    for place in range(len(PERCENTS)):
        gap = np.zeros(len(samples), np.int64)
        if place + 1 < len(PERCENTS):
            between = np.maximum(rank[:, place + 1] - rank[:, place], 1)
            gap = -((time[:, place] - time[:, place + 1]) // between)
            matters = gap * 100 > time[:, place] * TRUSTED_PERCENT
            gap = np.where(valid[:, place + 1] & matters, gap, 0)
        certain = valid[:, place] & (time[:, place] + gap < LIMIT_MS)
        low = np.where(certain, rank[:, place], low)
        beyond = valid[:, place] & (time[:, place] - gap >= LIMIT_MS)
        high = np.where(beyond, np.minimum(high, rank[:, place] - 1), high)
    return low, high


@lru_cache(maxsize=50_000)
def _quantiles(samples: int) -> tuple[float, ...]:
    """Returns the normal quantiles of the four ranks.

    From above: with very many calls the share below the last one would round to 1.
    """
    inverse = NormalDist().inv_cdf
    above = ((samples - -(-samples * percent // 100) + 0.5) / samples for percent in PERCENTS)
    return tuple(-inverse(share) for share in above)


def _normal(z: _Floats) -> _Floats:
    """Returns the normal distribution, to 1e-7; never less for a larger number."""
    at = np.minimum(np.maximum(z, -_FAR), _FAR)
    at += _FAR
    at *= _PARTS
    whole = at.astype(np.int64)
    at -= whole
    values, steps = _normal_table()
    at *= steps[whole]
    at += values[whole]
    return at


@lru_cache
def _normal_table() -> tuple[_Floats, _Floats]:
    """Returns its values from -`_FAR` on, and how much each is below the next."""
    edges = range(-_FAR * _PARTS, _FAR * _PARTS + 2)
    values = np.array([erfc(-edge / _PARTS / sqrt(2)) / 2 for edge in edges])
    return values, np.diff(values)


def _log(times: Array) -> _Floats:
    found: _Floats = np.log(np.maximum(times.astype(np.float64), 0.5))
    return found


_LOG_FIRST: Final = _log(first_of(np.arange(PLACES + 1)))
