"""Sums of six hours, and of a quarter of a month, next to those of each hour and day.

A question over all FIPs of 24 hours then reads the cells of eight times, not of 23. They have tags
of their own in the same grain, and are there or not: where they are not, or one of their times is
stale, the shorter ones are read. They always are the sum of the shorter ones that are stored.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any, Final

import msgspec
import numpy as np
import sqlalchemy as sa

from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.rollup.damage import BlockDamaged
from mudra.metrics.sums.adding import RunningSum
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

    None of what is not over yet, or has a damaged time: that must not keep the others from being
    made. They are those of the times as these are stored, also of a stale one: a question takes
    none then.
    """
    now = await tx.now()
    for begin, end in sorted({series.grain.longer(at) for at in times}):
        # Others that make one of the times wait for this, and make these again as well.
        await lock_layout(tx, series, begin)
        if end > now:
            continue
        await delete_longer(tx, series, [begin])
        try:
            made = [
                row
                for tag in _tags(series)
                for row in await _made(tx, series._replace(tag=tag), begin, end)
            ]
        except BlockDamaged:
            continue
        await put(tx, made)


async def summed_with_longer(
    tx: Transaction, blocks: Blocks, wanted: Sequence[Wanted], by: Sequence[str], form: Form
) -> Cells:
    """Returns the sums of what is wanted, as `Blocks.summed` does, from fewer blocks.

    Longer sums are read first, and then whatever they were not found for.
    """
    total = RunningSum(by, times=form.times)
    for one in wanted:
        rest = await _add_longer(tx, blocks, total, one, form)
        await blocks.add(total, rest, form)
    return await asyncio.to_thread(total.total)


async def _add_longer(
    tx: Transaction, blocks: Blocks, total: RunningSum, wanted: Wanted, form: Form
) -> Wanted:
    """Adds longer sums of which all times are wanted; returns what is wanted besides."""
    whole = {} if wanted.grain is Grain.WINDOW else _whole(wanted)
    found = await blocks.add(total, _longer_of(wanted, whole), form) if whole else set()
    if not found:
        return wanted
    used = {SeriesKey(one.aa_id, SHORTER[one.tag], one.at) for one in found}
    begins = {one.at for one in used}
    left = {
        SeriesKey(aa_id, tag, at)
        for begin, others in (await _with_shorter(tx, wanted, begins, form)).items()
        for aa_id, tag in others
        if SeriesKey(aa_id, tag, begin) not in used
        for at in whole[begin]
        if wanted.has(aa_id, tag, at)
    }
    replaced = {SeriesKey(one.aa_id, one.tag, at) for one in used for at in whole[one.at]}
    times = wanted.times - {at for begin in begins for at in whole[begin]}
    only = frozenset((wanted.only - replaced) | left)
    return msgspec.structs.replace(wanted, times=times, only=only)


def _longer_of(wanted: Wanted, whole: Mapping[datetime, Sequence[datetime]]) -> Wanted:
    """Returns the longer sums of which all times are wanted, if there are any."""

    def named(keys: Iterable[SeriesKey]) -> set[SeriesKey]:
        return {
            SeriesKey(one.aa_id, LONGER[one.tag], wanted.grain.longer(one.at)[0]) for one in keys
        }

    def is_whole(key: SeriesKey) -> bool:
        times = whole.get(key.at, ())
        return bool(times) and all(wanted.has(key.aa_id, SHORTER[key.tag], at) for at in times)

    of_all = frozenset(begin for begin, times in whole.items() if wanted.times.issuperset(times))
    without = {key for key in named(wanted.without) if not is_whole(key)}
    only = {key for key in named(wanted.only) if is_whole(key)}
    tags = tuple(LONGER[tag] for tag in wanted.tags if tag in LONGER)
    return Wanted(wanted.grain, tags, wanted.aa_id, of_all, frozenset(without), frozenset(only))


def _whole(wanted: Wanted) -> dict[datetime, list[datetime]]:
    """Returns the times of each longer one, by its begin, of which all are wanted of some."""
    asked = wanted.all_times
    spans = {wanted.grain.longer(at) for at in asked}
    found = {begin: wanted.grain.times(begin, end) for begin, end in spans}
    return {begin: times for begin, times in found.items() if asked.issuperset(times)}


async def _with_shorter(
    tx: Transaction, wanted: Wanted, begins: Collection[datetime], form: Form
) -> Mapping[datetime, set[_Of]]:
    """Returns who has sums of some time of these longer ones, also in settled blocks."""
    grain, buckets = wanted.grain, form.buckets
    spans = {begin: grain.longer(begin)[1] for begin in begins}
    settled = {grain.settled_start(at) for at in begins}
    ats = settled.union(*(grain.times(begin, end) for begin, end in spans.items()))
    query = _query(of_aas=wanted.aa_id is None, in_buckets=buckets is not None).params(
        grain=grain.value,
        aa_id=wanted.aa_id or "",
        tags=list(wanted.tags),
        ats=sorted(ats),
        first=min(ats),
        last=max(ats),
        buckets=buckets,
    )
    found = defaultdict[datetime, set[_Of]](set)
    for aa_id, tag, at, until in await tx.connection.execute(query):
        for begin, end in spans.items():
            if at < end and until > begin:
                found[begin].add((aa_id, tag))
    return found


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


async def _made(tx: Transaction, series: Series, begin: datetime, end: datetime) -> Sequence[Row]:
    blocks, form = Blocks(tx), Form(times=has_times(series.tag))
    times = frozenset(series.grain.times(begin, end))
    wanted = Wanted(series.grain, (series.tag,), series.aa_id, times)
    sums = await blocks.summed([wanted], _BY, form)
    return await asyncio.to_thread(_rows, series, (begin, end), sums, blocks.names.ids)


def _rows(
    series: Series, span: tuple[datetime, datetime], sums: Cells, ids: Sequence[str]
) -> Sequence[Row]:
    at = np.full(len(sums), window_number(span[0]))
    cells = replace(sums, keys={**sums.keys, "at": at})
    longer = series._replace(tag=LONGER[series.tag])
    return rows_of(longer, span, cells, ids, fan_for(series.tag, cells))
