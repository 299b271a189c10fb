"""Addition of cells: one way for every sum and every question."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

import numpy as np

from mudra.metrics.sums.block_times import times_of
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
_DENSE: Final = 32
_DENSEST: Final = 2**22
"""Rises are sorted where an array of all places would have more places, or more for each rise."""


def added(parts: Sequence[Cells], by: Sequence[str] = KEYS, *, times: bool = True) -> Cells:
    """Returns the sums of all parts by these keys, in any order the same.

    Single blocks count as sums of one block. Without `times`, or where a part has none, the sums
    have no response times but the longest.
    """
    times = times and all(part.rises is not None or part.points is not None for part in parts)
    sums = [part for part in _as_sums(parts, times=times) if len(part)]
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
        _added_rises(sums, _group_of(order, first), len(first)) if times else None,
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
    sums = _summed(blocks, times=times)
    rises = _added_rises([sums], np.arange(len(sums)), len(sums)) if times else None
    return Cells(sums.keys, sums.sums, sums.longest, None, rises)


def _summed(blocks: Cells, *, times: bool) -> Cells:
    """Returns the same; the rises of a row are in no order, not yet added up."""
    assert blocks.points is not None, "the sums of sums are made by `added`"
    answered = blocks.answered()
    has = np.flatnonzero((answered > 0) & IS_REQUEST[blocks.keys["type"]])
    longest = np.zeros(len(blocks), np.int64)
    longest[has] = blocks.longest[has]
    if not times:  # of the others all calls are sooner
        has = has[longest[has] >= LIMIT_MS]
    points = np.stack([blocks.points[name][has] for name in POINTS], 1)
    found = times_of(answered[has], points)
    sums = {"blocks": np.ones(len(blocks), np.int64), **blocks.sums}
    for name, column in zip(LATE, found.late.T, strict=True):
        if column.any():
            sums[name] = np.zeros(len(blocks), np.int64)
            sums[name][has] = column
    width = np.zeros(len(blocks), np.int64)
    width[has] = found.width
    rises = Rises(width, found.place, found.calls) if times else None
    return Cells(blocks.keys, sums, longest, None, rises)


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


def _as_sums(parts: Sequence[Cells], *, times: bool) -> Sequence[Cells]:
    blocks = [part for part in parts if part.points is not None]
    if not blocks:
        return parts
    sums = [part for part in parts if part.points is None]
    return [_summed(joined(blocks), times=times), *sums]


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


def _added_rises(parts: Sequence[Cells], group: Array, rows: int) -> Rises:
    """Adds up the calls of the same group and place, of parts whose rows follow each other."""
    before = accumulate(map(len, parts), initial=0)
    rises = [
        (group[start : start + len(part)], part.rises)
        for part, start in zip(parts, before, strict=False)
        if part.rises is not None and len(part.rises.place)
    ]
    if not rises:
        return empty_rises(rows)
    low = min(int(one.place.min()) for _, one in rises)
    places = max(int(one.place.max()) for _, one in rises) - low + 1
    number = sum(len(one.place) for _, one in rises)
    keys = (np.repeat(mine * places - low, one.width) + one.place for mine, one in rises)
    every = [one.calls for _, one in rises]
    if rows * places <= min(_DENSE * number, _DENSEST) and _fit(every):
        total = np.zeros(rows * places, np.int64)
        for key, calls in zip(keys, every, strict=True):
            np.add.at(total, key, calls)
        held = total != 0
        found = np.flatnonzero(held)  # of flags: faster than of numbers
        return Rises(held.reshape(rows, places).sum(1), found % places + low, total[found])
    key = _one([*keys])
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = _firsts(key)
    row, place = np.divmod(key[first], places)
    return Rises(np.bincount(row, minlength=rows), place + low, _added(every, order, first))


def _one(columns: Sequence[Array]) -> Array:
    return np.concatenate(columns) if len(columns) > 1 else columns[0]
