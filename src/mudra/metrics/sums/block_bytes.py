"""Cells as bytes: two values of a stored block, its numbers and its response times.

Each is a zstd frame and the CRC-32 of it, in four bytes: a changed byte is always noticed, before
anything is unpacked. Within is msgpack: the number of the form first, FIP IDs once, and columns of
1, 2, 4 or 8 bytes a number, the first bytes of all numbers before their second ones.

All rows of one value are of one AA. `at` counts from the first time of the block, so the same
report has the same bytes in every window.
"""

import threading
import zlib
from collections.abc import Collection, Container, Mapping, Sequence
from typing import Annotated, Final, TypeAlias

import msgspec
import numpy as np
import zstandard

from mudra.metrics.payload.catalogue import MAX_COUNT
from mudra.metrics.sums.block_times import PLACES
from mudra.metrics.sums.cells import (
    COUNTS,
    LARGEST,
    POINTS,
    SUMS,
    TYPES,
    Array,
    Cells,
    Flags,
    Names,
    Rises,
    across,
    empty_rises,
    runs,
    wide,
)
from mudra.shared.text.undecodable import UNDECODABLE

FORM: Final = 2
MAX_ROWS: Final = 2**18
"""Rows of one block: more than the largest report has, of 20,000 FIPs."""
MAX_RISES: Final = 2**22
MAX_UNPACKED: Final = 64 * 1024 * 1024
"""Bytes of one value, unpacked."""
_CHECKSUM: Final = 4
_LEVEL: Final = 6
_WIDTHS: Final = (1, 2, 4, 8)
_LATEST: Final = 2**31
_OF_KEYS: Final = ("fip", "type", "at")
_MOST_COLUMNS: Final = 64
_OF_SUMS: Final = frozenset((*_OF_KEYS, *SUMS, "longest"))
_OF_BLOCKS: Final = frozenset((*_OF_KEYS, *SUMS, *POINTS))


class DamagedBlock(ValueError):
    """The bytes of a block are not as they were written; says how."""


_Rows: TypeAlias = Array | slice
"""Some rows of a block: their places, or adjacent ones, which cost no copy."""
_Id = Annotated[str, msgspec.Meta(max_length=64)]
_Column = tuple[int, bytes]
"""The width of its numbers, and these; width 0 for those of any length, as a list of bytes."""


