"""From the payload of a report to cells, and back."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, cast

import numpy as np
from msgspec import UNSET, UnsetType

from mudra.metrics.payload.catalogue import CODES, NotificationType, RequestType, Tag, window_number
from mudra.metrics.payload.report import (
    Block,
    Counts,
    NotificationBlock,
    NotificationFip,
    Percentiles,
    RequestBlock,
    RequestFip,
    Statuses,
)
from mudra.metrics.payload.validation import CheckedReport
from mudra.metrics.sums.block_bytes import encoded
from mudra.metrics.sums.buckets import fan_of, split
from mudra.metrics.sums.cells import (
    COUNTS,
    IS_REQUEST,
    LARGEST,
    POINTS,
    STATUSES,
    TYPES,
    Array,
    Cells,
    Names,
    type_place,
    wide,
)

_PLACES: Final = {
    tag: {code: type_place(tag, code) for code in codes} for tag, codes in CODES.items()
}
_FETCH: Final = type_place(Tag.REQUESTS, RequestType.FI_FETCH)
_OUTCOMES: Final = type_place(Tag.NOTIFICATIONS, NotificationType.FI)
_NO_STATUS: Final = (0,) * len(STATUSES)


def report_cells(checked: CheckedReport, names: Names) -> Cells:
    """Returns the blocks of a valid payload, in its order."""
    fips: tuple[RequestFip | NotificationFip, ...] = checked.report.fips
    blocks: list[Block] = [block for fip in fips for block in fip.metrics]
    places = _PLACES[checked.tag]
    widths = [len(fip.metrics) for fip in fips]
    keys = {
        "at": np.full(len(blocks), window_number(checked.window), np.int64),
        "aa": np.full(len(blocks), names.place(checked.aa_id), np.int64),
        "type": np.array([places[block.type] for block in blocks], np.int64),
        "fip": np.repeat(names.places(checked.fip_ids), widths),
    }
    counts = _columns([block.counts for block in blocks], COUNTS)
    if checked.tag is Tag.NOTIFICATIONS:
        statuses = _columns([_status(block) for block in blocks], STATUSES)
        zero = np.zeros(len(blocks), np.int64)
        return Cells(keys, _held(counts | statuses), zero, dict.fromkeys(POINTS, zero), None)
    points = _columns([cast("RequestBlock", block).pxx for block in blocks], POINTS)
    sums = _held(counts | {"size": _sizes(blocks, keys["type"])})
    return Cells(keys, sums, points[POINTS[-1]], points, None)


def encode_report(checked: CheckedReport) -> list[tuple[int, bytes]]:
    """Returns the blocks of a valid payload as bytes, by bucket; without its AA and window."""
    names = Names()
    cells = report_cells(checked, names)
    return [
        (bucket, encoded(part, names.ids)[0])
        for bucket, part in split(cells, names.ids, fan_of(len(cells)))
    ]


def blocks_of(cells: Cells, ids: Sequence[str]) -> Iterator[tuple[str, Block]]:
    """Yields single blocks as an AA reported them, each with the ID of its FIP."""
    assert cells.points is not None, "sums have no blocks"
    rows = zip(
        cells.keys["fip"].tolist(),
        cells.keys["type"].tolist(),
        _rows(cells.of(name) for name in COUNTS),
        _rows(cells.points[name] for name in POINTS),
        _rows(cells.of(name) for name in STATUSES),
        cells.of("size").tolist(),
        strict=True,
    )
    for fip, place, counts, pxx, status, size in rows:
        yield ids[fip], _block(place, counts, pxx, status, size)


def _block(
    place: int, counts: tuple[int, ...], pxx: tuple[int, ...], status: tuple[int, ...], size: int
) -> Block:
    code, all_counts = TYPES[place], cast("Counts", counts)
    if IS_REQUEST[place]:
        data = str(size) if place == _FETCH else UNSET
        return RequestBlock(code, cast("Percentiles", pxx), all_counts, data)
    ended = cast("Statuses", status) if place == _OUTCOMES else UNSET
    return NotificationBlock(code, all_counts, ended)


def _columns(rows: Sequence[tuple[int, ...]], names: Sequence[str]) -> dict[str, Array]:
    every = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * len(names))
    return dict(zip(names, np.ascontiguousarray(every.reshape(-1, len(names)).T), strict=True))


def _rows(columns: Iterable[Array]) -> Iterator[tuple[int, ...]]:
    return zip(*(column.tolist() for column in columns), strict=True)


def _held(columns: dict[str, Array]) -> dict[str, Array]:
    return {name: column for name, column in columns.items() if column.any()}


def _status(block: Block) -> tuple[int, ...]:
    if isinstance(block, RequestBlock) or isinstance(block.status, UnsetType):
        return _NO_STATUS
    return block.status


def _sizes(blocks: Sequence[Block], places: Array) -> Array:
    fetches = np.flatnonzero(places == _FETCH)
    sizes = [cast("RequestBlock", blocks[row]).counted_size for row in fetches.tolist()]
    numbers = [int(size or 0) for size in sizes]
    found = np.zeros(len(blocks), np.int64)
    if max(numbers, default=0) > LARGEST:
        found = wide(found)
    found[fetches] = numbers
    return found
