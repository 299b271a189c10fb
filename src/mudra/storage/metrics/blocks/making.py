"""Makes sums of finer blocks: hours of windows, days of hours, and those over all AAs.

Sums are made some buckets at a time: a day of a nation's AA has 670,000 cells of hours. A bucket of
many contains whole buckets of more, so that each part has all cells of its FIPs.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np

from mudra.metrics.health.weighing import seen_by_most
from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.metrics.sums.adding import RunningSum, added, joined, summed_blocks
from mudra.metrics.sums.cells import Cells
from mudra.metrics.sums.totals import Totals
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.daily import OF_SERIES, replace_daily
from mudra.storage.metrics.blocks.derived import derived, derived_tags, fan_for
from mudra.storage.metrics.blocks.grain import ALL, DERIVED, SEEN, Grain
from mudra.storage.metrics.blocks.reading import Blocks, Form, Wanted
from mudra.storage.metrics.blocks.settling import unsettle
from mudra.storage.metrics.blocks.writing import Row, Series, delete, delete_of_each, put, rows_of

_FINER: Final = {Grain.HOUR: Grain.WINDOW, Grain.DAY: Grain.HOUR}
_BY: Final = ("type", "fip")


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

    With the hour or day of an AA, and with a window over all AAs for each of them, come those
    that are small: all calls of each pair, the calls that are not good, and the sums over FIPs.
    With a day over all AAs comes what most of them see of each FIP.
    """
    blocks, source = Blocks(tx), source_of(series)
    number = series.grain.length // source.length
    times = frozenset(at + place * source.length for place in range(number))
    wanted = Wanted(source, (series.tag,), series.aa_id or None, times)
    if series.grain is Grain.WINDOW:
        window = _Window(series, at, blocks.names.ids)
        async for parts in blocks.parts(wanted, Form()):
            await asyncio.to_thread(window.add, parts)
        return await asyncio.to_thread(window.made)
    cells = await blocks.summed([wanted], _BY)
    cells = replace(cells, keys={**cells.keys, "at": np.full(len(cells), window_number(at))})
    rows = await asyncio.to_thread(_rows, series, at, cells, blocks.names.ids)
    if series == OF_SERIES:
        rows += await _seen_rows(blocks, at)
    return Made(rows, cells, blocks.names.ids)


async def _seen_rows(blocks: Blocks, day: datetime) -> Sequence[Row]:
    of_each = Wanted(Grain.DAY, (ALL,), None, frozenset({day}))
    calls = await blocks.summed([of_each], ("aa", "fip"), Form(times=False))
    seen = await asyncio.to_thread(seen_by_most, Totals(calls, blocks.names.ids))
    series = OF_SERIES._replace(tag=SEEN)
    return rows_of(series, (day, day + series.grain.length), seen.cells, seen.ids, 1)


async def derived_at(tx: Transaction, series: Series, at: datetime) -> Sequence[Row]:
    """Returns what is stored besides the sums of an AA at one time, from them as they are."""
    blocks = Blocks(tx)
    wanted = Wanted(series.grain, (series.tag,), series.aa_id, frozenset({at}))
    sums = await blocks.summed([wanted], _BY)
    return await asyncio.to_thread(_derived_rows, series, at, sums, blocks.names.ids)


async def replace_sums(tx: Transaction, series: Series, at: datetime, made: Made) -> None:
    """Stores sums in place of those that are there."""
    if series.grain is not Grain.WINDOW:
        await unsettle(tx, series, at)
    await delete_sums(tx, series, [at])
    await put_sums(tx, series, at, made)


async def delete_sums(tx: Transaction, series: Series, times: Sequence[datetime]) -> None:
    """Deletes the sums of these times, with what is stored besides."""
    for tag in (series.tag, *derived_tags(series)):
        await delete(tx, series._replace(tag=tag), times)
    if series.grain is Grain.WINDOW:
        for at in times:
            await delete_of_each(tx, series.grain, DERIVED[series.tag], at)


async def put_sums(tx: Transaction, series: Series, at: datetime, made: Made) -> None:
    """Stores sums where none are; with a day over all AAs its rows for SQL."""
    await put(tx, made.rows)
    if series == OF_SERIES:
        await replace_daily(tx, at, made.cells, made.ids)


class _Window:
    """The sums of what all AAs reported of a window."""

    def __init__(self, series: Series, at: datetime, ids: Sequence[str]) -> None:
        self._series, self._at, self._ids = series, at, ids
        self._whole = RunningSum(_BY)
        self._derived: dict[str, list[Cells]] = defaultdict(list)

    def add(self, parts: Sequence[Cells]) -> None:
        """Adds the blocks of some buckets."""
        sums = summed_blocks(joined(parts))
        self._whole.add(sums)
        for tag, cells in derived(self._series.tag, sums):
            self._derived[tag].append(cells)

    def made(self) -> Made:
        """Returns them as they are stored."""
        whole = self._whole.total()
        rows = _rows(self._series, self._at, whole, self._ids)
        for tag, parts in self._derived.items():
            cells = added(parts, ("aa", "type", "fip"), times=parts[0].rises is not None)
            for aa in np.unique(cells.keys["aa"]).tolist():
                series = Series(self._ids[aa], self._series.grain, tag)
                rows += _rows_of(series, self._at, cells.chosen(cells.keys["aa"] == aa), self._ids)
        return Made(rows, whole, self._ids)


def _rows(series: Series, at: datetime, cells: Cells, ids: Sequence[str]) -> list[Row]:
    rows = _rows_of(series, at, cells, ids)
    return rows if series.aa_id == ALL_AAS else rows + _derived_rows(series, at, cells, ids)


def _derived_rows(series: Series, at: datetime, cells: Cells, ids: Sequence[str]) -> list[Row]:
    return [
        row
        for tag, part in derived(series.tag, cells)
        for row in _rows_of(series._replace(tag=tag), at, part, ids)
    ]


def _rows_of(series: Series, at: datetime, cells: Cells, ids: Sequence[str]) -> list[Row]:
    span = (at, at + series.grain.length)
    return rows_of(series, span, cells, ids, fan_for(series, cells))
