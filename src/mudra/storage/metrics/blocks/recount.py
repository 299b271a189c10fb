"""Adds up reports again in plain Python loops, and compares them with the sums.

The sums are made by columns (`added`), this count by loops that share no code with it: the
comparison finds an error in either.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from mudra.metrics.payload.catalogue import Tag, day_start, hour_start, window_at
from mudra.metrics.payload.report import Block
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.recount import Compared, RecountPart, sample
from mudra.metrics.rollup.stale import ALL_AAS, DAY, HOUR, Stale
from mudra.metrics.sums.cells import Cells
from mudra.metrics.sums.plain_recount import PlainSums, plain_recount
from mudra.metrics.sums.report_cells import blocks_of
from mudra.metrics.sums.selection import SeriesKey, StaleSums
from mudra.metrics.sums.totals import Totals
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.blocks.grain import NOT, REQ, Grain
from mudra.storage.metrics.blocks.reading import Blocks, Form, Wanted
from mudra.storage.metrics.blocks.stale_sums import stale_sums
from mudra.storage.metrics.partitions import BLOCK_WINDOWS, has_partition
from mudra.storage.metrics.stored_report import short_tag

RECOUNT_S: Final = 300.0
"""The time limit of one statement of a recount."""
_TAGS: Final = (REQ, NOT)


class _Key(NamedTuple):
    """A cell of the sums about one FIP; an empty AA means all together."""

    grain: Grain
    aa_id: str
    tag: Tag
    type: str
    at: datetime


async def recount_parts(tx: Transaction, day: datetime) -> Sequence[RecountPart]:
    """Returns a part for each FIP whose day is counted again; none without reports of that day."""
    await tx.take_time(RECOUNT_S)
    if not await has_partition(tx, BLOCK_WINDOWS, day):
        return []
    blocks = Blocks(tx)
    wanted = [Wanted(Grain.DAY, _TAGS, aa_id, frozenset({day})) for aa_id in (None, ALL_AAS)]
    found = await blocks.summed(wanted, ("fip",), Form(times=False))
    fips = [blocks.names.ids[place] for place in found.keys["fip"].tolist()]
    return [RecountPart(day, fip_id) for fip_id in sample(fips, day)]


async def recount(tx: Transaction, part: RecountPart) -> Sequence[Compared]:
    """Compares the sums about a FIP with its reports; those that are stale are left out."""
    await tx.take_time(RECOUNT_S)
    # Sums first, then what they are made of, then what is stale: a push meanwhile leaves a mark.
    stored = await _stored(tx, part)
    plain = await _plain(tx, part)
    stale = await stale_sums(tx, TimeRange(part.day, part.day + DAY))
    if not await has_partition(tx, BLOCK_WINDOWS, part.day):
        return []  # retention dropped the reports meanwhile
    return _compared(plain, stored, stale)


async def _plain(tx: Transaction, part: RecountPart) -> Mapping[_Key, PlainSums]:
    blocks = Blocks(tx)
    windows = frozenset(TimeRange(part.day, part.day + DAY).windows)
    wanted = Wanted(Grain.WINDOW, _TAGS, None, windows)
    form = Form(fip_ids=frozenset({part.fip_id}))
    read = [cells async for cells in blocks.each(wanted, form)]
    return await asyncio.to_thread(plain_recount, _blocks_by_key(read, blocks.names.ids))


def _blocks_by_key(read: Sequence[Cells], ids: Sequence[str]) -> Iterator[tuple[_Key, Block]]:
    for cells in read:
        for at, (cell, _), (_, block) in zip(
            cells.keys["at"].tolist(),
            Totals(cells, ids).items(),
            blocks_of(cells, ids),
            strict=True,
        ):
            window = window_at(at)
            for aa_id in (cell.aa_id, ALL_AAS):
                yield _Key(Grain.HOUR, aa_id, cell.tag, cell.type, hour_start(window)), block
                yield _Key(Grain.DAY, aa_id, cell.tag, cell.type, day_start(window)), block


async def _stored(tx: Transaction, part: RecountPart) -> Mapping[_Key, PlainSums]:
    blocks, found = Blocks(tx), dict[_Key, PlainSums]()
    hours = frozenset(part.day + place * HOUR for place in range(DAY // HOUR))
    form = Form(times=False, fip_ids=frozenset({part.fip_id}))
    for grain, times in ((Grain.HOUR, hours), (Grain.DAY, frozenset({part.day}))):
        for aa_id in (None, ALL_AAS):
            wanted = Wanted(grain, _TAGS, aa_id, times)
            cells = await blocks.summed([wanted], ("at", "aa", "type"), form)
            rows = zip(
                cells.keys["at"].tolist(),
                cells.longest.tolist(),
                Totals(cells, blocks.names.ids).items(),
                strict=True,
            )
            for at, longest, (cell, sums) in rows:
                key = _Key(grain, cell.aa_id, cell.tag, cell.type, window_at(at))
                found[key] = PlainSums(
                    sums.blocks,
                    [*sums.counts],
                    [*sums.statuses],
                    sums.data_bytes,
                    longest,
                    sums.late.lower,
                    sums.late.upper,
                )
    return found


def _compared(
    plain: Mapping[_Key, PlainSums], stored: Mapping[_Key, PlainSums], stale: StaleSums
) -> Sequence[Compared]:
    cells: dict[Stale, int] = defaultdict(int)
    different: dict[Stale, int] = defaultdict(int)
    for key in plain.keys() | stored.keys():
        if not _is_stale(key, stale):
            sums = Stale(key.grain.value, key.aa_id, key.tag, (key.at,))
            cells[sums] += 1
            different[sums] += plain.get(key) != stored.get(key)
    return [Compared(sums, number, different[sums]) for sums, number in cells.items()]


def _is_stale(key: _Key, stale: StaleSums) -> bool:
    by_time = stale.by_hour() if key.grain is Grain.HOUR else stale.by_day()
    return any(
        one.tag == short_tag(key.tag) and key.aa_id in {ALL_AAS, one.aa_id}
        for one in by_time.get(key.at, set[SeriesKey]())
    )
