"""Sums of hours and days in PostgreSQL: implements metrics/rollup/rollup_store.py."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, Final

import sqlalchemy as sa
from msgspec.structs import replace

from mudra.metrics.payload.catalogue import day_start
from mudra.metrics.rollup.recount import Compared, RecountPart
from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.stale import (
    ALL_AAS,
    DAY,
    HOUR,
    LIVE,
    MAX_DELAY,
    MAX_DELAY_OF_MANY,
    MAX_ROWS_TOGETHER,
    PRIORITIES,
    SETTLED_AFTER,
    Priority,
    Stale,
    few_enough,
)
from mudra.storage.database.among import is_among, is_among_given
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import long_tag, short_tag
from mudra.storage.metrics.partitions import (
    HOURS,
    RAW,
    has_partition,
    make_partition,
)
from mudra.storage.metrics.rollups.gathered import sums_by_cell
from mudra.storage.metrics.rollups.packed_rows import (
    OF_FIPS,
    Packed,
    put_packed,
    put_sums,
)
from mudra.storage.metrics.rollups.packed_sums import add_types, pack_types
from mudra.storage.metrics.rollups.pair_rows import put_pairs
from mudra.storage.metrics.rollups.raw_sums import Sums, sums_of_raw_rows
from mudra.storage.metrics.rollups.recount import aas_of, recount
from mudra.storage.metrics.rollups.rollup_delay import is_due
from mudra.storage.metrics.rollups.sums import (
    ROWS_AT_ONCE,
    SUMS,
    Part,
    copy_in,
    row_of,
    sums_query,
    within_times,
)
from mudra.storage.metrics.rollups.window_making import WindowMaking
from mudra.storage.metrics.tables import (
    SUMS_OF,
    metrics_hour,
    metrics_receipt,
    metrics_received,
    metrics_stale,
)

ROLLUP_S: Final = 60.0
"""The time limit of one statement of a roll-up."""
_STALE: Final = metrics_stale.c
_LIMIT: Final = sa.text(f"SET LOCAL statement_timeout = '{ROLLUP_S:.0f}s'")
_ADD_STALE: Final = sa.insert(metrics_stale)
_CLEAR: Final = sa.delete(metrics_stale).where(is_among_given(_STALE.id, "ids"))
_R: Final = metrics_receipt.c
_HOUR: Final = sa.func.date_trunc("hour", _R.window_at, "UTC")
_MARKS_OF: Final = sa.select(_STALE.id).where(
    *(_STALE.grain == sa.bindparam("grain"), _STALE.aa_id == sa.bindparam("aa_id")),
    *(_STALE.tag == sa.bindparam("tag"), _STALE.at.in_(sa.bindparam("ats", expanding=True))),
)
_DELETE: Final = {
    grain: sa.delete(table).where(
        table.c.at.in_(sa.bindparam("ats", expanding=True)),
        *(table.c.aa_id == sa.bindparam("aa_id"), table.c.tag == sa.bindparam("tag")),
    )
    for grain, table in SUMS_OF.items()
}
_BLOCKS: Final = (
    sa.select(_HOUR, sa.func.sum(_R.blocks))
    .where(
        *(_R.tag == sa.bindparam("tag"), _R.window_at >= sa.bindparam("begin")),
        _R.window_at < sa.bindparam("end"),
    )
    .group_by(_HOUR)
)
_BLOCKS_OF_AA: Final = _BLOCKS.where(_R.aa_id == sa.bindparam("aa_id"))
_OF_ONE: Final = sa.and_(_STALE.grain == "hour", _STALE.aa_id != ALL_AAS)
_LENGTH: Final = sa.case((_STALE.grain == "day", sa.literal(DAY)), else_=sa.literal(HOUR))
_IS_SUMMABLE: Final = sa.or_(_OF_ONE, _STALE.at + _LENGTH <= sa.bindparam("settled_at"))
"""Whether sums can be made: of an AA's hour while it runs, else when the time is over."""
_MARKS: Final = (
    sa.select(
        *(_STALE.grain, _STALE.aa_id, _STALE.tag, _STALE.at, _STALE.noted_at),
        sa.func.date_trunc("day", _STALE.at, "UTC").label("day"),
        sa.and_(_OF_ONE, _STALE.at > sa.bindparam("live_after")).label("live"),
        sa.case((_OF_ONE, sa.literal(MAX_DELAY)), else_=sa.literal(MAX_DELAY_OF_MANY)).label(
            "max_delay"
        ),
    )
    .where(_STALE.grain != "window", _IS_SUMMABLE)
    .subquery()
)
"""Stale marks with their day, whether they are live, and how long they may wait."""
_M: Final = _MARKS.c
_BEGIN: Final = sa.func.min(_M.at)
_ORDER: Final[dict[Priority, sa.ColumnElement[Any]]] = {
    Priority.LIVE_FIRST: _M.live.desc(),
    Priority.HOURS_BEFORE_DAYS: _M.grain.desc(),  # "hour" after "day"
    Priority.AAS_BEFORE_ALL: _M.aa_id == ALL_AAS,
    Priority.OLDEST_FIRST: _BEGIN,
}
_FIRST: Final = (
    sa.select(_M.grain, _M.aa_id, _M.tag, _BEGIN, _M.live)
    .group_by(_M.grain, _M.aa_id, _M.tag, _M.day, _M.live)
    .order_by(*(_ORDER[one] for one in PRIORITIES))
    .limit(1)
)
_FIRST_DUE: Final = _FIRST.having(is_due(_MARKS))
_HOURS_LIKE: Final = (
    sa.select(_M.at)
    .where(
        *(_M.grain == sa.bindparam("grain"), _M.aa_id == sa.bindparam("aa_id")),
        *(_M.tag == sa.bindparam("tag"), _M.live == sa.bindparam("live")),
        *(_M.at >= sa.bindparam("begin"), _M.at < sa.bindparam("end")),
    )
    .distinct()
    .order_by(_M.at)
)


