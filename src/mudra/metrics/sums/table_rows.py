"""Cells as rows of a table for people and programs: the columns of `mudra metrics export`."""

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Final

import numpy as np

from mudra.metrics.payload.catalogue import Position, StatusPosition, window_at
from mudra.metrics.sums.adding import summed_blocks
from mudra.metrics.sums.cells import IS_REQUEST, LATE, POINTS, SUMS, TYPES, Array, Cells
from mudra.metrics.sums.percentiles import points_of
from mudra.shared.text.csv_file import safe_cell

NAMES: Final = ("starts_at", "aa_id", "fip_id", "tag", "type")
NUMBERS: Final = (
    "blocks",
    *(position.name.lower() for position in Position),
    *(f"session_{position.name.lower()}" for position in StatusPosition),
    "data_bytes",
    *LATE,
    *POINTS,
)
"""Counts and statuses by the names of their positions; times in milliseconds."""
COLUMNS: Final = (*NAMES, *NUMBERS)
UNBOUNDED: Final = "data_bytes"
"""The only number that 64 bits do not hold in a network that works."""
_TAGS: Final = ("requests", "notifications")


def table_rows(cells: Cells, ids: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """Yields the rows of cells, single blocks or sums, in their order.

    p50, p95 and p99 of sums are estimates; all four are None without an answered request.
    """
    keys = cells.keys
    sums = summed_blocks(cells, times=False) if cells.points is not None else cells
    tags = [_TAGS[not is_request] for is_request in IS_REQUEST.tolist()]
    names = {place: safe_cell(ids[place]) for place in _places(keys["aa"], keys["fip"])}
    moments = {at: _text(at) for at in np.unique(keys["at"]).tolist()}
    types = keys["type"].tolist()
    return zip(
        (moments[at] for at in keys["at"].tolist()),
        (names[place] for place in keys["aa"].tolist()),
        (names[place] for place in keys["fip"].tolist()),
        (tags[place] for place in types),
        (TYPES[place] for place in types),
        *(_column(sums, name) for name in SUMS),
        *times_of(cells),
        strict=False,  # a column of zeros has no end of its own
    )


def times_of(cells: Cells) -> list[list[int | None]]:
    """Returns p50, p95, p99 and p100 of each row; None without an answered request."""
    has = (cells.answered() > 0) & IS_REQUEST[cells.keys["type"]]
    found: list[list[int | None]] = []
    for column in points_of(cells):
        times = column.astype(object)
        times[~has] = None
        found.append(times.tolist())
    return found


def _column(cells: Cells, name: str) -> Iterator[object]:
    found = cells.sums.get(name)
    return repeat(0) if found is None else iter(found.tolist())


def _places(*columns: Array) -> list[int]:
    return [int(place) for place in np.unique(np.concatenate(columns)).tolist()]


def _text(at: int) -> str:
    return f"{window_at(at):%Y-%m-%dT%H:%M:%SZ}"
