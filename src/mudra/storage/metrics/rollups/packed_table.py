"""The sums of many FIPs as arrays, which are added up and read without a loop over cells.

The estimated times of all FIPs follow each other without gaps, as in `Dense`; the two step
functions of certain bounds rise at few cells, and are stored at those alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from mudra.metrics.payload.catalogue import COUNTS, STATUSES
from mudra.metrics.rollup.latency_distribution import LatencyDistribution, dense
from mudra.metrics.rollup.rollup import Rollup

_Array = NDArray[Any]
"""Of 64 bits; of Python's integers where sums might not fit."""
_LARGEST: Final = 2**63 - 1
_SAFE: Final = 2**62
_NO_CELL: Final = 2**31
_STATUSES_AT: Final = 1 + COUNTS
_ZERO_AT: Final = _STATUSES_AT + STATUSES
_SUMMED: Final = _ZERO_AT + 1
"""Columns of `numbers`: blocks, counts, statuses, and the rise of `upper` in a cell 0 apart."""


class Table(Struct, frozen=True):
    """One row for each FIP. Row i has the cells from `first[i]` on, `width[i]` of them."""

    fip_ids: Sequence[str]
    data_bytes: Sequence[int]
    numbers: _Array
    longest: _Array
    first: _Array
    width: _Array
    lower: _Array
    upper: _Array
    estimate: _Array

    @property
    def starts(self) -> _Array:
        """Return where the cells of each row begin in those of all."""
        return np.cumsum(self.width) - self.width


class _Stored(Struct, frozen=True, array_like=True):
    """A table; arrays in the fewest bytes, each after the size of its items."""

    fip_ids: list[str]
    data_bytes: list[str]
    numbers: tuple[int, bytes]
    longest: tuple[int, bytes]
    first: tuple[int, bytes]
    width: tuple[int, bytes]
    estimate: tuple[int, bytes]
    lower_at: tuple[int, bytes]
    lower: tuple[int, bytes]
    upper_at: tuple[int, bytes]
    upper: tuple[int, bytes]


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(_Stored).decode


def table_of(sums: Mapping[str, Rollup]) -> Table:
    """Returns coarse roll-ups as a table."""
    times = [dense(one.times) for one in sums.values()]
    numbers = [
        (one.blocks, *one.counts, *one.statuses, held.from_zero)
        for one, held in zip(sums.values(), times, strict=True)
    ]
    return Table(
        [*sums],
        [one.data_bytes for one in sums.values()],
        whole_numbers([n for row in numbers for n in row]).reshape(len(times), _SUMMED),
        whole_numbers([one.times.longest for one in sums.values()]),
        whole_numbers([held.first for held in times]),
        whole_numbers([len(held.lower) for held in times]),
        whole_numbers([n for held in times for n in held.lower]),
        whole_numbers([n for held in times for n in held.upper]),
        whole_numbers([n for held in times for n in held.estimate]),
    )


def write(table: Table) -> bytes:
    """Returns a table as one value."""
    lower_at, upper_at = np.flatnonzero(table.lower), np.flatnonzero(table.upper)
    return _encode(
        _Stored(
            [*table.fip_ids],
            [str(size) for size in table.data_bytes],
            narrow(table.numbers),
            narrow(table.longest),
            narrow(table.first),
            narrow(table.width),
            narrow(table.estimate),
            narrow(lower_at),
            narrow(table.lower[lower_at]),
            narrow(upper_at),
            narrow(table.upper[upper_at]),
        )
    )


def read(packed: bytes, fip_id: str | None = None) -> Table:
    """Returns what `write` wrote, or its row of one FIP."""
    stored = _decode(packed)
    estimate = wide(stored.estimate)
    lower, upper = np.zeros((2, len(estimate)), np.int64)
    lower[wide(stored.lower_at)] = wide(stored.lower)
    upper[wide(stored.upper_at)] = wide(stored.upper)
    table = Table(
        stored.fip_ids,
        [*map(int, stored.data_bytes)],
        wide(stored.numbers).reshape(len(stored.fip_ids), _SUMMED),
        wide(stored.longest),
        wide(stored.first),
        wide(stored.width),
        lower,
        upper,
        estimate,
    )
    return table if fip_id is None else _row_of(table, fip_id)


def added(tables: Iterable[Table], *, together: bool = False) -> Table:
    """Returns the sum of tables, by FIP or, with `together`, of all FIPs as one without a name."""
    parts = [one for one in tables if one.fip_ids]
    names = (
        [""] * bool(parts) if together else [*dict.fromkeys(n for p in parts for n in p.fip_ids)]
    )
    place = {name: at for at, name in enumerate(names)}
    rows = [
        np.zeros(len(one.fip_ids), np.int64)
        if together
        else np.array([place[name] for name in one.fip_ids], np.int64)
        for one in parts
    ]
    kind = _kind(parts, together=together)
    first, width = _layout(parts, rows, len(names))
    starts, cells = np.cumsum(width) - width, int(width.sum())
    sizes = [0] * len(names)
    numbers = np.zeros((len(names), _SUMMED), kind)
    longest = np.zeros(len(names), np.int64)
    lower, upper, estimate = (np.zeros(cells, kind) for _ in range(3))
    for one, at in zip(parts, rows, strict=True):
        for row, size in zip(at.tolist(), one.data_bytes, strict=True):
            sizes[row] += size
        np.add.at(numbers, at, one.numbers)
        np.maximum.at(longest, at, one.longest)
        shift = starts[at] + one.first - first[at] - one.starts
        index = np.arange(len(one.estimate)) + np.repeat(shift, one.width)
        np.add.at(estimate, index, one.estimate)
        for rises, more in ((lower, one.lower), (upper, one.upper)):
            few = np.flatnonzero(more)
            np.add.at(rises, index[few], more[few])
    return Table(names, sizes, numbers, longest, first, width, lower, upper, estimate)


