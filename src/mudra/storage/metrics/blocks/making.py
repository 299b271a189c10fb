"""Makes sums of finer blocks: hours of windows, days of hours, and those over all AAs.

Sums are made some buckets at a time: a day of a nation's AA has 670,000 cells of hours. A bucket of
many contains whole buckets of more, so that each part has all cells of its FIPs.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np

from mudra.metrics.payload.catalogue import TIMING_CODES
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.metrics.sums.adding import added
from mudra.metrics.sums.cells import Cells
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.blocks.daily import OF_SERIES, replace_daily
from mudra.storage.metrics.blocks.grain import ALL, REQ, Grain, number_of
from mudra.storage.metrics.blocks.reading import Blocks, Form, Wanted, types_of
from mudra.storage.metrics.blocks.settling import unsettle
from mudra.storage.metrics.blocks.writing import Row, Series, delete, put, rows_of

_FINER: Final = {Grain.HOUR: Grain.WINDOW, Grain.DAY: Grain.HOUR}
_BY: Final = ("type", "fip")
_TIMINGS: Final = sorted(types_of(TIMING_CODES))


def source_of(series: Series) -> Grain:
    """Returns the grain of what sums are made of: over all AAs the same one of each AA."""
    return series.grain if series.aa_id == ALL_AAS else _FINER[series.grain]


class Made(NamedTuple):
    """Sums of one time: as they are stored, and their cells."""

    rows: Sequence[Row]
    cells: Cells
    ids: Sequence[str]


async def sums_of(tx: Transaction, series: Series, at: datetime) -> Made:
    """Returns the sums of an AA, or over all AAs, at one time.

    With the hour or day of an AA come all calls of each of its pairs, for the matrix.
    """
    blocks, source = Blocks(tx), source_of(series)
    number = series.grain.length // source.length
    times = frozenset(at + place * source.length for place in range(number))
    wanted = Wanted(source, (series.tag,), series.aa_id or None, times)
    cells = await blocks.summed([wanted], _BY)
    cells = replace(cells, keys={**cells.keys, "at": np.full(len(cells), number_of(at))})
    rows = await asyncio.to_thread(_rows, series, at, cells, blocks.names.ids)
    return Made(rows, cells, blocks.names.ids)


async def all_calls_at(tx: Transaction, series: Series, at: datetime) -> Sequence[Row]:
    """Returns all calls of each pair at one time, from the sums of an AA that are stored."""
    blocks = Blocks(tx)
    wanted = Wanted(series.grain, (series.tag,), series.aa_id, frozenset({at}))
    calls = all_calls(await blocks.summed([wanted], ("at", *_BY), Form(times=False)))
    if not len(calls):
        return []
    of_all, until = series._replace(tag=ALL), at + series.grain.length
    return await asyncio.to_thread(rows_of, of_all, at, until, calls, blocks.names.ids)


async def replace_sums(tx: Transaction, series: Series, at: datetime, made: Made) -> None:
    """Stores sums in place of those that are there."""
    for tag in (series.tag, ALL) if has_all_calls(series) else (series.tag,):
        of_tag = series._replace(tag=tag)
        await unsettle(tx, of_tag, at)
        await delete(tx, of_tag, [at])
    await put_sums(tx, series, at, made)


async def put_sums(tx: Transaction, series: Series, at: datetime, made: Made) -> None:
    """Stores sums where none are; with a day over all AAs its rows for SQL."""
    await put(tx, made.rows)
    if series == OF_SERIES:
        await replace_daily(tx, at, made.cells, made.ids)


def has_all_calls(series: Series) -> bool:
    """Returns whether all calls of each pair are stored next to these sums."""
    return series.tag == REQ and series.aa_id != ALL_AAS


def _rows(series: Series, at: datetime, cells: Cells, ids: Sequence[str]) -> list[Row]:
    if not len(cells):
        return []
    until = at + series.grain.length
    rows = rows_of(series, at, until, cells, ids)
    if has_all_calls(series):
        calls = all_calls(cells)
        if len(calls):
            rows += rows_of(series._replace(tag=ALL), at, until, calls, ids)
    return rows


def all_calls(cells: Cells) -> Cells:
    """Returns the sums of all calls of each FIP, without their times; the timings are no calls."""
    calls = cells.chosen(~np.isin(cells.keys["type"], _TIMINGS))
    return added([calls], ("at", "fip"), times=False)
