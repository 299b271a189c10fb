"""Makes sums of finer blocks: hours of windows, days of hours, and those over all AAs.

Sums are made some FIPs at a time: a day of a nation's AA has 670,000 cells of hours.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np

from mudra.metrics.health.weighing import seen_by_most
from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.metrics.sums.adding import RunningSum, added, joined, stacked, summed_blocks
from mudra.metrics.sums.cells import Cells
from mudra.metrics.sums.totals import Totals
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import ALL, DERIVED, SEEN, Grain
from mudra.storage.metrics.blocks.reading import Blocks, Form, Wanted
from mudra.storage.metrics.blocks.sums.daily import OF_SERIES, DailyRow, daily_rows, replace_daily
from mudra.storage.metrics.blocks.sums.derived import derived, derived_tags, fan_for
from mudra.storage.metrics.blocks.writing import Row, Series, delete, delete_of_each, put, rows_of
from mudra.storage.metrics.partitions import BLOCK_OF, make_partition

_FINER: Final = {Grain.HOUR: Grain.WINDOW, Grain.DAY: Grain.HOUR}
_BY: Final = ("type", "fip")


def source_of(series: Series) -> Grain:
    """Returns the grain of what sums are made of: over all AAs the same one of each AA."""
    return series.grain if series.aa_id == ALL_AAS else _FINER[series.grain]


class Made(NamedTuple):
    """Sums of one time as they are stored, and of a day over all AAs its rows for SQL."""

    rows: Sequence[Row]
    daily: Sequence[DailyRow]


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
    sums = _Sums(series, at, blocks.names.ids)
    shares = await blocks.shares(wanted)
    for share in shares:
        form = Form(share=share)
        if series.grain is Grain.WINDOW:
            cells = await _over_reports(blocks, wanted, form, sums)
        else:
            cells = await blocks.summed([wanted], _BY, form)
        await asyncio.to_thread(sums.add, cells, len(shares))
        del cells  # or they were kept while the next ones are added up
    if series == OF_SERIES:
        sums.rows += await _seen_rows(blocks, at)
    return await asyncio.to_thread(sums.made)


async def _over_reports(blocks: Blocks, wanted: Wanted, form: Form, sums: "_Sums") -> Cells:
    """Returns the sums of what all AAs reported of a window; adds what is derived of each."""
    whole = RunningSum(_BY)
    async for parts in blocks.parts(wanted, form):
        whole.add(await asyncio.to_thread(sums.derive, parts))
    return await asyncio.to_thread(whole.total)


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
    sums = _Sums(series, at, blocks.names.ids)
    async for parts in blocks.parts(wanted, Form()):
        await asyncio.to_thread(sums.derive, parts)
    return (await asyncio.to_thread(sums.made)).rows


async def replace_sums(tx: Transaction, series: Series, made: Mapping[datetime, Made]) -> None:
    """Stores sums of times of one partition in place of those that are there, settled or not.

    With a day over all AAs come its rows for SQL.
    """
    await delete_sums(tx, series, [*made])
    await make_partition(tx, BLOCK_OF[series.grain], min(made))
    await put(tx, [row for sums in made.values() for row in sums.rows])
    if series == OF_SERIES:
        for at, sums in made.items():
            await replace_daily(tx, at, sums.daily)


async def delete_sums(tx: Transaction, series: Series, times: Sequence[datetime]) -> None:
    """Deletes the sums of these times, with what is stored besides."""
    await delete(tx, series, times, (series.tag, *derived_tags(series)))
    if series.grain is Grain.WINDOW:
        for at in times:
            await delete_of_each(tx, series.grain, DERIVED[series.tag], at)


class _Sums:
    """The sums of one time, made of some FIPs after the other."""

    def __init__(self, series: Series, at: datetime, ids: Sequence[str]) -> None:
        self._series, self._at, self._ids = series, at, ids
        self._derived: dict[str, list[Cells]] = defaultdict(list)
        self._daily: list[DailyRow] = []
        self.rows: list[Row] = []

    def add(self, sums: Cells, shares: int) -> None:
        """Adds the sums of one of so many shares of all FIPs."""
        self.rows += _rows_of(self._series, self._at, sums, self._ids, shares)
        if self._series == OF_SERIES:
            self._daily += daily_rows(sums.at(window_number(self._at)), self._ids)
        elif self._series.aa_id != ALL_AAS:
            self.derive([sums])

    def derive(self, parts: Sequence[Cells]) -> Cells:
        """Adds what is derived of some cells; returns their sums."""
        sums = summed_blocks(joined(parts)) if parts[0].points is not None else stacked(parts)
        for tag, cells in derived(self._series.tag, sums):
            self._derived[tag].append(cells)
        return sums

    def made(self) -> Made:
        """Returns them as they are stored."""
        for tag, parts in self._derived.items():
            cells = added(parts, ("aa", "type", "fip"), times=parts[0].rises is not None)
            for aa in np.unique(cells.keys["aa"]).tolist():
                aa_id = self._ids[aa] or self._series.aa_id
                series = self._series._replace(aa_id=aa_id, tag=tag)
                some = cells.chosen(cells.keys["aa"] == aa)
                self.rows += _rows_of(series, self._at, some, self._ids)
        return Made(self.rows, self._daily)


def _rows_of(
    series: Series, at: datetime, cells: Cells, ids: Sequence[str], shares: int = 1
) -> list[Row]:
    span = (at, at + series.grain.length)
    return rows_of(series, span, cells, ids, fan_for(series, cells, shares))
