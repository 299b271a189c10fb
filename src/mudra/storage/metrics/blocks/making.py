"""Makes sums of finer blocks: hours of windows, days of hours, and those over all AAs.

Sums are made some buckets at a time: a day of a nation's AA has 670,000 cells of hours. A bucket of
many contains whole buckets of more, so that each part has all cells of its FIPs.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import numpy as np

from mudra.metrics.payload.catalogue import TIMING_CODES
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.metrics.sums.adding import added
from mudra.metrics.sums.cells import Cells
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.blocks.grain import ALL, REQ, Grain, number_of
from mudra.storage.metrics.blocks.reading import Blocks, Wanted, types_of
from mudra.storage.metrics.blocks.settling import unsettle
from mudra.storage.metrics.blocks.writing import Row, Series, delete, put, rows_of

_FINER: Final = {Grain.HOUR: Grain.WINDOW, Grain.DAY: Grain.HOUR}
_BY: Final = ("type", "fip")
_TIMINGS: Final = sorted(types_of(TIMING_CODES))


def source_of(series: Series) -> Grain:
    """Returns the grain of what sums are made of: over all AAs the same one of each AA."""
    return series.grain if series.aa_id == ALL_AAS else _FINER[series.grain]


async def sums_of(tx: Transaction, series: Series, at: datetime) -> Sequence[Row]:
    """Returns the sums of an AA, or over all AAs, at one time, as they are stored.

    With the hour or day of an AA come all calls of each of its pairs, for the matrix.
    """
    blocks, source = Blocks(tx), source_of(series)
    number = series.grain.length // source.length
    times = frozenset(at + place * source.length for place in range(number))
    wanted = Wanted(source, (series.tag,), series.aa_id or None, times)
    cells = await blocks.summed([wanted], _BY)
    return await asyncio.to_thread(_rows, series, at, cells, blocks.names.ids)


async def replace_sums(tx: Transaction, series: Series, at: datetime, rows: Sequence[Row]) -> None:
    """Stores sums in place of those that are there."""
    for tag in (series.tag, ALL) if _has_all_calls(series) else (series.tag,):
        of_tag = series._replace(tag=tag)
        await unsettle(tx, of_tag, at)
        await delete(tx, of_tag, [at])
    await put(tx, rows)


def _has_all_calls(series: Series) -> bool:
    return series.tag == REQ and series.aa_id != ALL_AAS


def _rows(series: Series, at: datetime, cells: Cells, ids: Sequence[str]) -> list[Row]:
    if not len(cells):
        return []
    until = at + series.grain.length
    cells = replace(cells, keys={**cells.keys, "at": np.full(len(cells), number_of(at))})
    rows = rows_of(series, at, until, cells, ids)
    if _has_all_calls(series):
        calls = all_calls(cells)
        if len(calls):
            rows += rows_of(series._replace(tag=ALL), at, until, calls, ids)
    return rows


def all_calls(cells: Cells) -> Cells:
    """Returns the sums of all calls of each FIP, without their times; the timings are no calls."""
    calls = cells.chosen(~np.isin(cells.keys["type"], _TIMINGS))
    return added([calls], ("at", "fip"), times=False)