class PostgresRollups:
    """Implements the port `RollupStore`; sums about so many raw rows in one transaction."""

    def __init__(self, transaction: Transaction, rows_together: int = MAX_ROWS_TOGETHER) -> None:
        self._tx = transaction
        self._rows_together = rows_together

    async def next_stale(self, *, delayed: bool) -> Stale | None:
        """Returns what to sum next: live first, hours before days, each AA's before those of all.

        Hours of one day are returned together, as long as they have few raw rows: each
        transaction costs as much as the sums of a small hour, and history is filled by days.
        """
        return await _next_stale(self._tx, self._rows_together, delayed=delayed)

    async def lock(self, stale: Stale) -> Sequence[int]:
        """Locks out other processes for this day of an AA and tag; returns the stale marks."""
        await self._tx.connection.execute(_LIMIT)
        day = day_start(stale.ats[0])
        await self._tx.lock_name(f"sums:{stale.grain}:{stale.aa_id}:{stale.tag}:{day.isoformat()}")
        marks = await self._tx.connection.scalars(
            _MARKS_OF, {"grain": stale.grain, **_of(stale), "ats": stale.ats}
        )
        return list(marks)

    async def sums_of_raw(self, stale: Stale) -> Sums | None:
        """Returns the sums of the raw rows of some hours, by hour; None where windows are left.

        Those of recent hours are made of the sums of their windows, of which few are new. Many
        are after an outage: then some are made, which stay, and the next transaction goes on. So
        is an older hour with more rows than one transaction sums; other ones are read at once.
        """
        making = WindowMaking(self._tx, self._rows_together)
        oldest = await making.drop_old()
        at_once = await self._few_rows(stale, tuple(at for at in stale.ats if at < oldest))
        found: dict[datetime, Mapping[Cell, Rollup]] = {}
        for at in stale.ats:
            if at not in at_once:
                of_hour = await making.hour(stale.aa_id, stale.tag, at, for_pages=at >= oldest)
                if of_hour is None:
                    return None
                found[at] = of_hour
        if not at_once:
            return found
        part = Part(stale.aa_id, tag=stale.tag)
        return {**await sums_of_raw_rows(self._tx, part, at_once, HOUR), **found}

    async def _few_rows(self, stale: Stale, hours: tuple[datetime, ...]) -> tuple[datetime, ...]:
        """Returns these hours where one transaction sums their raw rows, else none of them."""
        if not hours:
            return ()
        rows = await _raw_rows(self._tx, replace(stale, ats=hours))
        return hours if sum(rows.values()) <= self._rows_together else ()

    async def sums_of_hours(self, stale: Stale, day: datetime) -> Mapping[Cell, Rollup]:
        """Returns the sums of the hours of a day."""
        hours = [day + place * HOUR for place in range(DAY // HOUR)]
        wanted = within_times(metrics_hour.c.at, hours)
        found: dict[Cell, Rollup] = {}
        async for some in self._added_up(metrics_hour, wanted, Part(stale.aa_id, tag=stale.tag)):
            found |= some
        return found

    async def replace_over_aas(self, stale: Stale) -> None:
        """Replaces the sums over all AAs by those of the rows of each, some FIPs at a time."""
        table = SUMS_OF[stale.grain]
        await _drop(self._tx, stale)
        packed = []
        for at in stale.ats:
            types: dict[str, list[bytes]] = defaultdict(list)
            async for some in self._sums_over_aas(stale, at):
                rows = await asyncio.to_thread(_rows_of, {at: some})
                await copy_in(self._tx, table, SUMS, rows)
                for type_, sums in (await asyncio.to_thread(pack_types, some)).items():
                    types[type_].append(sums)
            packed.append(Packed(at, await asyncio.to_thread(add_types, types)))
        await put_packed(self._tx, OF_FIPS, stale, packed)

    async def _sums_over_aas(
        self, stale: Stale, at: datetime
    ) -> AsyncIterator[Mapping[Cell, Rollup]]:
        if stale.grain == "hour":
            of_windows = await WindowMaking(self._tx, self._rows_together).hour_of_all(
                stale.tag, at
            )
            if of_windows is not None:
                yield of_windows
                return
        table = SUMS_OF[stale.grain]
        wanted, part = table.c.at == at, Part(tag=stale.tag)
        async for some in self._added_up(table, wanted, part, over_aas=True):
            yield some

    async def _added_up(
        self,
        table: sa.Table,
        wanted: sa.ColumnElement[bool],
        part: Part,
        *,
        over_aas: bool = False,
    ) -> AsyncIterator[Mapping[Cell, Rollup]]:
        """Adds up rows of sums, those of some FIPs at a time: a day of a nation has a million."""
        c, number = table.c, sa.func.count()
        rows = await self._tx.connection.execute(
            sa.select(c.fip_id, number)
            .where(wanted, *part.of(table))
            .group_by(c.fip_id)
            .order_by(c.fip_id)
        )
        rows_of: dict[str, int] = {fip_id: count for fip_id, count in rows}  # noqa: C416  # rows are no pairs to mypy
        left = [*rows_of]
        while left:
            few = few_enough(left, rows_of, min(self._rows_together, ROWS_AT_ONCE))
            query = sums_query(table, sa.and_(wanted, is_among(c.fip_id, few)), part)
            summed = await self._tx.connection.execute(query)
            yield await sums_by_cell(summed, over_aas=over_aas)
            left = left[len(few) :]

    async def replace(self, stale: Stale, sums: Sums) -> None:
        """Replaces the stored sums of an AA, and those of the matrix."""
        if stale.grain == "hour":
            await make_partition(self._tx, HOURS, stale.ats[0])
        table = SUMS_OF[stale.grain]
        await _drop(self._tx, stale)
        await copy_in(self._tx, table, SUMS, await asyncio.to_thread(_rows_of, sums))
        await put_sums(self._tx, stale, sums)
        await put_pairs(self._tx, stale, sums)

    async def replace_received(self, stale: Stale, day: datetime) -> None:
        """Replaces the number of windows that an AA reported on a day, while receipts are kept."""
        await _put_received(self._tx, stale, day)

    async def are_sources_kept(self, stale: Stale) -> bool:
        """Returns whether retention keeps what these sums are made of; days of all AAs, always.

        No push adds to a partition that was dropped, so one that is missing was read as empty.
        """
        of_all = stale.aa_id == ALL_AAS
        if stale.grain == "day" and of_all:
            return True
        part = RAW if stale.grain == "hour" and not of_all else HOURS
        return await has_partition(self._tx, part, stale.ats[0])

    async def mark_stale(self, stale: Stale) -> None:
        """Marks sums as stale."""
        own = {"grain": stale.grain, **_of(stale)}
        await self._tx.connection.execute(_ADD_STALE, [{**own, "at": at} for at in stale.ats])

    async def clear(self, marks: Sequence[int]) -> None:
        """Deletes stale marks that were handled."""
        await self._tx.connection.execute(_CLEAR, {"ids": list(marks)})

    async def aas_of(self, day: datetime) -> Sequence[str] | None:
        """Returns the AAs that have reports or sums of a day; None without raw rows of it."""
        return await aas_of(self._tx, day)

    async def recount(self, part: RecountPart) -> Sequence[Compared]:
        """Compares sums with what they are made of; those that are stale are left out."""
        return await recount(self._tx, part)


async def _next_stale(tx: Transaction, rows_together: int, *, delayed: bool) -> Stale | None:
    now = await tx.now()
    times = {"live_after": now - LIVE, "settled_at": now - SETTLED_AFTER}
    first = _FIRST_DUE if delayed else _FIRST
    row = (await tx.connection.execute(first, times)).first()
    if row is None:
        return None
    grain, aa_id, tag, begin, live = row
    if grain == "day":
        return Stale(grain, aa_id, long_tag(tag), (begin,))
    like = {"grain": grain, "aa_id": aa_id, "tag": tag, "live": live}
    day = {"begin": begin, "end": day_start(begin) + DAY}
    hours = await tx.connection.scalars(_HOURS_LIKE, times | like | day)
    return await _limit_rows(tx, rows_together, Stale(grain, aa_id, long_tag(tag), tuple(hours)))


async def _limit_rows(tx: Transaction, rows_together: int, stale: Stale) -> Stale:
    """Returns as many of the hours, oldest first, as have few raw rows; at least one."""
    if len(stale.ats) == 1:
        return stale
    rows = await _raw_rows(tx, stale)
    return replace(stale, ats=tuple(few_enough(stale.ats, rows, rows_together)))


async def _raw_rows(tx: Transaction, stale: Stale) -> Mapping[datetime, int]:
    """Returns how many raw rows there are of each hour, those of replaced reports included."""
    blocks = await tx.connection.execute(
        _BLOCKS if stale.aa_id == ALL_AAS else _BLOCKS_OF_AA,
        {**_of(stale), "begin": stale.ats[0], "end": stale.ats[-1] + HOUR},
    )
    return {at: int(number) for at, number in blocks if at in stale.ats}


async def _drop(tx: Transaction, stale: Stale) -> None:
    await tx.connection.execute(_DELETE[stale.grain], {**_of(stale), "ats": stale.ats})


def _of(stale: Stale) -> Mapping[str, str]:
    return {"aa_id": stale.aa_id, "tag": short_tag(stale.tag)}


def _rows_of(sums: Sums) -> Sequence[tuple[object, ...]]:
    """Returns the rows to store in order of FIPs: the health of one FIP reads adjacent rows."""
    ordered = sorted(
        ((cell.fip_id, cell.type, at, cell) for at, cells in sums.items() for cell in cells),
        key=itemgetter(0, 1, 2),
    )
    return [row_of(at, cell, sums[at][cell]) for _, _, at, cell in ordered]


async def _put_received(tx: Transaction, stale: Stale, at: datetime) -> None:
    c, tag = metrics_received.c, short_tag(stale.tag)
    windows = await tx.connection.scalar(
        sa.select(sa.func.count()).where(
            _R.aa_id == stale.aa_id,
            _R.tag == tag,
            _R.version == 1,
            _R.window_at >= at,
            _R.window_at < at + DAY,
        )
    )
    if not windows:
        return  # sums come of reports: their receipts, which go by whole days, were deleted
    await tx.connection.execute(
        sa.delete(metrics_received).where(c.at == at, c.aa_id == stale.aa_id, c.tag == tag)
    )
    await tx.connection.execute(
        sa.insert(metrics_received).values(at=at, aa_id=stale.aa_id, tag=tag, windows=windows)
    )
