"""Addition of cells: one way for every sum and every question."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import Final

import numpy as np

from mudra.metrics.sums.block_times import Placed, times_of
from mudra.metrics.sums.cells import (
    IS_REQUEST,
    KEYS,
    LATE,
    POINTS,
    SUMS,
    Array,
    Cells,
    Rises,
    empty,
    empty_rises,
    wide,
)
from mudra.metrics.sums.rollup import LIMIT_MS

_SAFE: Final = 2**62
_MOST_PENDING: Final = 400_000
_NUMBERS_A_ROW: Final = 8
"""A row has so many times the numbers of a rise: all pending ones take about 10 MB, and three times
as much while they are added."""
_NUMBERS_A_BLOCK: Final = 32
"""The same for a block of a report, whose estimated times are not there yet: some twenty."""
_ESTIMATED: Final = 2**14
"""Blocks whose times are estimated together, in some 10 MB."""
_DENSE: Final = 32
_DENSEST: Final = 2**22
"""Rises are sorted where an array of all places would have more places, or more for each rise."""


def added(parts: Sequence[Cells], by: Sequence[str] = KEYS, *, times: bool = True) -> Cells:
    """Returns the sums of all parts by these keys, in any order the same.

    Single blocks count as sums of one block. Without `times`, or where a part has none, the sums
    have no response times but the longest.
    """
    times = times and all(part.rises is not None or part.points is not None for part in parts)
    sums, placed = _as_sums(parts, times=times)
    if not sums:
        return empty()
    rows = sum(map(len, sums))
    keys = {name: _one([part.keys[name] for part in sums]) for name in by}
    order, first = _groups(keys, rows)
    apart = {name: column[order[first]] for name, column in keys.items()}
    kept = {name: apart[name] if name in apart else np.zeros(len(first), np.int64) for name in KEYS}
    if len(first) == rows and all(part.points is None for part in parts):  # nothing to add
        alone = stacked([part if times else part.without_times() for part in sums])
        return replace(alone.chosen(order), keys=kept)
    names = [name for name in SUMS if any(name in part.sums for part in sums)]
    return Cells(
        kept,
        {name: _added([part.of(name) for part in sums], order, first) for name in names},
        np.maximum.reduceat(_one([part.longest for part in sums])[order], first),
        None,
        _added_rises(sums, placed, _group_of(order, first), len(first)) if times else None,
    )


class RunningSum:
    """The sum of many parts, of which few are in memory at a time: `added` of all, in any order."""

    def __init__(self, by: Sequence[str] = KEYS, *, times: bool = True) -> None:
        self._by, self._times = by, times
        self._sums: dict[int, Cells] = {}
        self._new = defaultdict[int, list[Cells]](list)
        self._pending = 0

    def add(self, part: Cells, bucket: int = 0) -> None:
        """Adds a part: some bucket of some time.

        Where FIPs are kept apart, each bucket is added up alone: parts that come in the order of
        their buckets are added to few rows, not to all that there are.
        """
        self._new[bucket if "fip" in self._by else 0].append(part)
        self._pending += _numbers(part)
        kept = sum(_numbers(self._sums[one]) for one in self._new if one in self._sums)
        if self._pending > max(_MOST_PENDING, kept):
            self._take()

    def total(self) -> Cells:
        """Returns the sum of all parts so far."""
        self._take()
        sums = [*self._sums.values()]
        return sums[0] if len(sums) == 1 else added(sums, self._by, times=self._times)

    def _take(self) -> None:
        """Adds the parts that are not added yet to the sums of their buckets."""
        for bucket, parts in self._new.items():
            before = [self._sums[bucket]] if bucket in self._sums else []
            self._sums[bucket] = added([*before, *parts], self._by, times=self._times)
        self._new.clear()
        self._pending = 0


def _numbers(part: Cells) -> int:
    if part.points is not None:
        return len(part) * _NUMBERS_A_BLOCK
    return len(part) * _NUMBERS_A_ROW + (0 if part.rises is None else len(part.rises.place))


def summed_blocks(blocks: Cells, *, times: bool = True) -> Cells:
    """Returns single blocks as sums of one block each: their points become estimated times.

    Without `times`, the sums have no response times but the longest: a tenth of the cost.
    """
    sums, placed = _summed(blocks, times=times)
    rises = _added_rises([sums], placed, np.arange(len(sums)), len(sums)) if times else None
    return replace(sums, rises=rises)


def _summed(blocks: Cells, *, times: bool) -> tuple[Cells, Sequence[Placed]]:
    """Returns the same, and where their calls are, not yet added up."""
    assert blocks.points is not None, "the sums of sums are made by `added`"
    answered = blocks.answered()
    has = np.flatnonzero((answered > 0) & IS_REQUEST[blocks.keys["type"]])
    longest = np.zeros(len(blocks), np.int64)
    longest[has] = blocks.longest[has]
    if not times:  # of the others all calls are sooner
        has = has[longest[has] >= LIMIT_MS]
    late = np.zeros((len(LATE), len(blocks)), np.int64)
    placed: list[Placed] = []
    for start in range(0, len(has), _ESTIMATED):
        some = has[start : start + _ESTIMATED]
        found = times_of(answered[some], np.stack([blocks.points[name][some] for name in POINTS]))
        late[:, some] = found.late
        if times:
            placed += [one._replace(row=some.take(one.row)) for one in found.placed()]
    sums = {"blocks": np.ones(len(blocks), np.int64), **blocks.sums}
    sums |= {name: column for name, column in zip(LATE, late, strict=True) if column.any()}
    return Cells(blocks.keys, sums, longest, None, None), placed


def joined(parts: Sequence[Cells]) -> Cells:
    """Returns the single blocks of several reports one below the other; of none, no cells."""
    if not parts:
        return empty()
    assert all(part.points is not None for part in parts)
    points = [part.points for part in parts if part.points is not None]
    together = _below(parts)
    return Cells(
        together.keys,
        together.sums,
        together.longest,
        {name: _one([one[name] for one in points]) for name in POINTS},
        None,
    )


def stacked(parts: Sequence[Cells]) -> Cells:
    """Returns sums of which no two have a cell in common, one below the other."""
    assert all(part.points is None for part in parts)
    return _below(parts) if parts else empty()


def _below(parts: Sequence[Cells]) -> Cells:
    names = [name for name in SUMS if any(name in part.sums for part in parts)]
    return Cells(
        {name: _one([part.keys[name] for part in parts]) for name in KEYS},
        {name: _one([part.of(name) for part in parts]) for name in names},
        _one([part.longest for part in parts]),
        None,
        _below_rises(parts),
    )


def _below_rises(parts: Sequence[Cells]) -> Rises | None:
    rises = [part.rises for part in parts if part.rises is not None]
    if len(rises) < len(parts):
        return None
    return Rises(*(_one(columns) for columns in zip(*rises, strict=True)))


def _as_sums(parts: Sequence[Cells], *, times: bool) -> tuple[Sequence[Cells], Sequence[Placed]]:
    """Returns parts that are sums, the single blocks as the first, and where their calls are."""
    blocks = [part for part in parts if part.points is not None and len(part)]
    sums = [part for part in parts if part.points is None and len(part)]
    if not blocks:
        return sums, []
    of_blocks, placed = _summed(joined(blocks), times=times)
    return [of_blocks, *sums], placed


def _groups(keys: dict[str, Array], rows: int) -> tuple[Array, Array]:
    """Returns an order in which equal keys are adjacent, and where each of them begins in it."""
    code = np.zeros(rows, np.int64)
    for column in keys.values():
        low, high = int(column.min()), int(column.max())
        code = code * (high - low + 1) + (column - low)
    order = np.argsort(code, kind="stable")
    return order, _firsts(code[order])


def _firsts(key: Array) -> Array:
    """Returns where each run of equal numbers begins."""
    return np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))


def _added(columns: Sequence[Array], order: Array, first: Array) -> Array:
    column = _exact(_one(columns))
    found: Array = np.add.reduceat(column[order], first)
    return found


def _exact(column: Array) -> Array:
    """Returns a column any sum of which is exact."""
    return column if column.dtype == object or _fit([column]) else wide(column)


def _fit(columns: Sequence[Array]) -> bool:
    """Returns whether the sum of all numbers fits into 64 bits."""
    if any(column.dtype == object for column in columns):
        return False
    if sum(int(column.max(initial=0)) * column.size for column in columns) <= _SAFE:
        return True
    return sum(sum(column.tolist()) for column in columns) <= _SAFE


def _group_of(order: Array, first: Array) -> Array:
    """Returns the group of each row, from the order and the first of each group in it."""
    begins = np.zeros(len(order), np.int64)
    begins[first[1:]] = 1
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(begins)
    return group


def _added_rises(
    parts: Sequence[Cells], placed: Sequence[Placed], group: Array, rows: int
) -> Rises:
    """Adds up the calls of the same group and place, of parts whose rows follow each other.

    `placed` are those of the first part.
    """
    starts = accumulate(map(len, parts), initial=0)
    rises = [
        (start, one.rises)
        for start, one in zip(starts, parts, strict=False)
        if one.rises is not None and len(one.rises.place)
    ]
    every = [*(one.place for one in placed), *(one.place for _, one in rises)]
    calls = [*(one.calls for one in placed), *(one.calls for _, one in rises)]
    if not every:
        return empty_rises(rows)
    low = min(int(one.min()) for one in every)
    places = max(int(one.max()) for one in every) - low + 1
    number = sum(map(len, every))
    base = group * places - low
    begins = chain(
        (base.take(one.row) for one in placed),
        (np.repeat(base[start : start + len(one.width)], one.width) for start, one in rises),
    )
    keys = (begin + place for begin, place in zip(begins, every, strict=True))
    if rows * places <= min(_DENSE * number, _DENSEST) and _fit(calls):
        total = np.zeros(rows * places, np.int64)
        for key, some in zip(keys, calls, strict=True):
            np.add.at(total, key, some)
        held = total != 0
        found = np.flatnonzero(held)  # of flags: faster than of numbers
        return Rises(held.reshape(rows, places).sum(1), found % places + low, total[found])
    key = _one([*keys])
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = _firsts(key)
    row, place = np.divmod(key[first], places)
    return Rises(np.bincount(row, minlength=rows), place + low, _added(calls, order, first))


def _one(columns: Sequence[Array]) -> Array:
    return np.concatenate(columns) if len(columns) > 1 else columns[0]
