"""Adds up reports again in plain Python loops, and compares them with the sums.

The sums are made by columns (`added`), this count by loops that share no code with it: the
comparison finds an error in either. What is derived of the sums of an AA is compared as well: all
calls of each pair and the calls that are not good with the reports, the sums over FIPs with those
of each FIP. What is derived of windows is not: it is made again with each report, and read for
some hours.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

from mudra.metrics.health.health import GOOD_ABOVE_PERCENT
from mudra.metrics.payload.catalogue import (
    CALL_CODES,
    CUSTOMER_CODES,
    FIRST_4XX,
    FIRST_5XX,
    Position,
    day_start,
    hour_start,
    window_at,
)
from mudra.metrics.payload.report import Block
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.recount import AAS, FIPS, Compared, RecountPart, sample
from mudra.metrics.rollup.stale import ALL_AAS, DAY, HOUR, Stale
from mudra.metrics.sums.cells import Cells
from mudra.metrics.sums.plain_recount import PlainColumns, PlainSums, plain_added, plain_recount
from mudra.metrics.sums.report_cells import blocks_of
from mudra.metrics.sums.selection import SeriesKey, StaleSums
from mudra.metrics.sums.totals import Totals
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import ALL, NOT, NOT_GOOD, OVER_FIPS, REQ, Grain, source_tag
from mudra.storage.metrics.blocks.reading import Blocks, Form, Wanted
from mudra.storage.metrics.blocks.stale_sums import stale_sums
from mudra.storage.metrics.partitions import BLOCK_WINDOWS, has_partition
from mudra.storage.metrics.stored_report import long_tag, short_tag

RECOUNT_S: Final = 300.0
"""The time limit of one statement of a recount."""
_TAGS: Final = (REQ, NOT)
_COMPARED: Final = (
    *((None, tag) for tag in (REQ, NOT, ALL, NOT_GOOD)),
    *((ALL_AAS, tag) for tag in _TAGS),
)
"""The sums about a FIP that are compared: of each AA, and over all."""


class _Key(NamedTuple):
    """A cell of what is compared; an empty AA or type means all together."""

    grain: Grain
    aa_id: str
    tag: str
    type: str
    at: datetime


_Sums: TypeAlias = Mapping[_Key, object]


async def recount_parts(tx: Transaction, day: datetime) -> Sequence[RecountPart]:
    """Returns a part for each FIP and AA whose day is counted again; none without its reports."""
    await tx.take_time(RECOUNT_S)
    if not await has_partition(tx, BLOCK_WINDOWS, day):
        return []
    blocks = Blocks(tx)
    wanted = [Wanted(Grain.DAY, _TAGS, aa_id, frozenset({day})) for aa_id in (None, ALL_AAS)]
    found = await blocks.summed(wanted, ("aa", "fip"), Form(times=False))
    ids = blocks.names.ids
    fips, aas = ({ids[place] for place in found.keys[key].tolist()} for key in ("fip", "aa"))
    return [
        *(RecountPart(day, fip_id) for fip_id in sample(fips, day, FIPS)),
        *(RecountPart(day, "", aa_id) for aa_id in sample(aas - {ALL_AAS}, day, AAS)),
    ]


async def recount(tx: Transaction, part: RecountPart) -> Sequence[Compared]:
    """Compares sums with what they are made of; those that are stale are left out."""
    await tx.take_time(RECOUNT_S)
    # Sums first, then what they are made of, then what is stale: a push meanwhile leaves a mark.
    if part.aa_id:
        stored, plain = await _over_fips(tx, part)
    else:
        stored, plain = await _stored(tx, part), await _plain(tx, part)
    stale = await stale_sums(tx, TimeRange(part.day, part.day + DAY))
    if not await has_partition(tx, BLOCK_WINDOWS, part.day):
        return []  # retention dropped the reports meanwhile
    return _compared(plain, stored, stale)


async def _over_fips(tx: Transaction, part: RecountPart) -> tuple[_Sums, _Sums]:
    """Returns the sums of an AA over all FIPs, and what the sums of each FIP add up to.

    One query reads both, since they are written together.
    """
    found: tuple[dict[_Key, object], dict[_Key, object]] = {}, {}
    for grain, times in _times(part.day).items():
        for tag, derived in OVER_FIPS.items():
            both = Wanted(grain, (tag, derived), part.aa_id, times)
            stored, plain = PlainColumns(), PlainColumns()
            async for cells in Blocks(tx).parts(both, Form(times=False)):
                await asyncio.to_thread(_add, cells, stored, plain)
            for sums, columns in zip(found, (stored, plain), strict=True):
                for (at, place), row in columns.rows().items():
                    sums[_Key(grain, part.aa_id, tag, str(place), window_at(at))] = row
    return found


def _add(parts: Sequence[Cells], stored: PlainColumns, plain: PlainColumns) -> None:
    for cells in parts:
        (plain if cells.keys["fip"].any() else stored).add(cells)


def _times(day: datetime) -> Mapping[Grain, frozenset[datetime]]:
    """Returns the times of a day of which there are sums that are compared."""
    hours = frozenset(day + place * HOUR for place in range(DAY // HOUR))
    return {Grain.HOUR: hours, Grain.DAY: frozenset({day})}


async def _plain(tx: Transaction, part: RecountPart) -> Mapping[_Key, PlainSums]:
    blocks = Blocks(tx)
    windows = frozenset(TimeRange(part.day, part.day + DAY).windows)
    wanted = Wanted(Grain.WINDOW, _TAGS, None, windows)
    form = Form(fip_ids=frozenset({part.fip_id}))
    read = [cells async for cells in blocks.each(wanted, form)]
    return await asyncio.to_thread(_recounted, read, blocks.names.ids)


def _recounted(read: Sequence[Cells], ids: Sequence[str]) -> Mapping[_Key, PlainSums]:
    of_hours = plain_recount(_blocks_by_hour(read, ids))
    found = plain_added(_coarser(of_hours))
    not_good = {
        key._replace(tag=NOT_GOOD): sums
        for key, sums in found.items()
        if key.aa_id != ALL_AAS and _is_call(key) and not _is_certainly_good(sums)
    }
    return found | not_good


def _blocks_by_hour(read: Sequence[Cells], ids: Sequence[str]) -> Iterator[tuple[_Key, Block]]:
    for cells in read:
        for at, (cell, _), (_, block) in zip(
            cells.keys["at"].tolist(),
            Totals(cells, ids).items(),
            blocks_of(cells, ids),
            strict=True,
        ):
            hour = hour_start(window_at(at))
            yield _Key(Grain.HOUR, cell.aa_id, short_tag(cell.tag), cell.type, hour), block


def _coarser(of_hours: Mapping[_Key, PlainSums]) -> Iterator[tuple[_Key, PlainSums]]:
    """Yields the sums of each hour, once for each sum that has them."""
    for hour, sums in of_hours.items():
        for key in (hour, hour._replace(grain=Grain.DAY, at=day_start(hour.at))):
            yield key, sums
            yield key._replace(aa_id=ALL_AAS), sums
            if key.tag == REQ and key.type in CUSTOMER_CODES:
                yield key._replace(tag=ALL, type=""), sums


def _is_call(key: _Key) -> bool:
    return key.tag == REQ and key.type in CALL_CODES


def _is_certainly_good(sums: PlainSums) -> bool:
    """Returns what `judging` says of columns, in numbers of one row."""
    counted = sums.counts[Position.TOTAL] - sum(sums.counts[FIRST_4XX:FIRST_5XX])
    answered, in_percent = sum(sums.counts[1:]), 100 * sums.counts[Position.OK_200]
    succeeds = in_percent > counted * GOOD_ABOVE_PERCENT
    return counted > 0 and succeeds and 0 < answered >= 2 * sums.late_upper


async def _stored(tx: Transaction, part: RecountPart) -> Mapping[_Key, PlainSums]:
    blocks, found = Blocks(tx), dict[_Key, PlainSums]()
    form = Form(times=False, fip_ids=frozenset({part.fip_id}))
    for grain, times in _times(part.day).items():
        for aa_id, tag in _COMPARED:
            wanted = Wanted(grain, (tag,), aa_id, times)
            cells = await blocks.summed([wanted], ("at", "aa", "type"), form)
            rows = zip(
                cells.keys["at"].tolist(),
                cells.longest.tolist(),
                Totals(cells, blocks.names.ids).items(),
                strict=True,
            )
            for at, longest, (cell, sums) in rows:
                found[_Key(grain, cell.aa_id, tag, cell.type, window_at(at))] = PlainSums(
                    sums.blocks,
                    [*sums.counts],
                    [*sums.statuses],
                    sums.data_bytes,
                    longest,
                    sums.late.lower,
                    sums.late.upper,
                )
    return found


def _compared(plain: _Sums, stored: _Sums, stale: StaleSums) -> Sequence[Compared]:
    cells: dict[Stale, int] = defaultdict(int)
    different: dict[Stale, int] = defaultdict(int)
    for key in plain.keys() | stored.keys():
        if not _is_stale(key, stale):
            sums = Stale(key.grain.value, key.aa_id, long_tag(source_tag(key.tag)), (key.at,))
            cells[sums] += 1
            different[sums] += plain.get(key) != stored.get(key)
    return [Compared(sums, number, different[sums]) for sums, number in cells.items()]


def _is_stale(key: _Key, stale: StaleSums) -> bool:
    by_time = stale.by_hour() if key.grain is Grain.HOUR else stale.by_day()
    return any(
        one.tag == source_tag(key.tag) and key.aa_id in {ALL_AAS, one.aa_id}
        for one in by_time.get(key.at, set[SeriesKey]())
    )
