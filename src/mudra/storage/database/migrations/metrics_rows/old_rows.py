"""The cells of a row of 1.0.0: raw rows, sums of hours and days, lines of held reports."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import chain
from typing import Final, NamedTuple

import msgspec
import numpy as np

from mudra.metrics.payload.catalogue import NotificationType, RequestType
from mudra.metrics.sums.block_bytes import encoded
from mudra.metrics.sums.buckets import fan_of, split
from mudra.metrics.sums.cells import (
    COUNTS,
    LARGEST,
    LATE,
    POINTS,
    STATUSES,
    Array,
    Cells,
    Names,
    Rises,
    empty_rises,
    wide,
)

_LIMIT_MS: Final = 5000
_LIMIT: Final = 147
"""The old cell that contains it: 4,864 to 5,119 ms."""
_PARTS: Final = 32
_SOON_PARTS: Final = 17
"""So many 32nds of the times of that cell are before the limit."""
_EXACT: Final = 16
"""Old cells before this one are of one millisecond, and have the same number now."""
_PLACES: Final = {
    **{("req", one.value): one.place for one in RequestType},
    **{("not", one.value): one.place for one in NotificationType},
}
_NO_POINTS: Final = (0,) * len(POINTS)
_NO_STATUS: Final = (0,) * len(STATUSES)


class RawRow(NamedTuple):
    """A block of a report: a row of `metrics_raw` or `metrics_previous`, or a held line."""

    tag: str
    fip_id: str
    type: str
    counts: Sequence[int]
    pxx: Sequence[int] | None
    status: Sequence[int] | None
    data_bytes: Decimal | int | None


class SumsRow(NamedTuple):
    """A row of `metrics_hour` or `metrics_day`."""

    tag: str
    fip_id: str
    type: str
    blocks: int
    counts: Sequence[int]
    statuses: Sequence[int]
    data_bytes: Decimal
    distribution: bytes
    longest: int


class _Dense(NamedTuple):
    """Two step functions and an estimate of the times of calls, in 16 cells to each doubling.

    `from_zero` more calls may have ended from 0 ms on; the three rises begin at the cell `first`.
    """

    from_zero: int
    first: int
    lower: list[int]
    upper: list[int]
    estimate: list[int]


_dense: Final = msgspec.msgpack.Decoder(_Dense).decode
_pack: Final = msgspec.msgpack.Encoder().encode


def raw_cells(rows: Sequence[RawRow], at: int, names: Names) -> Cells:
    """Returns the blocks of the reports of one window."""
    counts = _columns(COUNTS, [row.counts for row in rows])
    statuses = _columns(STATUSES, [row.status or _NO_STATUS for row in rows])
    points = _columns(POINTS, [row.pxx or _NO_POINTS for row in rows])
    size = {"size": _numbers([int(row.data_bytes or 0) for row in rows])}
    sums = _without_zeros({**counts, **statuses, **size})
    return Cells(_keys(rows, at, names), sums, points[POINTS[-1]], points, None)


def sums_cells(rows: Sequence[SumsRow], at: int, names: Names) -> Cells:
    """Returns sums of one hour or day, with the number of late calls from their old times."""
    longest = _numbers([row.longest for row in rows])
    late, rises = _times([_dense(row.distribution) for row in rows], longest)
    sums = {
        "blocks": _numbers([row.blocks for row in rows]),
        **_columns(COUNTS, [row.counts for row in rows]),
        **_columns(STATUSES, [row.statuses for row in rows]),
        "size": _numbers([int(row.data_bytes) for row in rows]),
        **late,
    }
    return Cells(_keys(rows, at, names), _without_zeros(sums), longest, None, rises)


def held_buckets(stored: bytes) -> bytes:
    """Returns a held report as it waits now, from its lines in the text form of COPY."""
    names = Names()
    rows = [_row_of_line(line) for line in stored.decode().splitlines()]
    cells = raw_cells(rows, 0, names)
    return _pack(
        [
            (bucket, encoded(part, names.ids)[0])
            for bucket, part in split(cells, names.ids, fan_of(len(cells)))
        ]
    )


def _row_of_line(line: str) -> RawRow:
    # A valid report contains nothing that is escaped.
    _, _, tag, fip_id, code, counts, pxx, status, size = line.split("\t")
    return RawRow(
        tag, fip_id, code, _array(counts) or (), _array(pxx), _array(status),
        None if size == "\\N" else int(size),
    )  # fmt: skip


def _array(text: str) -> Sequence[int] | None:
    return None if text == "\\N" else [int(one) for one in text.strip("{}").split(",")]


def _keys(rows: Sequence[RawRow] | Sequence[SumsRow], at: int, names: Names) -> dict[str, Array]:
    zero = np.zeros(len(rows), np.int64)
    return {
        "at": zero + at,
        "aa": zero,
        "type": np.array([_PLACES[row.tag, row.type] for row in rows], np.int64),
        "fip": names.places([row.fip_id for row in rows]),
    }


def _times(stored: Sequence[_Dense], longest: Array) -> tuple[dict[str, Array], Rises]:
    widths = np.array([len(one.lower) for one in stored], np.int64)
    row = np.repeat(np.arange(len(stored)), widths)
    begins = np.cumsum(widths) - widths
    first = np.array([one.first for one in stored], np.int64)
    cell = np.arange(len(row)) - begins[row] + first[row]
    lower, upper, estimate = (
        _numbers(list(chain.from_iterable(rises)))
        for rises in (
            (one.lower for one in stored),
            (one.upper for one in stored),
            (one.estimate for one in stored),
        )
    )
    from_zero = _numbers([one.from_zero for one in stored])

    def of_rows(calls: Array) -> Array:
        return _added(row, calls, len(stored))

    answered = of_rows(lower)
    soon = of_rows(np.where(cell < _LIMIT, lower, 0))
    perhaps_soon = from_zero + of_rows(np.where(cell <= _LIMIT, upper, 0))
    parts = np.where(cell < _LIMIT, _PARTS, _SOON_PARTS) * (cell <= _LIMIT)
    soon_parts = of_rows(_exact(estimate, _PARTS) * parts)
    # The longest call is certain, whatever its cell: it is late, or none is.
    any_late = (longest >= _LIMIT_MS).astype(np.int64)
    least = np.maximum(answered - perhaps_soon, any_late) * any_late
    most = np.maximum(answered - soon, any_late) * any_late
    estimated = answered - (soon_parts + _PARTS // 2 - 1) // _PARTS
    late = (least, most, np.minimum(np.maximum(estimated, least), most))
    return dict(zip(LATE, late, strict=True)), _rises(row, cell, estimate, len(stored))


def _rises(row: Array, cell: Array, calls: Array, rows: int) -> Rises:
    """Returns the estimate in the cells of now: from 16 ms on each is two old ones."""
    held = np.flatnonzero(calls)
    row, cell, calls = row[held], cell[held], calls[held]
    if not len(row):
        return empty_rises(rows)
    place = np.where(cell < _EXACT, cell, cell // 2 + _EXACT // 2)
    new = np.concatenate(([True], (np.diff(row) != 0) | (np.diff(place) != 0)))
    begins = np.flatnonzero(new)
    added = _added(np.cumsum(new) - 1, calls, len(begins))
    return Rises(np.bincount(row[begins], minlength=rows), place[begins], added)


def _added(row: Array, calls: Array, rows: int) -> Array:
    calls = _exact(calls, max(len(calls), 1))
    found: Array = np.zeros(rows, calls.dtype)
    np.add.at(found, row, calls)
    return found


def _exact(column: Array, times: int) -> Array:
    """Returns a column whose numbers may be multiplied, or so many of which may be added."""
    largest = int(column.max(initial=0))
    return column if largest <= LARGEST // times else wide(column)


def _columns(names: Sequence[str], rows: Sequence[Sequence[int]]) -> dict[str, Array]:
    return dict(zip(names, map(_numbers, zip(*rows, strict=True)), strict=True))


def _numbers(values: Sequence[int]) -> Array:
    try:
        return np.fromiter(values, np.int64)
    except OverflowError:
        return wide(np.array(values, object))


def _without_zeros(columns: dict[str, Array]) -> dict[str, Array]:
    return {name: column for name, column in columns.items() if column.any()}