def rollups_of(table: Table) -> dict[str, Rollup]:
    """Returns the roll-up of each FIP."""
    times = _times_of(table)
    rows = zip(table.fip_ids, table.data_bytes, table.numbers.tolist(), times, strict=True)
    return {
        fip_id: Rollup(
            numbers[0],
            tuple(numbers[1:_STATUSES_AT]),
            tuple(numbers[_STATUSES_AT:_ZERO_AT]),
            size,
            distribution,
        )
        for fip_id, size, numbers, distribution in rows
    }


def _times_of(table: Table) -> list[LatencyDistribution]:
    """Returns the distribution of each row: only the cells in which anything rises."""
    zero, starts, first = table.numbers[:, _ZERO_AT], table.starts, table.first
    upper = table.upper.copy()
    has_zero = zero != 0
    in_cell = has_zero & (table.width > 0) & (first == 0)
    upper[starts[in_cell]] += zero[in_cell]
    apart = np.flatnonzero(has_zero & ~in_cell)
    rises = (table.lower != 0) | (upper != 0) | (table.estimate != 0)
    ends = np.concatenate(([0], np.cumsum(rises)))[np.concatenate((starts, [len(rises)]))]
    cells = (np.arange(len(rises)) + np.repeat(first - starts, table.width))[rises]
    # A rise in cell 0 that is apart comes before the other cells of its row.
    before = ends[apart]
    places, lower, uppers, estimate = (
        tuple(np.insert(column, before, values).tolist())
        for column, values in (
            (cells, 0),
            (table.lower[rises], 0),
            (upper[rises], zero[apart]),
            (table.estimate[rises], 0),
        )
    )
    extra = np.zeros(len(ends), np.int64)
    extra[apart + 1] = 1
    bounds = (ends + np.cumsum(extra)).tolist()
    return [
        LatencyDistribution(
            coarse=True,
            cells=places[begin:end],
            lower=lower[begin:end],
            upper=uppers[begin:end],
            estimate=estimate[begin:end],
            longest=longest,
        )
        for (begin, end), longest in zip(pairwise(bounds), table.longest.tolist(), strict=True)
    ]


def _row_of(table: Table, fip_id: str) -> Table:
    rows = [place for place, name in enumerate(table.fip_ids) if name == fip_id]
    starts = table.starts
    cells = [np.arange(starts[row], starts[row] + table.width[row]) for row in rows]
    held = np.concatenate(cells) if cells else np.zeros(0, np.int64)
    return Table(
        [fip_id for _ in rows],
        [table.data_bytes[row] for row in rows],
        table.numbers[rows],
        table.longest[rows],
        table.first[rows],
        table.width[rows],
        table.lower[held],
        table.upper[held],
        table.estimate[held],
    )


def _layout(parts: Sequence[Table], rows: Sequence[_Array], number: int) -> tuple[_Array, _Array]:
    """Returns the first cell and the width of each row of a sum."""
    first = np.full(number, _NO_CELL, np.int64)
    end = np.zeros(number, np.int64)
    for one, at in zip(parts, rows, strict=True):
        wide = one.width > 0
        np.minimum.at(first, at[wide], one.first[wide])
        np.maximum.at(end, at[wide], (one.first + one.width)[wide])
    first[end == 0] = 0
    return first, end - first


def _kind(parts: Sequence[Table], *, together: bool) -> type[np.int64] | type[object]:
    """Returns what sums of these fit into."""
    largest = 0
    for part in parts:
        arrays = (part.numbers, part.lower, part.upper, part.estimate)
        most = max(int(one.max()) for one in arrays if one.size)
        largest += most * (len(part.fip_ids) if together else 1)
    return np.int64 if largest <= _SAFE else object


def whole_numbers(values: Sequence[int]) -> _Array:
    """Returns numbers of 64 bits, or Python's integers where a sum of them might not fit."""
    return np.array(values, np.int64 if max(values, default=0) <= _SAFE else object)


def narrow(values: _Array) -> tuple[int, bytes]:
    """Returns the bytes of numbers; none is larger than a column of sums may hold."""
    largest = int(values.max()) if values.size else 0
    if largest > _LARGEST:
        values = np.minimum(values, _LARGEST)
    size = next(size for size in (1, 2, 4, 8) if largest < 1 << 8 * size or size == 8)  # noqa: PLR2004
    return size, values.astype(f"<u{size}").tobytes()


def wide(stored: tuple[int, bytes]) -> _Array:
    """Returns the numbers of which `narrow` made bytes."""
    size, held = stored
    return np.frombuffer(held, f"<u{size}").astype(np.int64)
