"""Sums of six hours, and of a quarter of a month, next to those of each hour and day.

A question over all FIPs of 24 hours then reads the cells of eight times, not of 23. They have tags
of their own in the same grain, and are there or not: where they are not, or one of their times is
stale, the shorter ones are read. They always are the sum of the shorter ones that are stored.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import sqlalchemy as sa

from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.sums.cells import Cells
from mudra.metrics.sums.selection import SeriesKey
from mudra.storage.database.among import is_among_given
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.block_tables import metrics_block
from mudra.storage.metrics.blocks.derived import derived_tags, fan_for, has_times
from mudra.storage.metrics.blocks.grain import LONGER, SHORTER, Grain
from mudra.storage.metrics.blocks.reading import Blocks, Form, Wanted
from mudra.storage.metrics.blocks.settling import lock_layout
from mudra.storage.metrics.blocks.writing import Row, Series, delete, put, rows_of

_C: Final = metrics_block.c
_BY: Final = ("aa", "type", "fip")
_Of = tuple[str, str]
"""An AA and a tag."""


async def delete_longer(tx: Transaction, series: Series, times: Collection[datetime]) -> None:
    """Deletes the sums that have these times among theirs, with what is derived of them."""
    begins = {series.grain.longer(at)[0] for at in times}
    for tag in _tags(series):
        await delete(tx, series._replace(tag=LONGER[tag]), begins)


async def make_longer(tx: Transaction, series: Series, times: Collection[datetime]) -> None:
    """Makes the sums that have these times among theirs, with what is derived of them.

    None of what is not over yet. They are those of the times as these are stored, also of a stale
    one: a question takes none then. So they are replaced in one transaction, and never missing
    once a question has seen that they are there.
    """
    now = await tx.now()
    for begin, end in sorted({series.grain.longer(at) for at in times}):
        # Others that make one of the times wait for this, and make these again as well.
        await lock_layout(tx, series, begin)
        if end > now:
            continue
        await delete_longer(tx, series, [begin])
        for tag in _tags(series):
            await _make(tx, series._replace(tag=tag), begin, end)


async def with_longer(
    tx: Transaction, wanted: Sequence[Wanted], buckets: Collection[int] | None
) -> Sequence[Wanted]:
    """Returns what has the same cells in fewer blocks: longer sums where all times are wanted.

    Of these buckets; None for all.
    """
    return [part for one in wanted for part in await _with_longer(tx, one, buckets)]


async def _with_longer(
    tx: Transaction, wanted: Wanted, buckets: Collection[int] | None
) -> Sequence[Wanted]:
    if wanted.grain is Grain.WINDOW:
        return [wanted]
    whole = _whole(wanted)
    ats = {at for times in whole.values() for at in times}
    if not ats:
        return [wanted]
    longer, shorter = _by_begin(await _stored(tx, wanted, ats, buckets), whole, wanted.grain)
    used = {
        SeriesKey(aa_id, tag, begin)
        for begin, times in whole.items()
        for aa_id, tag in longer[begin]
        if all(wanted.has(aa_id, tag, at) for at in times)
    }
    if not used:
        return [wanted]
    begins = {one.at for one in used}
    left = {
        SeriesKey(aa_id, tag, at)
        for begin in begins
        for aa_id, tag in shorter[begin]
        if SeriesKey(aa_id, tag, begin) not in used
        for at in whole[begin]
        if wanted.has(aa_id, tag, at)
    }
    replaced = {SeriesKey(one.aa_id, one.tag, at) for one in used for at in whole[one.at]}
    names = tuple(LONGER[tag] for tag in wanted.tags if tag in LONGER)
    made = frozenset(SeriesKey(one.aa_id, LONGER[one.tag], one.at) for one in used)
    times = wanted.times - {at for begin in begins for at in whole[begin]}
    only = (wanted.only - replaced) | left
    rest = msgspec.structs.replace(wanted, times=times, only=frozenset(only))
    return [Wanted(wanted.grain, names, wanted.aa_id, only=made), rest]


def _whole(wanted: Wanted) -> dict[datetime, list[datetime]]:
    """Returns the times of each longer one, by its begin, of which all are wanted of some."""
    asked = wanted.all_times
    spans = {wanted.grain.longer(at) for at in asked}
    found = {begin: wanted.grain.times(begin, end) for begin, end in spans}
    return {begin: times for begin, times in found.items() if asked.issuperset(times)}


class _Stored(NamedTuple):
    """There are blocks of this series."""

    aa_id: str
    tag: str
    at: datetime
    until: datetime


def _by_begin(
    stored: Sequence[_Stored], begins: Collection[datetime], grain: Grain
) -> tuple[dict[datetime, set[_Of]], dict[datetime, set[_Of]]]:
    """Returns who has longer sums of these begins, and who has shorter ones."""
    longer, shorter = defaultdict[datetime, set[_Of]](set), defaultdict[datetime, set[_Of]](set)
    for one in stored:
        if one.tag in SHORTER:
            longer[one.at].add((one.aa_id, SHORTER[one.tag]))
        elif one.until - one.at == grain.length:
            shorter[grain.longer(one.at)[0]].add((one.aa_id, one.tag))
        else:
            for begin in begins:
                if one.at <= begin < one.until:
                    shorter[begin].add((one.aa_id, one.tag))
    return longer, shorter


async def _stored(
    tx: Transaction, wanted: Wanted, ats: Collection[datetime], buckets: Collection[int] | None
) -> Sequence[_Stored]:
    """Returns the series with blocks of these times, settled ones and longer ones included."""
    begins = {wanted.grain.settled_start(at) for at in ats}
    query = _query(of_aas=wanted.aa_id is None, in_buckets=buckets is not None).params(
        grain=wanted.grain.value,
        aa_id=wanted.aa_id or "",
        tags=[*wanted.tags, *(LONGER[tag] for tag in wanted.tags if tag in LONGER)],
        ats=sorted(begins | set(ats)),
        first=min(begins),
        last=max(ats),
        buckets=buckets,
    )
    return [_Stored(*row) for row in await tx.connection.execute(query)]


@cache
def _query(*, of_aas: bool, in_buckets: bool) -> sa.Select[Any]:
    return (
        sa.select(_C.aa_id, _C.tag, _C.at, _C.until)
        .distinct()
        .where(
            _C.grain == sa.bindparam("grain"),
            _C.aa_id != "" if of_aas else _C.aa_id == sa.bindparam("aa_id"),
            *(is_among_given(_C.tag, "tags"), is_among_given(_C.at, "ats")),
            *(_C.at >= sa.bindparam("first"), _C.at <= sa.bindparam("last")),
            *([is_among_given(_C.bucket, "buckets")] if in_buckets else []),
        )
    )


def _tags(series: Series) -> Sequence[str]:
    return [tag for tag in (series.tag, *derived_tags(series)) if tag in LONGER]


async def _make(tx: Transaction, series: Series, begin: datetime, end: datetime) -> None:
    blocks, form = Blocks(tx), Form(times=has_times(series.tag))
    times = frozenset(series.grain.times(begin, end))
    wanted = Wanted(series.grain, (series.tag,), series.aa_id, times)
    sums = await blocks.summed([wanted], _BY, form)
    await put(tx, await asyncio.to_thread(_rows, series, (begin, end), sums, blocks.names.ids))


def _rows(
    series: Series, span: tuple[datetime, datetime], sums: Cells, ids: Sequence[str]
) -> Sequence[Row]:
    at = np.full(len(sums), window_number(span[0]))
    cells = replace(sums, keys={**sums.keys, "at": at})
    longer = series._replace(tag=LONGER[series.tag])
    return rows_of(longer, span, cells, ids, fan_for(series.tag, cells))
