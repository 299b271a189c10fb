"""Lays out sums that no report can change any more by FIP: hours of a day, days of a month.

A question about one FIP then reads one block for each AA and day or month, not one for each hour.
The cells stay the same. Where a held report is admitted after that, the sums of its day are laid
out by time again, and are settled once more later.
"""

import asyncio
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import numpy as np
import sqlalchemy as sa

from mudra.metrics.payload.catalogue import window_at
from mudra.metrics.rollup.damage import BlockPlace
from mudra.metrics.rollup.rollup_service import RECOUNTED_DAYS
from mudra.metrics.sums.adding import stacked
from mudra.metrics.sums.block_bytes import encoded
from mudra.metrics.sums.buckets import FANS, fan_of, fan_with
from mudra.metrics.sums.cells import Cells
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import Grain
from mudra.storage.metrics.blocks.reading import Blocks, Form, Share, Wanted
from mudra.storage.metrics.blocks.writing import Row, Series, delete, put, rows_of
from mudra.storage.tables.metrics_blocks import UNSETTLED, metrics_block

UNCHANGING_AFTER: Final = timedelta(days=RECOUNTED_DAYS)
_SHARES_OF_A_BUCKET: Final = 4
"""At most: all times of a nation's bucket take 80 MB together, those of a small network nothing."""
_C: Final = metrics_block.c
_BEGIN: Final = sa.case(
    (_C.grain == Grain.HOUR.value, sa.func.date_trunc("day", _C.at, "UTC")),
    else_=sa.func.date_trunc("month", _C.at, "UTC"),
)
_END: Final = _BEGIN + sa.case(
    (_C.grain == Grain.HOUR.value, sa.literal(timedelta(days=1), sa.Interval)),
    else_=sa.text("interval '1 month'"),
)
_NEXT: Final = (
    sa.select(_C.aa_id, _C.grain, _C.tag, _BEGIN)
    .where(UNSETTLED, _C.at < sa.bindparam("before"), sa.bindparam("before") >= _END)
    .order_by(_C.at)
    .limit(1)
)
_FANS_AT: Final = sa.select(sa.func.max(_C.bucket)).where(
    *(_C.aa_id == sa.bindparam("aa_id"), _C.grain == sa.bindparam("grain")),
    *(_C.tag == sa.bindparam("tag"), _C.at >= sa.bindparam("begin")),
    _C.at < sa.bindparam("end"),
)
_IS_SETTLED: Final = (
    sa.select(_C.until)
    .where(
        *(_C.aa_id == sa.bindparam("aa_id"), _C.grain == sa.bindparam("grain")),
        *(_C.tag == sa.bindparam("tag"), _C.at == sa.bindparam("begin")),
        _C.until > sa.bindparam("first_end"),
    )
    .limit(1)
)


class Unsettled(NamedTuple):
    """Sums to lay out by FIP: those of a series from the beginning of a day or month."""

    series: Series
    begin: datetime


async def next_unsettled(
    tx: Transaction, now: datetime, without: Sequence[BlockPlace] = ()
) -> Unsettled | None:
    """Returns the oldest sums that can change no more and are not settled; None for none.

    Those of which a block is at one of these places are left out.
    """
    keys = [
        (one.aa_id, one.grain, one.tag, Grain(one.grain).settled_start(one.at)) for one in without
    ]
    others = [sa.tuple_(_C.aa_id, _C.grain, _C.tag, _BEGIN).not_in(keys)] if keys else []
    query = _NEXT.where(*others)
    found = (await tx.connection.execute(query, {"before": now - UNCHANGING_AFTER})).first()
    if found is None:
        return None
    aa_id, grain, tag, begin = found
    return Unsettled(Series(aa_id, Grain(grain), tag), begin)


async def lock_layout(tx: Transaction, series: Series, at: datetime) -> None:
    """Locks out others that lay out the sums of this AA and grain at this time."""
    begin = series.grain.settled_start(at)
    await tx.lock_name(f"layout:{series.grain.value}:{series.aa_id}:{begin.isoformat()}")


async def settle(tx: Transaction, unsettled: Unsettled) -> Sequence[datetime]:
    """Lays out the sums of a day or month by FIP, some FIPs at a time; returns their times."""
    series, begin = unsettled
    await lock_layout(tx, series, begin)
    end = series.grain.settled_end(begin)
    times = times_of_layout(series.grain, begin)
    largest = await tx.connection.scalar(_FANS_AT, {**series._asdict(), "begin": begin, "end": end})
    if largest is None:
        return []
    fan = fan_with(largest)
    shares = min(FANS[-1], fan * min(fan, _SHARES_OF_A_BUCKET))
    wanted = Wanted(series.grain, (series.tag,), series.aa_id, frozenset(times))
    made: list[Row] = []
    met: set[int] = set()
    for place in range(shares):
        blocks = Blocks(tx)
        share = Form(share=Share(place, shares))
        parts = [cells async for cells in blocks.each(wanted, share)]
        met.update(number for cells in parts for number in np.unique(cells.keys["at"]).tolist())
        ids = blocks.names.ids
        made += await asyncio.to_thread(_settled_rows, unsettled, end, parts, ids, shares)
        del parts  # or they were kept while the next ones are read
    await delete(tx, series, times)
    await put(tx, made)
    return [window_at(number) for number in sorted(met)]


async def is_settled(tx: Transaction, series: Series, at: datetime) -> bool:
    """Returns whether a settled block contains the sums of this time."""
    begin = series.grain.settled_start(at)
    values = {**series._asdict(), "begin": begin, "first_end": begin + series.grain.length}
    return await tx.connection.scalar(_IS_SETTLED, values) is not None


async def unsettle(tx: Transaction, series: Series, at: datetime) -> None:
    """Lays out the settled sums that contain a time by their times; nothing where none do.

    Until the transaction ends no other one lays them out differently.
    """
    # Before it is asked: what is settled meanwhile would go with the sums of its first time.
    await lock_layout(tx, series, at)
    if not await is_settled(tx, series, at):
        return
    blocks = Blocks(tx)
    times = times_of_layout(series.grain, at)
    wanted = Wanted(series.grain, (series.tag,), series.aa_id, frozenset(times))
    made: list[Row] = []
    async for bucket, cells in blocks.by_bucket(wanted):
        made += await asyncio.to_thread(_rows_by_time, series, bucket, cells, blocks.names.ids)
    await delete(tx, series, times)
    await put(tx, made)


def _settled_rows(
    unsettled: Unsettled, end: datetime, parts: Sequence[Cells], ids: Sequence[str], shares: int
) -> list[Row]:
    series, begin = unsettled
    cells = stacked(parts)
    if not len(cells):
        return []
    wide = min(FANS[-1], shares * fan_of(len(cells)))
    return rows_of(series, (begin, end), cells, ids, wide)


def _rows_by_time(series: Series, bucket: int, cells: Cells, ids: Sequence[str]) -> list[Row]:
    version = uuid.uuid4()
    rows = []
    for number in np.unique(cells.keys["at"]).tolist():
        at = window_at(number)
        part = cells.chosen(cells.keys["at"] == number)
        until = at + series.grain.length
        rows.append(Row(*series[:2], bucket, at, until, series.tag, version, *encoded(part, ids)))
    return rows


def times_of_layout(grain: Grain, at: datetime) -> list[datetime]:
    """Returns the times of the settled block that may contain this one."""
    return grain.times(grain.settled_start(at), grain.settled_end(at))
