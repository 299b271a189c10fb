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

from collections.abc import Iterator
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
_TOGETHER: Final = 2**14
"""Times that are estimated together: they fit into a processor's cache."""

_Floats = NDArray[np.float64]


class Placed(NamedTuple):
    """Some `calls` of the block `row` in the cell of time `place`; a block has many, in no order.

    Two of them may be in the same cell.
    """

    row: Array
    place: Array
    calls: Array


class BlockTimes(NamedTuple):
    """The times of blocks."""

    ranked: Placed
    """The calls of the four ranks."""
    others: "_Stretch"
    late: Array
    """Calls of each block that took `LIMIT_MS` or longer: certainly, possibly, by estimate."""

    def placed(self) -> Iterator[Placed]:
        """Yields where all calls are, some of them at a time."""
        if len(self.ranked.row):
            yield self.ranked
            yield from self.others.placed()


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
    """Returns the times of these blocks; each has answered calls, and four points in a column."""
    reported = _points(samples, pxx)
    points = _exact(reported, samples, pxx)
    row = np.flatnonzero(points.valid) % max(len(samples), 1)
    ranked = Placed(row, cell_of(points.time[points.valid]), np.ones(len(row), np.int64))
    others = _stretches(samples, points)
    late = np.zeros((3, len(samples)), np.int64)
    some = np.flatnonzero(pxx[3] >= LIMIT_MS)  # of the others all calls are sooner
    if len(some):
        of_late = others.chosen(np.flatnonzero(pxx[3].take(others.row) >= LIMIT_MS))
        soon = _soon(points, of_late, np.full(len(samples), LIMIT_MS))
        low, high = _soon_bounds(samples[some], _Points._make(one[:, some] for one in reported))
        late[:, some] = samples[some] - np.stack([high, low, soon[some]])
    return BlockTimes(ranked, others, late)


def calls_from(samples: Array, pxx: Array, limit: Array) -> Array:
    """Returns how many calls of each block took its limit in ms or longer, by the estimate."""
    points = _exact(_points(samples, pxx), samples, pxx)
    return samples - _soon(points, _stretches(samples, points), limit)


class _Points(NamedTuple):
    """Ranks and times of the four points, a row for each; equal ranks count once, as the first."""

    rank: Array
    time: Array
    valid: Flags


