"""Certain bounds of response times, in a form that adds up exactly.

For every time t the number of calls of a block that took at most t lies between
two step functions, which follow from its four points (`block_times.py`). Both are
sums over blocks, hence over windows and AAs, in any order; percentiles are
never averaged.

A step function is stored as its rises, in cells. A cell is one exact
millisecond or, in roll-ups, one of the fixed cells of `coarse_cell`: exact
below 16 ms, above it at most 1/16 wide (6.25 %). In a coarse cell the lower
function rises at the cell's end and the upper one at its start, so the
bounds stay valid and grow by one cell at most.

For the estimate each call of a block has a place on a curve through its points
(`estimate`). That adds up as well, so an estimate over any range is that of one
count-weighted distribution.
"""

from collections.abc import Iterable, Sequence
from operator import add
from typing import Final, NamedTuple

from msgspec import Struct

from mudra.metrics.rollup.block_times import block_times, coarse_cell


class LatencyDistribution(Struct, frozen=True):
    """The two step functions of the times of `samples` calls.

    `cells` rise strictly. `lower[i]` calls are known to have ended within
    cell i or before, `upper[i]` more could have ended from cell i on, and
    `estimate[i]` are estimated to be in cell i; each of the three sums to
    `samples`. With `coarse` a cell is a number of `coarse_cell`, else a
    millisecond. `longest` is the longest reported, 0 without samples.
    """

    coarse: bool
    cells: tuple[int, ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    estimate: tuple[int, ...]
    longest: int

    @property
    def samples(self) -> int:
        """The number of answered calls."""
        return sum(self.lower)


NOTHING: Final = LatencyDistribution(
    coarse=False, cells=(), lower=(), upper=(), estimate=(), longest=0
)


def distribution_of_blocks(
    blocks: Iterable[tuple[int, tuple[int, int, int, int]]],
) -> LatencyDistribution:
    """Returns the distribution of many blocks by millisecond; those without answers add nothing."""
    rises = _Rises({}, {}, {})
    longest = 0
    for samples, pxx in blocks:
        if samples:
            _add_block(rises, samples, pxx)
            longest = max(longest, pxx[3])
    return _of(rises, longest, coarse=False)


def coarsen(distribution: LatencyDistribution) -> LatencyDistribution:
    """Returns the same in the fixed cells of roll-ups; a coarse sum equals the sum of coarse."""
    if distribution.coarse:
        return distribution
    rows: list[list[int]] = []
    for cell, *added in zip(
        distribution.cells,
        distribution.lower,
        distribution.upper,
        distribution.estimate,
        strict=True,
    ):
        place = coarse_cell(cell)
        if rows and rows[-1][0] == place:  # cells rise, so equal places are adjacent
            rows[-1][1:] = map(add, rows[-1][1:], added)
        else:
            rows.append([place, *added])
    return _of_rows(rows, distribution.longest, coarse=True)


def merge_distributions(distributions: Iterable[LatencyDistribution]) -> LatencyDistribution:
    """Returns the distribution of all calls together: by millisecond unless one part is coarse."""
    parts = list(distributions)
    longest = max((part.longest for part in parts), default=0)
    if any(part.coarse for part in parts):
        return _merge_coarse([coarsen(part) for part in parts], longest)
    rises = _Rises({}, {}, {})
    for part in parts:
        _add_distribution(rises, part)
    return _of(rises, longest, coarse=False)


def _merge_coarse(parts: Sequence[LatencyDistribution], longest: int) -> LatencyDistribution:
    number = max((part.cells[-1] + 1 for part in parts if part.cells), default=0)
    lower, upper, estimate = ([0] * number for _ in range(3))
    for part in parts:
        for rises, more in ((lower, part.lower), (upper, part.upper), (estimate, part.estimate)):
            for cell, calls in zip(part.cells, more, strict=True):
                rises[cell] += calls
    rows = zip(range(number), lower, upper, estimate, strict=True)
    return _of_rows([row for row in rows if row[1] or row[2] or row[3]], longest, coarse=True)


class Dense(NamedTuple):
    """A coarse distribution as rows of sums store it.

    `from_zero` is the rise of `upper` in cell 0 when nothing else is there; `first` the first
    of the other cells, and the three rises continue from there without gaps.
    """

    from_zero: int
    first: int
    lower: list[int]
    upper: list[int]
    estimate: list[int]


def dense(distribution: LatencyDistribution) -> Dense:
    """Returns a coarse distribution without gaps."""
    cells, upper = distribution.cells, distribution.upper
    begin = 0
    if cells and cells[0] == 0 and not distribution.lower[0] and not distribution.estimate[0]:
        begin = 1
    if len(cells) == begin:
        return Dense(upper[0] if begin else 0, 0, [], [], [])
    first, width = cells[begin], cells[-1] - cells[begin] + 1
    rises = ([0] * width, [0] * width, [0] * width)
    for held, added in zip(rises, (distribution.lower, upper, distribution.estimate), strict=True):
        for cell, calls in zip(cells[begin:], added[begin:], strict=True):
            held[cell - first] = calls
    return Dense(upper[0] if begin else 0, first, *rises)


def merge_dense(parts: Sequence[Dense], longest: int) -> LatencyDistribution:
    """Returns the coarse distribution of many, ten times as fast as cell by cell."""
    zero, first, lower, upper, estimate = add_dense(parts)
    rows = zip(range(first, first + len(lower)), lower, upper, estimate, strict=True)
    held = [row for row in rows if row[1] or row[2] or row[3]]
    if zero and held and held[0][0] == 0:
        held[0] = (0, held[0][1], held[0][2] + zero, held[0][3])
    elif zero:
        held.insert(0, (0, 0, zero, 0))
    return _of_rows(held, longest, coarse=True)


def add_dense(parts: Sequence[Dense]) -> Dense:
    """Returns the sum of many, which can be added again."""
    if len(parts) == 1:
        return parts[0]
    wide = [part for part in parts if part.lower]
    first = min((part.first for part in wide), default=0)
    last = max((part.first + len(part.lower) for part in wide), default=0)
    places = [(part.first - first, last - part.first - len(part.lower)) for part in wide]
    return Dense(
        sum(part.from_zero for part in parts),
        first,
        _added([part.lower for part in wide], places),
        _added([part.upper for part in wide], places),
        _added([part.estimate for part in wide], places),
    )


def _added(rises: list[list[int]], places: list[tuple[int, int]]) -> list[int]:
    padded = (
        [0] * before + rise + [0] * after
        for rise, (before, after) in zip(rises, places, strict=True)
    )
    return [*map(sum, zip(*padded, strict=True))]


class _Rises(Struct, frozen=True):
    lower: dict[int, int]
    upper: dict[int, int]
    estimate: dict[int, int]


def _add_block(rises: _Rises, samples: int, pxx: tuple[int, int, int, int]) -> None:
    times = block_times(samples, pxx)
    lower, upper, estimate = rises.lower, rises.upper, rises.estimate
    previous, held = 0, 0  # up to rank - 1 calls may be below the first point, from 0 ms on
    for point in times.points:
        upper[held] = upper.get(held, 0) + point.rank - max(previous, 1)
        lower[point.high] = lower.get(point.high, 0) + point.rank - previous
        estimate[point.time] = estimate.get(point.time, 0) + 1
        previous, held = point.rank, point.low
    upper[held] = upper.get(held, 0) + 1
    for segment in times.placed:
        segment.place(estimate)


def _add_distribution(rises: _Rises, distribution: LatencyDistribution) -> None:
    for held, added in (
        (rises.lower, distribution.lower),
        (rises.upper, distribution.upper),
        (rises.estimate, distribution.estimate),
    ):
        for cell, calls in zip(distribution.cells, added, strict=True):
            held[cell] = held.get(cell, 0) + calls


def _of(rises: _Rises, longest: int, *, coarse: bool) -> LatencyDistribution:
    lower, upper, estimate = rises.lower, rises.upper, rises.estimate
    rows = [
        (cell, lower.get(cell, 0), upper.get(cell, 0), estimate.get(cell, 0))
        for cell in sorted(lower.keys() | upper.keys() | estimate.keys())
    ]
    return _of_rows([row for row in rows if row[1] or row[2] or row[3]], longest, coarse=coarse)


def _of_rows(rows: Sequence[Sequence[int]], longest: int, *, coarse: bool) -> LatencyDistribution:
    """Returns the distribution of rows of a cell and its three rises; cells rise strictly."""
    columns = [*zip(*rows, strict=True)] or [(), (), (), ()]
    return LatencyDistribution(coarse, columns[0], columns[1], columns[2], columns[3], longest)
