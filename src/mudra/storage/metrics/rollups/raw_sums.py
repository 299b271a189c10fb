"""Makes sums of raw rows: of windows and of hours."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy.engine import RowMapping

from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.grain_selection import Rows
from mudra.metrics.rollup.rollup import Cell, Rollup, coarse, rollup
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.rollups.sums import Part, blocks_by_cell, raw_query

Sums = Mapping[datetime, Mapping[Cell, Rollup]]
"""Sums by the beginning of their window, hour or day."""


async def sums_of_raw_rows(
    tx: Transaction, part: Part, ats: Sequence[datetime], grain: timedelta
) -> Sums:
    """Returns the sums of each of the windows or hours (`grain`) that begin at these times.

    One statement reads the rows of all: most of the cost is that of a statement. They are added up
    in a thread.
    """
    windows = [window for at in ats for window in TimeRange(at, at + grain).windows]
    found = await tx.connection.execute(raw_query(Rows(tuple(windows)), part))
    return await asyncio.to_thread(_summed, found.mappings().all(), ats, grain)


def _summed(found: Sequence[RowMapping], ats: Sequence[datetime], grain: timedelta) -> Sums:
    rows: dict[datetime, list[RowMapping]] = defaultdict(list)
    first = ats[0]
    for row in found:
        rows[first + (row["window_at"] - first) // grain * grain].append(row)
    return {
        at: {
            cell: coarse(rollup(blocks))
            for cell, blocks in blocks_by_cell(rows.get(at, ())).items()
        }
        for at in ats
    }