def _points(samples: Array, pxx: Array) -> _Points:
    rank: Array = -(-samples * np.array(PERCENTS)[:, None] // 100)
    time = np.where(rank == samples, pxx[3], pxx)
    return _Points(rank, time, np.diff(rank, axis=0, prepend=0) > 0)


def _exact(reported: _Points, samples: Array, pxx: Array) -> _Points:
    """Returns the points with the call that took p50 in place of what was interpolated."""
    time = reported.time.copy()
    time[0] = _median_call(samples, time[0], pxx)
    return reported._replace(time=time)


def _median_call(samples: Array, p50: Array, pxx: Array) -> Array:
    """Returns the time of the call of rank ceil(n / 2), also where p50 was interpolated.

    With fewer than 20 calls the p95 of a nearest rank is the longest, with fewer than 100 the p99.
    Where it is clearly less the agent interpolates, and of an even number of calls p50 is the
    middle between two of them.
    """
    found = p50.copy()
    few = (samples > 1) & (samples < _EXACT_P99) & (samples % 2 == 0)
    p95, p99, p100 = pxx[1:]
    longest = np.where(samples < _EXACT_P95, p95, p99)
    # In floating-point numbers: times below 2^53 would overflow.
    on = np.flatnonzero(few & (longest * 1.0 < p100 * _INTERPOLATED))
    if len(on):
        half = np.array([_half_step(one) for one in samples[on].tolist()])
        spread = (_log(p100[on]) - _log(p50[on])) / half[:, 1]
        share = samples[on] / (samples[on] + _USUAL_COUNTS)
        step = (share * spread + (1.0 - share) * _USUAL_SPREAD) * half[:, 0]
        sooner = np.where(samples[on] == 2, 2 * p50[on] - p100[on], p50[on] * np.exp(-step))  # noqa: PLR2004  # two samples
        found[on] = np.maximum(np.rint(sooner), np.minimum(p50[on], 1))
    return found


@lru_cache(maxsize=128)
def _half_step(samples: int) -> tuple[float, float]:
    """Returns half the way between the middle two calls, and that to the last, as quantiles."""
    inverse = NormalDist().inv_cdf
    return inverse(0.5 + 0.5 / samples), inverse(1.0 - 0.5 / samples)


class _Stretch(NamedTuple):
    """Calls strictly between two ranks, along a normal curve from `start` to `end` ms."""

    row: Array
    """The block of each."""
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

    def chosen(self, some: Array | slice) -> "_Stretch":
        """Returns some of them."""
        return _Stretch._make(column[some] for column in self)

    def soon(self, limit: Array) -> Array:
        """Returns how many of its calls are estimated to be below these limits, one for each."""
        found = np.where(self.end < limit, self.calls, 0)
        some = np.flatnonzero((self.start < limit) & (self.end >= limit))
        found[some] = self.chosen(some).before(_log(limit[some, None]))[:, 0]
        return found

    def placed(self) -> Iterator[Placed]:
        """Yields where its calls are: those of as many cells together, a row for each."""
        width = self.last - self.first + 1
        order = np.argsort(width.astype(np.int16), kind="stable")  # of 16 bits, by counting
        wide = self.chosen(order)
        number = np.bincount(width)
        ends = np.cumsum(number)
        for cells in np.flatnonzero(number).tolist():
            step = max(_TOGETHER // cells, 1)
            for start in range(ends[cells] - number[cells], ends[cells], step):
                yield wide.chosen(slice(start, min(start + step, ends[cells]))).in_cells(cells)

    def in_cells(self, cells: int) -> Placed:
        """Returns where its calls are, each in so many cells."""
        place = self.first[:, None] + np.arange(cells)
        until = self.before(_LOG_END.take(place))
        until[:, -1] = self.calls
        calls = until.copy()
        calls[:, 1:] -= until[:, :-1]
        held = np.flatnonzero(calls != 0)  # of flags: faster than of numbers
        return Placed(self.row.take(held // cells), place.take(held), calls.take(held))

    def before(self, logarithm: _Floats) -> Array:
        """Returns how many of its calls are before these logarithms of a time, a row for each."""
        found = logarithm * self.slope[:, None]
        found += self.intercept[:, None]
        _to_normal(found)
        found *= self.samples[:, None]
        found -= (self.passed - 0.5)[:, None]
        np.maximum(found, 0, out=found)
        np.minimum(found, self.calls[:, None], out=found)
        return found.astype(np.int64)


def _stretches(samples: Array, points: _Points) -> _Stretch:
    """Returns the stretches with calls: below the first point, and between points."""
    rank, time, log = points.rank, points.time, _log(points.time)
    quantile = _quantiles(samples)
    width = np.diff(log, axis=0)
    slope, intercept = np.zeros_like(log), np.empty_like(log)
    # times beyond 2^53 may differ by less than a floating-point number shows
    np.divide(np.diff(quantile, axis=0), width, out=slope[1:], where=width > 0)
    intercept[1:] = quantile[:-1] - slope[1:] * log[:-1]
    # Of few calls p50 and the longest say little of their spread: a usual one counts too.
    is_steep = slope[1] > 0
    own = np.divide(1.0, slope[1], out=np.zeros(len(samples)), where=is_steep)
    share = samples / (samples + _USUAL_COUNTS)
    steep = 1.0 / (share * own + (1.0 - share) * _USUAL_SPREAD)
    slope[0] = np.where(is_steep, steep, 0.0)
    intercept[0] = np.where(is_steep, quantile[0] - steep * log[0], _FLAT)
    begin = np.concatenate((time[:1] // _BELOW_P50, time))
    cell, passed = cell_of(begin), np.concatenate((np.zeros_like(rank[:1]), rank))
    calls = rank - passed[:-1] - 1
    on = np.flatnonzero(calls > 0)
    row = on % max(len(samples), 1)
    columns = (passed[:-1], calls, begin[:-1], time, cell[:-1], cell[1:], intercept, slope)
    return _Stretch._make([row, samples.take(row), *(column.take(on) for column in columns)])


def _soon(points: _Points, others: _Stretch, limit: Array) -> Array:
    """Returns how many calls of each block ended before its limit, by the estimate."""
    soon = others.soon(limit.take(others.row))
    of_others = np.bincount(others.row, soon, len(limit)).astype(np.int64)
    found: Array = (points.valid & (points.time < limit)).sum(0) + of_others
    return found


def _soon_bounds(samples: Array, points: _Points) -> tuple[Array, Array]:
    """Returns how many calls ended before the limit at least, and at most."""
    rank, time, valid = points
    low, high = np.zeros(len(samples), np.int64), samples.copy()
    for place in range(len(PERCENTS)):
        gap = np.zeros(len(samples), np.int64)
        if place + 1 < len(PERCENTS):
            between = np.maximum(rank[place + 1] - rank[place], 1)
            gap = -((time[place] - time[place + 1]) // between)
            matters = gap * 100 > time[place] * TRUSTED_PERCENT
            gap = np.where(valid[place + 1] & matters, gap, 0)
        certain = valid[place] & (time[place] + gap < LIMIT_MS)
        low = np.where(certain, rank[place], low)
        beyond = valid[place] & (time[place] - gap >= LIMIT_MS)
        high = np.where(beyond, np.minimum(high, rank[place] - 1), high)
    return low, high


def _quantiles(samples: Array) -> _Floats:
    """Returns the normal quantiles of the four ranks, a row for each."""
    known, which = np.unique(samples, return_inverse=True)
    found = np.array([_quantiles_of(one) for one in known.tolist()]).reshape(-1, len(PERCENTS))
    return found.T.take(which, 1)


@lru_cache(maxsize=50_000)
def _quantiles_of(samples: int) -> tuple[float, ...]:
    """Returns the normal quantiles of the four ranks.

    From above: with very many calls the share below the last one would round to 1.
    """
    inverse = NormalDist().inv_cdf
    above = ((samples - -(-samples * percent // 100) + 0.5) / samples for percent in PERCENTS)
    return tuple(-inverse(share) for share in above)


def _to_normal(z: _Floats) -> None:
    """Makes of numbers their normal distribution, to 1e-7; never less for a larger number."""
    np.maximum(z, -_FAR, out=z)
    np.minimum(z, _FAR, out=z)
    z += _FAR
    z *= _PARTS
    whole = np.floor(z)
    z -= whole
    place = whole.astype(np.int64)
    values, steps = _normal_table()
    z *= steps.take(place)
    z += values.take(place)


@lru_cache
def _normal_table() -> tuple[_Floats, _Floats]:
    """Returns its values from -`_FAR` on, and how much each is below the next."""
    edges = range(-_FAR * _PARTS, _FAR * _PARTS + 2)
    values = np.array([erfc(-edge / _PARTS / sqrt(2)) / 2 for edge in edges])
    return values, np.diff(values)


def _log(times: Array) -> _Floats:
    found: _Floats = np.log(np.maximum(times.astype(np.float64), 0.5))
    return found


_LOG_END: Final = _log(first_of(np.arange(1, PLACES + 1)))
"""The logarithm of the end of each cell."""
