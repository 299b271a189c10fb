"""Sums that are stale, in PostgreSQL: implements metrics/rollup/rollup_store.py."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from mudra.metrics.payload.catalogue import day_start
from mudra.metrics.rollup.damage import BlockPlace
from mudra.metrics.rollup.recount import Compared, RecountPart
from mudra.metrics.rollup.stale import (
    ALL_AAS,
    CHARTS_KEPT,
    DAY,
    HOUR,
    LIVE,
    MAX_DELAY,
    MAX_DELAY_OF_MANY,
    PRIORITIES,
    SETTLED_AFTER,
    Priority,
    Stale,
)
from mudra.storage.database.among import is_among_given
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import Grain
from mudra.storage.metrics.blocks.stale_sums import is_due
from mudra.storage.metrics.blocks.sums.longer import make_longer
from mudra.storage.metrics.blocks.sums.making import delete_sums, replace_sums, source_of, sums_of
from mudra.storage.metrics.blocks.sums.recount import recount, recount_parts
from mudra.storage.metrics.blocks.sums.remaking import remake_sums
from mudra.storage.metrics.blocks.sums.settling import next_unsettled, settle, unsettle
from mudra.storage.metrics.blocks.writing import Series
from mudra.storage.metrics.partitions import BLOCK_OF, has_partition
from mudra.storage.metrics.stored_report import long_tag, short_tag
from mudra.storage.tables.metrics import metrics_receipt, metrics_received, metrics_stale
from mudra.storage.tables.metrics_blocks import metrics_block

ROLLUP_S: Final = 60.0
"""The time limit of one statement of a roll-up."""
_TOGETHER: Final = 6
"""Hours or windows of a day that one transaction sums: of a nation some seconds of work."""
_S: Final = metrics_stale.c
_R: Final = metrics_receipt.c
_C: Final = metrics_received.c
_ADD_STALE: Final = sa.insert(metrics_stale)
_CLEAR: Final = sa.delete(metrics_stale).where(is_among_given(_S.id, "ids"))
_MARKS_OF: Final = sa.select(_S.id).where(
    *(_S.grain == sa.bindparam("grain"), _S.aa_id == sa.bindparam("aa_id")),
    *(_S.tag == sa.bindparam("tag"), _S.at.in_(sa.bindparam("ats", expanding=True))),
)
_OF_ALL: Final = _S.aa_id == ALL_AAS
_LENGTH: Final = sa.case((_S.grain == "day", sa.literal(DAY)), else_=sa.literal(HOUR))
_AT_ONCE: Final = sa.or_(
    sa.and_(_S.grain == "hour", ~_OF_ALL), sa.and_(_S.grain == "window", _OF_ALL)
)
"""The hour of an AA is summed while it runs, and a window over all AAs with each report."""
_IS_SUMMABLE: Final = sa.or_(_AT_ONCE, _S.at + _LENGTH <= sa.bindparam("settled_at"))
_MARKS: Final = (
    sa.select(
        *(_S.grain, _S.aa_id, _S.tag, _S.at, _S.noted_at),
        sa.func.date_trunc("day", _S.at, "UTC").label("day"),
        sa.and_(_AT_ONCE, _S.at > sa.bindparam("live_after")).label("live"),
        sa.case((_AT_ONCE, sa.literal(MAX_DELAY)), else_=sa.literal(MAX_DELAY_OF_MANY)).label(
            "max_delay"
        ),
    )
    # Windows of one AA are for detection to judge.
    .where(sa.or_(_S.grain != "window", _OF_ALL), _IS_SUMMABLE)
    .subquery()
)
"""Stale marks with their day, whether they are live, and how long they may wait."""
_M: Final = _MARKS.c
_BEGIN: Final = sa.func.min(_M.at).label("begin")
_ORDER: Final[dict[Priority, sa.ColumnElement[Any]]] = {
    Priority.LIVE_FIRST: _M.live.desc(),
    Priority.HOURS_BEFORE_DAYS: _M.grain.desc(),  # "window", "hour", "day"
    Priority.AAS_BEFORE_ALL: _M.aa_id == ALL_AAS,
    Priority.OLDEST_FIRST: _BEGIN,
}
_SAME: Final = (_M.grain, _M.aa_id, _M.tag, _M.day, _M.live)
_FIRST: Final = (
    sa.select(*_SAME, _BEGIN)
    .group_by(*_SAME)
    .order_by(*(_ORDER[one] for one in PRIORITIES))
    .limit(1)
)
_FIRST_DUE: Final = _FIRST.having(is_due(_MARKS))
_B: Final = metrics_block.c
_UNREAD: Final = (
    sa.select(_B.tag, _B.at)
    .distinct()
    .where(
        *(_B.aa_id == ALL_AAS, _B.grain == Grain.WINDOW.value),
        # The other bound lets the planner skip the partitions of older days, which retention drops.
        *(_B.at < sa.bindparam("before"), _B.at >= sa.bindparam("since")),
    )
)
_LIMIT: Final = sa.text(f"SET LOCAL statement_timeout = '{ROLLUP_S:.0f}s'")


class BlockSums:
    """Stored sums, and the stale ones among them."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def next_stale(self, *, delayed: bool, without: Sequence[Stale] = ()) -> Stale | None:
        """Returns what to sum next: live first, hours before days, each AA's before those of all.

        Times of one day are returned together, some at a time: history is filled by days.
        """
        now = await self._tx.now()
        others = _others(without)
        times = {"live_after": now - LIVE, "settled_at": now - SETTLED_AFTER}
        first = (_FIRST_DUE if delayed else _FIRST).where(*others)
        rows = (await self._tx.connection.execute(_times_like(first, others), times)).all()
        if not rows:
            return None
        grain, aa_id, tag, _ = rows[0]
        return Stale(grain, aa_id, long_tag(tag), tuple(at for *_, at in rows))

    async def lock(self, stale: Stale) -> Sequence[int]:
        """Locks out other processes for this day of an AA and tag; returns the stale marks."""
        await self._tx.connection.execute(_LIMIT)
        day = day_start(stale.ats[0])
        await self._tx.lock_name(f"sums:{stale.grain}:{stale.aa_id}:{stale.tag}:{day.isoformat()}")
        own = {"grain": stale.grain, "aa_id": stale.aa_id, "tag": short_tag(stale.tag)}
        marks = await self._tx.connection.scalars(_MARKS_OF, {**own, "ats": stale.ats})
        return list(marks)

    async def make(self, stale: Stale) -> bool:
        """Replaces sums by the sums of what they are made of.

        Returns False, and changes nothing, where retention has dropped that. It is asked after the
        blocks were read: what is kept now was kept then. No push adds to a dropped partition.
        """
        series = Series(stale.aa_id, Grain(stale.grain), short_tag(stale.tag))
        made = {at: await sums_of(self._tx, series, at) for at in stale.ats}
        source = None if series == (ALL_AAS, Grain.DAY, series.tag) else source_of(series)
        if source and not await has_partition(self._tx, BLOCK_OF[source], stale.ats[0]):
            return False
        if series.grain is Grain.WINDOW:
            await replace_sums(self._tx, series, made)
            await self._drop_unread_windows()
        else:
            await unsettle(self._tx, series, stale.ats[0])  # all are of one day
            await replace_sums(self._tx, series, made)
            await make_longer(self._tx, series, stale.ats)
        return True

    async def _drop_unread_windows(self) -> None:
        """Deletes sums over all AAs of windows that no chart reads any more, with what is derived.

        It is read only where these sums are: reports take its place.
        """
        before = await self._tx.now() - CHARTS_KEPT - HOUR
        times = {"before": before, "since": before - 2 * DAY}
        for tag, at in (await self._tx.connection.execute(_UNREAD, times)).all():
            await delete_sums(self._tx, Series(ALL_AAS, Grain.WINDOW, tag), [at])

    async def replace_received(self, stale: Stale, day: datetime) -> None:
        """Replaces the number of windows that an AA reported on a day, while receipts are kept."""
        tag = short_tag(stale.tag)
        windows = await self._tx.connection.scalar(
            sa.select(sa.func.count()).where(
                *(_R.aa_id == stale.aa_id, _R.tag == tag, _R.version == 1),
                *(_R.window_at >= day, _R.window_at < day + DAY),
            )
        )
        if not windows:
            return  # sums come of reports: their receipts, which go by whole days, were deleted
        await self._tx.connection.execute(
            sa.delete(metrics_received).where(_C.at == day, _C.aa_id == stale.aa_id, _C.tag == tag)
        )
        await self._tx.connection.execute(
            sa.insert(metrics_received).values(at=day, aa_id=stale.aa_id, tag=tag, windows=windows)
        )

    async def mark_stale(self, stale: Stale) -> None:
        """Marks sums as stale."""
        own = {"grain": stale.grain, "aa_id": stale.aa_id, "tag": short_tag(stale.tag)}
        await self._tx.connection.execute(_ADD_STALE, [{**own, "at": at} for at in stale.ats])

    async def clear(self, marks: Sequence[int]) -> None:
        """Deletes stale marks that were handled."""
        await self._tx.connection.execute(_CLEAR, {"ids": list(marks)})

    async def remake(self, stale: Stale) -> None:
        """Makes these sums again, whatever is there: damaged ones, and all of their settled block.

        Raises NothingFiner where what they are made of is kept no more, BlockDamaged where that is
        damaged; nothing is changed then.
        """
        await self._tx.take_time(ROLLUP_S)
        series = Series(stale.aa_id, Grain(stale.grain), short_tag(stale.tag))
        for at in stale.ats:
            await remake_sums(self._tx, series, at)

    async def settle_next(self, now: datetime, *, without: Sequence[BlockPlace] = ()) -> bool:
        """Lays out by FIP the oldest sums that can change no more; returns whether there were.

        Those of which a block is at one of these places are left as they are.
        """
        await self._tx.take_time(ROLLUP_S)
        unsettled = await next_unsettled(self._tx, now, without)
        if unsettled is not None:
            times = await settle(self._tx, unsettled)
            await make_longer(self._tx, unsettled.series, times)
        return unsettled is not None

    async def recount_parts(self, day: datetime) -> Sequence[RecountPart]:
        """Returns the parts in which the sums of a day are counted again."""
        return await recount_parts(self._tx, day)

    async def recount(self, part: RecountPart) -> Sequence[Compared]:
        """Compares sums with what they are made of; those that are stale are left out."""
        return await recount(self._tx, part)


def _times_like(first: sa.Select[Any], others: Sequence[sa.ColumnElement[bool]]) -> sa.Select[Any]:
    """Returns the statement of the times of these sums' day: one statement sees one state of marks.

    In two, another process could clear the marks between them.
    """
    found = first.cte("first").c
    return (
        sa.select(_M.grain, _M.aa_id, _M.tag, _M.at)
        .distinct()
        .where(
            *(_M.grain == found.grain, _M.aa_id == found.aa_id, _M.tag == found.tag),
            *(_M.at >= found.begin, _M.at < found.day + DAY, _M.live == found.live, *others),
        )
        .order_by(_M.at)
        .limit(_TOGETHER)
    )


def _others(than: Sequence[Stale]) -> Sequence[sa.ColumnElement[bool]]:
    """Returns what is true of marks of other sums."""
    keys = [(one.grain, one.aa_id, short_tag(one.tag), at) for one in than for at in one.ats]
    return [sa.tuple_(_M.grain, _M.aa_id, _M.tag, _M.at).not_in(keys)] if keys else []
