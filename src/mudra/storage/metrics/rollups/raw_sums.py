"""Makes sums of raw rows: of windows and of hours."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa

from mudra.metrics.payload.report import Block
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.grain_selection import Rows
from mudra.metrics.rollup.rollup import Cell, Rollup, coarse, rollup
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.rollups.sums import (
    ROWS_AT_ONCE,
    Part,
    block_of,
    cell_of,
    mappings_of,
    raw_query,
)

Sums = Mapping[datetime, Mapping[Cell, Rollup]]
"""Sums by the beginning of their window, hour or day."""
_Blocks = dict[datetime, dict[Cell, list[Block]]]


async def sums_of_raw_rows(
    tx: Transaction, part: Part, ats: Sequence[datetime], grain: timedelta
) -> Sums:
    """Returns the sums of each of the windows or hours (`grain`) that begin at these times.

    One statement reads the rows of all: most of the cost is that of a statement. They are added up
    in a thread.
    """
    windows = [window for at in ats for window in TimeRange(at, at + grain).windows]
    blocks: _Blocks = {at: defaultdict(list) for at in ats}
    async for rows in tx.in_parts(raw_query(Rows(tuple(windows)), part), ROWS_AT_ONCE):
        await asyncio.to_thread(_add, blocks, rows, ats[0], grain)
    return await asyncio.to_thread(_summed, blocks)


def _add(
    blocks: _Blocks, rows: Sequence[sa.Row[tuple[object, ...]]], first: datetime, grain: timedelta
) -> None:
    for values in mappings_of(rows):
        at = first + (values["window_at"] - first) // grain * grain
        blocks[at][cell_of(values)].append(block_of(values))


def _summed(blocks: _Blocks) -> Sums:
    return {
        at: {cell: coarse(rollup(some)) for cell, some in of_cells.items()}
        for at, of_cells in blocks.items()
    }
