"""Addition of cells: one way for every sum and every question."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import numpy as np

from mudra.metrics.sums.block_times import LIMIT_MS, times_of
from mudra.metrics.sums.cells import (
    ALL_TYPES,
    KEYS,
    LATE,
    POINTS,
    REQUESTS,
    SUMS,
    Array,
    Cells,
    Rises,
    empty,
    wide,
)

_SAFE: Final = 2**62
_DENSE: Final = 32
"""Rises are sorted where an array of all places would have more of these for each."""


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
    names = [name for name in SUMS if any(name in part.sums for part in sums)]
    return Cells(
        {name: apart[name] if name in apart else _together(name, len(first)) for name in KEYS},
        {name: _added([part.of(name) for part in sums], order, first) for name in names},
        np.maximum.reduceat(_one([part.longest for part in sums])[order], first),
        None,
        _added_rises(sums, order, first) if times else None,
    )


def summed_blocks(blocks: Cells, *, times: bool = True) -> Cells:
    """Returns single blocks as sums of one block each: their points become estimated times.

    Without `times`, the sums have no response times but the longest: a tenth of the cost.
    """
    sums = _summed(blocks, times=times)
    rises = None if sums.rises is None else _sorted_rises(*sums.rises)
    return Cells(sums.keys, sums.sums, sums.longest, None, rises)


def _summed(blocks: Cells, *, times: bool) -> Cells:
    """Returns the same with rises in no order, not yet added up."""
    assert blocks.points is not None, "the sums of sums are made by `added`"
    answered = blocks.answered()
    has = np.flatnonzero((answered > 0) & (blocks.keys["type"] < REQUESTS))
    longest = np.zeros(len(blocks), np.int64)
    longest[has] = blocks.longest[has]
    if not times:  # of the others all calls are sooner
        has = has[longest[has] >= LIMIT_MS]
    points = np.stack([blocks.points[name][has] for name in POINTS], 1)
    row, place, calls, late = times_of(answered[has], points)
    sums = {"blocks": np.ones(len(blocks), np.int64), **blocks.sums}
    for name, column in zip(LATE, late.T, strict=True):
        if column.any():
            sums[name] = np.zeros(len(blocks), np.int64)
            sums[name][has] = column
    rises = Rises(has[row], place, calls) if times else None
    return Cells(blocks.keys, sums, longest, None, rises)


def joined(parts: Sequence[Cells]) -> Cells:
    """Returns the single blocks of several reports one below the other; of at least one report."""
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
    before = accumulate(map(len, parts), initial=0)
    rows = [one.row + shift for one, shift in zip(rises, before, strict=False)]
    return Rises(_one(rows), _one([one.place for one in rises]), _one([one.calls for one in rises]))


def _as_sums(parts: Sequence[Cells], *, times: bool) -> Sequence[Cells]:
    blocks = [part for part in parts if part.points is not None]
    if not blocks:
        return parts
    sums = [part for part in parts if part.points is None]
    return [_summed(joined(blocks), times=times), *sums]


def _together(name: str, rows: int) -> Array:
    return np.full(rows, ALL_TYPES if name == "type" else 0, np.int64)


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
    if column.dtype == object or not column.size:
        return column
    if int(column.max()) * column.size <= _SAFE or sum(column.tolist()) <= _SAFE:
        return column
    return wide(column)


def _added_rises(parts: Sequence[Cells], order: Array, first: Array) -> Rises | None:
    rises = _below_rises(parts)
    if rises is None:
        return None
    begins = np.zeros(len(order), np.int64)
    begins[first[1:]] = 1
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(begins)
    return _sorted_rises(group[rises.row], rises.place, rises.calls)


def _sorted_rises(row: Array, place: Array, calls: Array) -> Rises:
    """Adds up the calls of the same row and place."""
    if not len(row):
        return Rises(row, place, calls)
    low = int(place.min())
    width = int(place.max()) - low + 1
    key = row * width + (place - low)
    size = (int(row.max()) + 1) * width
    calls = _exact(calls)
    if size <= _DENSE * len(key) and calls.dtype != object:
        total = np.zeros(size, np.int64)
        np.add.at(total, key, calls)
        key = np.flatnonzero(total)
        calls = total[key]
    else:
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = _firsts(key)
        key, calls = key[first], _added([calls], order, first)
    row, place = np.divmod(key, width)
    return Rises(row, place + low, calls)


def _one(columns: Sequence[Array]) -> Array:
    return np.concatenate(columns) if len(columns) > 1 else columns[0]