class _Numbers(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    form: int
    single: bool
    """The blocks of a report; else sums."""
    rows: int
    fips: Annotated[list[_Id], msgspec.Meta(max_length=MAX_ROWS)]
    columns: Annotated[dict[str, _Column], msgspec.Meta(max_length=_MOST_COLUMNS)]


class _Times(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    form: int
    width: _Column
    """The number of rises of each row."""
    place: _Column
    """The cell of time of the first rise of a row; of the others the distance to the one before."""
    calls: _Column


class _Packers(threading.local):
    """A compressor and a decompressor of each thread, since neither may be shared."""

    def __init__(self) -> None:
        self.pack = zstandard.ZstdCompressor(level=_LEVEL).compress
        self.unpack = zstandard.ZstdDecompressor().decompress


_packers: Final = _Packers()
_encode: Final = msgspec.msgpack.Encoder().encode
_numbers_of: Final = msgspec.msgpack.Decoder(_Numbers).decode
_times_of: Final = msgspec.msgpack.Decoder(_Times).decode
_long_of: Final = msgspec.msgpack.Decoder(
    Annotated[list[bytes], msgspec.Meta(max_length=MAX_ROWS)]
).decode


def encoded(cells: Cells, ids: Sequence[str], first: int | None = None) -> tuple[bytes, bytes]:
    """Returns cells of one AA as numbers and response times; the latter empty without any.

    Neither the AA nor the first time is in them: that is the earliest of the cells, or `first`, and
    `decoded` is given it. Equal cells have equal bytes, in whatever order.
    """
    if len(cells) > MAX_ROWS:
        raise ValueError(f"{len(cells)} rows are too many for a block of {MAX_ROWS}: split them")
    at = cells.keys["at"] - (cells.keys["at"].min(initial=_LATEST) if first is None else first)
    fip, fips = _by_name(cells.keys["fip"], ids)
    code = (cells.keys["type"] * (len(fips) + 1) + fip) * (int(at.max(initial=0)) + 1) + at
    if (np.diff(code) < 0).any():
        order = np.argsort(code)
        cells, at, fip = cells.chosen(order), at[order], fip[order]
    stored = _stored(
        {
            # from one row to the next mostly 0 or 1, also where the next type begins
            "fip": np.diff(fip, prepend=0) % max(len(fips), 1),
            "type": cells.keys["type"],
            "at": at,
            **cells.sums,
            "c0": cells.of("c0") - cells.answered(),  # nearly always 0
            **_points_or_longest(cells),
        }
    )
    single = cells.points is not None
    return _sealed(_encode(_Numbers(FORM, single, len(cells), fips, stored))), _times(cells)


def decoded(
    numbers: bytes,
    times: bytes | None,
    names: Names,
    aa: int,
    at: int,
    fips: Container[str] | None = None,
    types: Collection[int] | None = None,
) -> Cells:
    """Returns the cells of which `encoded` made these bytes, or the cells of some FIPs or types.

    `at` is the first time of the block. Without `times` (None), sums have no response times but the
    longest. Raises `DamagedBlock` for bytes that are not as they were written.
    """
    block = _read_numbers(numbers)
    place = _fip_of_rows(block)
    mine = None if fips is None else np.array([one in fips for one in block.fips], np.bool_)
    rows = _chosen_rows(block, place, mine, types)
    of = _named(block, names, mine)[place if rows is None else place[rows]] if block.rows else place
    columns = _all_wide(
        {name: column for name, column in block.columns.items() if name != "fip"}, block.rows, rows
    )
    zero = np.zeros(len(of), np.int64)
    keys = {
        "at": _at_most(columns.pop("at", zero), _LATEST) + at,
        "aa": zero + aa,
        "type": _at_most(columns.pop("type", zero), len(TYPES) - 1),
        "fip": of,
    }
    points = _points(columns, zero) if block.single else None
    longest = columns.pop("longest", zero) if points is None else points[POINTS[-1]]
    _at_most(longest, MAX_COUNT)
    rises = None if block.single or times is None else _rises(times, block.rows, rows)
    cells = _with_total(Cells(keys, columns, longest, points, rises))
    if block.single:
        _at_most(cells.of(COUNTS[0]), MAX_COUNT)
    return cells


def _named(block: _Numbers, names: Names, mine: Flags | None) -> Array:
    """Returns the numbers of a block's FIPs; only those that are wanted get one."""
    if mine is None:
        return names.places(block.fips)
    found = np.zeros(len(mine), np.int64)
    found[mine] = names.places([block.fips[one] for one in np.flatnonzero(mine).tolist()])
    return found


def _chosen_rows(
    block: _Numbers, place: Array, mine: Flags | None, types: Collection[int] | None
) -> _Rows | None:
    """Returns the rows of some FIPs and of some types; None for all."""
    chosen: Flags = np.ones(block.rows, np.bool_)
    if mine is not None:
        chosen &= mine[place]
    if types is not None:
        known = np.zeros(len(TYPES), np.bool_)
        known[list(types)] = True
        stored = block.columns.get("type")
        chosen &= known[_at_most(_wide(stored, block.rows), len(TYPES) - 1) if stored else 0]
    rows = np.flatnonzero(chosen)
    if len(rows) == block.rows:
        return None
    # Rows are in order of their type, so those of one are adjacent.
    adjacent = bool(len(rows)) and int(rows[-1] - rows[0]) == len(rows) - 1
    return slice(int(rows[0]), int(rows[-1]) + 1) if adjacent else rows


def _points(columns: dict[str, Array], zero: Array) -> dict[str, Array]:
    """Returns the points, and takes from the columns how far each is above the one before."""
    found, before = {}, zero
    for name in POINTS:
        found[name] = before = before + _at_most(columns.pop(name, zero), MAX_COUNT)
    return found


def _with_total(cells: Cells) -> Cells:
    """Returns the cells whose `c0` counts calls without a response; it counts all then."""
    total = cells.answered()
    if "c0" in cells.sums:
        total = across([cells.sums["c0"], total], len(cells))
    sums = {**cells.sums, "c0": total} if total.any() else cells.sums
    return Cells(cells.keys, sums, cells.longest, cells.points, cells.rises)


def _points_or_longest(cells: Cells) -> Mapping[str, Array]:
    """Returns the longest time, or how far each point is above the one before."""
    if cells.points is None:
        return {"longest": cells.longest}
    columns = [cells.points[name] for name in POINTS]
    before = [np.zeros(len(cells), np.int64), *columns]
    return {name: now - then for name, now, then in zip(POINTS, columns, before, strict=False)}


def _by_name(fip: Array, ids: Sequence[str]) -> tuple[Array, list[str]]:
    """Returns the place of each FIP among the sorted IDs of these, and the IDs."""
    places = np.flatnonzero(np.bincount(fip)).tolist()
    order = sorted(places, key=ids.__getitem__)
    rank = np.zeros(max(places, default=0) + 1, np.int64)
    rank[order] = np.arange(len(order))
    return rank[fip], [ids[place] for place in order]


def _times(cells: Cells) -> bytes:
    if cells.rises is None or not len(cells.rises.place):
        return b""
    width, place, calls = cells.rises
    if len(place) > MAX_RISES:
        raise ValueError(f"{len(place)} response times are too many for a block: split its cells")
    step = np.diff(place, prepend=0)
    starts = (np.cumsum(width) - width)[width > 0]
    step[starts] = place[starts]
    stored = (_narrow(column, int(column.max())) for column in (width, step, calls))
    return _sealed(_encode(_Times(FORM, *stored)))


def _read_numbers(numbers: bytes) -> _Numbers:
    content = _opened(numbers)
    try:
        block = _numbers_of(content)
    except UNDECODABLE as error:
        raise DamagedBlock(f"its numbers cannot be read: {error}") from None
    if block.form != FORM:
        raise DamagedBlock(f"its form is {block.form}; known is {FORM}")
    if not 0 <= block.rows <= MAX_ROWS:
        raise DamagedBlock(f"it has {block.rows} rows")
    if unknown := block.columns.keys() - (_OF_BLOCKS if block.single else _OF_SUMS):
        raise DamagedBlock(f"it has unknown columns: {len(unknown)}")
    if len(set(block.fips)) < len(block.fips) or len(block.fips) > block.rows:
        raise DamagedBlock("its FIPs are not those of its rows")
    return block


def _fip_of_rows(block: _Numbers) -> Array:
    """Returns the place of each row's FIP in the block."""
    number = len(block.fips)
    if bool(number) != bool(block.rows):
        raise DamagedBlock("its FIPs are not those of its rows")
    if "fip" not in block.columns:
        return np.zeros(block.rows, np.int64)
    steps = _at_most(_wide(block.columns["fip"], block.rows), number - 1)
    found: Array = np.cumsum(steps) % number
    return found


def _rises(times: bytes, rows: int, chosen: _Rows | None) -> Rises:
    """Returns the response times of all rows of a block, or of some in their order."""
    if not times:
        return empty_rises(len(range(rows) if chosen is None else np.arange(rows)[chosen]))
    stored = _read_times(times)
    width = _at_most(_wide(stored.width, rows), PLACES)
    number = int(width.sum())
    if number > MAX_RISES:
        raise DamagedBlock(f"it has {number} response times")
    which: _Rows | None = None
    if chosen is not None:
        starts = (np.cumsum(width) - width)[chosen]
        width = width[chosen]
        if isinstance(chosen, slice):
            which = slice(int(starts[0]), int(starts[-1] + width[-1]))
        else:
            which = runs(starts, width)
    step = _at_most(_wide(stored.place, number, which), PLACES)
    calls = _wide(stored.calls, number, which)
    held = width > 0
    first = (np.cumsum(width) - width)[held]
    total = np.cumsum(step)
    before = np.zeros(len(width), np.int64)
    before[held] = total[first] - step[first]
    total -= np.repeat(before, width)
    return Rises(width, _at_most(total, PLACES), calls)


def _read_times(times: bytes) -> _Times:
    content = _opened(times)
    try:
        found = _times_of(content)
    except UNDECODABLE as error:
        raise DamagedBlock(f"its response times cannot be read: {error}") from None
    if found.form != FORM:
        raise DamagedBlock(f"the form of its response times is {found.form}; known is {FORM}")
    return found


def _sealed(content: bytes) -> bytes:
    if len(content) > MAX_UNPACKED:
        raise ValueError(f"{len(content)} bytes are too many for a block: split its cells")
    packed = _packers.pack(content)
    return packed + zlib.crc32(packed).to_bytes(_CHECKSUM)


def _opened(stored: bytes) -> bytes:
    packed = memoryview(stored)[:-_CHECKSUM]
    if zlib.crc32(packed) != int.from_bytes(stored[-_CHECKSUM:]) or len(stored) < _CHECKSUM:
        raise DamagedBlock("its checksum is not that of its content")
    try:
        if not 0 <= zstandard.frame_content_size(packed) <= MAX_UNPACKED:
            raise DamagedBlock(f"it is larger than {MAX_UNPACKED} bytes")
        return _packers.unpack(packed, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise DamagedBlock(f"it cannot be unpacked: {error}") from None


def _stored(columns: Mapping[str, Array]) -> dict[str, _Column]:
    """Returns columns in the fewest bytes, without columns of zeros."""
    together = np.stack([column for column in columns.values() if column.dtype != object])
    if int(together.min(initial=0)) < 0:
        raise ValueError("a block has no negative numbers")
    largest = iter(together.max(1, initial=0).tolist())
    found = {}
    for name, column in columns.items():
        most = max(column, default=0) if column.dtype == object else next(largest)
        if most:
            found[name] = _narrow(column, most)
    return found


def _narrow(column: Array, largest: int) -> _Column:
    if largest > LARGEST:
        return 0, _encode([_bytes_of(one) for one in column.tolist()])
    width = next(width for width in _WIDTHS if largest < 1 << 8 * width)
    planes = column.astype(f"<u{width}").view(np.uint8).reshape(-1, width)
    return width, planes.T.tobytes()


def _wide(stored: _Column, length: int, rows: _Rows | None = None) -> Array:
    """Returns a column of this length, or some rows of it."""
    return _all_wide({"": stored}, length, rows)[""]


def _all_wide(stored: Mapping[str, _Column], length: int, rows: _Rows | None) -> dict[str, Array]:
    """Returns columns of this length, or some rows of them: the bytes of all at once."""
    for width, column in stored.values():
        if width and (width not in _WIDTHS or len(column) != width * length):
            raise DamagedBlock(f"a column of {length} numbers has {len(column)} bytes")
    held = b"".join(column for width, column in stored.values() if width)
    number = sum(width for width, _ in stored.values())
    planes = np.frombuffer(held, np.uint8).reshape(number, length)
    planes = (planes if rows is None else planes[:, rows]).astype(np.int64)
    found, place = {}, 0
    for name, (width, column) in stored.items():
        found[name] = planes[place] if width else _long(column, length, rows)
        for more in range(1, width):
            found[name] |= planes[place + more] << 8 * more
        if width == _WIDTHS[-1] and (found[name] < 0).any():
            raise DamagedBlock("a number is beyond 63 bits")
        place += width
    return found


def _long(held: bytes, length: int, rows: _Rows | None) -> Array:
    try:
        found = _long_of(held)
    except UNDECODABLE as error:
        raise DamagedBlock(f"a column cannot be read: {error}") from None
    if len(found) != length:
        raise DamagedBlock(f"a column of {length} numbers has {len(found)}")
    column = wide(np.zeros(length, np.int64))
    column[:] = [int.from_bytes(one) for one in found]
    return column if rows is None else column[rows]


def _bytes_of(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8)


def _at_most(column: Array, most: int) -> Array:
    if column.dtype == object or int(np.maximum.reduce(column, initial=0)) > most:
        raise DamagedBlock(f"a number is beyond {most}")
    return column
