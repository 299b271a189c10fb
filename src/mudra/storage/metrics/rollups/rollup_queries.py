"""Sums for health: implements metrics/ports.py RollupQueries, always equal to the raw rows."""

from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.engine import RowMapping

from mudra.metrics.payload.catalogue import WINDOW, Tag, day_start
from mudra.metrics.ports import Pair, SumsOfFips
from mudra.metrics.rollup.coverage import FOREVER, Reported, TimeRange
from mudra.metrics.rollup.grain_selection import (
    Notes,
    Rows,
    SeriesKey,
    Sources,
    sources,
    sources_of_all,
)
from mudra.metrics.rollup.marks import DayMark, RangeMark, ReportsMark
from mudra.metrics.rollup.pair import ALL_CALLS, PairSums
from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.stale import ALL_AAS, DAY
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import long_tag, short_tag
from mudra.storage.metrics.rollups.aa_sums import AaSums
from mudra.storage.metrics.rollups.gathered import Gathered
from mudra.storage.metrics.rollups.packed_reads import (
    WindowSums,
    find_packed,
    packed_by_aa,
    packed_by_type,
)
from mudra.storage.metrics.rollups.pair_count import has_more_pairs
from mudra.storage.metrics.rollups.pair_queries import PairQueries
from mudra.storage.metrics.rollups.sums import (
    ROWS_AT_ONCE,
    Part,
    chosen_rows,
    mappings_of,
    raw_query,
    sums_query,
    within_times,
)
from mudra.storage.metrics.tables import (
    SUMS_OF,
    metrics_held,
    metrics_raw,
    metrics_receipt,
    metrics_received,
    metrics_stale,
)

_R: Final = metrics_receipt.c
_H: Final = metrics_held.c


class PostgresRollupQueries:
    """Sums of any range."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._noted_before: dict[tuple[TimeRange, str | None], Notes] = {}
        self._windows = WindowSums(transaction)
        self._pairs = PairQueries(transaction)

    async def totals(
        self, within: TimeRange, *, aa_id: str | None = None, fip_id: str | None = None
    ) -> Mapping[Cell, Rollup]:
        """Returns the sums of every cell that had traffic."""
        found: dict[Cell, Rollup] = {}
        async for sums in self.totals_by_type(within, aa_id=aa_id, fip_id=fip_id):
            found |= sums
        return found

    async def totals_by_type(
        self, within: TimeRange, *, aa_id: str | None = None, fip_id: str | None = None
    ) -> AsyncIterator[Mapping[Cell, Rollup]]:
        """Returns the same, of one tag and type after the other."""
        part = Part(aa_id, fip_id)
        wide = await self._widened(within)
        stale = await self._stale_series(wide, aa_id)
        # Those of one FIP are few, and looked up by its key.
        used = sources(wide, stale, await self._windows.since() if fip_id is None else None)
        gathered = Gathered()
        raw = await self._read(used, part, gathered)
        async for sums in gathered.by_type(self._raw_rows(raw, part), fip_id):
            yield sums

    async def over_aas_by_type(
        self,
        within: TimeRange,
        *,
        fip_id: str | None = None,
        tag: Tag | None = None,
        codes: Collection[str] = (),
    ) -> AsyncIterator[Mapping[Cell, Rollup]]:
        """Returns the same over all AAs, of all types or these: `aa_id` of each cell is empty.

        Much cheaper.
        """
        part = Part(None, fip_id, tag, frozenset(codes) or None)
        wide = await self._widened(within)
        stale = await self._stale_series(wide, None)
        since = await self._windows.since()
        used = sources_of_all(wide, stale, since, of_one_grain=fip_id is None)
        gathered = Gathered(over_aas=True)
        raw = await self._read(used.rest, part, gathered)
        of_all = replace(part, aa_id=ALL_AAS)
        await self._read_sums("day", Rows(used.days), of_all, gathered)
        await self._read_sums("hour", Rows(used.hours), of_all, gathered)
        async for totals in gathered.by_type(self._raw_rows(raw, part), fip_id):
            yield totals

    async def of_aas(
        self, within: TimeRange, *, aa_id: str | None = None, fip_id: str | None = None
    ) -> Mapping[Cell, Rollup]:
        """Returns those of each AA over all FIPs, or to one: `fip_id` of each cell is empty."""
        wide = await self._widened(within)
        stale = await self._stale_series(wide, aa_id)
        used = sources(wide, stale, await self._windows.since() if fip_id is None else None)
        return await AaSums(self._tx).sums(used, Part(aa_id, fip_id))

    async def has_more_pairs(self, within: TimeRange, limit: int) -> bool:
        """Returns whether more pairs than this reported within an hour or day of a range."""
        return await has_more_pairs(self._tx, within, limit)

    async def pairs(
        self, within: TimeRange, codes: Collection[str] = (ALL_CALLS,)
    ) -> Mapping[Pair, PairSums]:
        """Returns the sums for the matrix, over some types of request together or all calls."""
        return await self._pairs.sums(await self._pair_sources(within), codes)

    async def of_fips(self, within: TimeRange) -> SumsOfFips:
        """Returns the sums of each FIP over all calls, and its pairs where they are contested."""
        return await self._pairs.of_fips(await self._pair_sources(within))

    async def pairs_of_fip(
        self, within: TimeRange, fip_id: str, codes: Collection[str]
    ) -> Mapping[str, Mapping[Pair, PairSums]]:
        """Returns the sums of the pairs of one FIP, by type of request."""
        return await self._pairs.of_fip(await self._pair_sources(within), fip_id, codes)

    async def contested_pairs(
        self, within: TimeRange, codes: Collection[str]
    ) -> AsyncIterator[tuple[str, Mapping[Pair, PairSums]]]:
        """Returns for each type the pairs of FIPs of which some AA may not see good calls."""
        async for found in self._pairs.contested(await self._pair_sources(within), codes):
            yield found

    async def marks(self, within: TimeRange, reports_from: datetime) -> Mapping[datetime, DayMark]:
        """Returns a mark of each day (UTC) with sums or reports.

        Its reports are asked for from a day on: before, a day changes with its sums alone.
        """
        day = sa.func.date_trunc("day", _R.window_at, "UTC")
        rows = await self._tx.connection.execute(
            _reports_query(TimeRange(max(within.start, reports_from), within.end))
            .add_columns(day)
            .group_by(day)
        )
        reports = {at: ReportsMark(*mark) for *mark, at in rows}
        c = metrics_received.c
        made = await self._tx.connection.execute(
            sa.select(c.at, _versions_of_sums())
            .where(c.at >= within.start, c.at < within.end)
            .group_by(c.at)
        )
        sums: dict[datetime, str] = {at: text for at, text in made}  # noqa: C416  # rows are no pairs to mypy
        return {at: DayMark(sums.get(at, ""), reports.get(at)) for at in {*sums, *reports}}

    async def reported_until(self, within: TimeRange) -> datetime | None:
        """Returns the end of the last window that any AA reported; None for no report."""
        last: datetime | None = await self._tx.connection.scalar(
            sa.select(sa.func.max(_R.window_at)).where(
                _R.window_at >= within.start, _R.window_at < within.end
            )
        )
        return last + WINDOW if last else None

    async def mark(self, within: TimeRange, aa_id: str | None = None) -> RangeMark:
        """Returns a mark of a range; while it is the same, so are all sums.

        A late, a replaced and a held report each have a receipt, and one that is admitted is
        decided. Each makes the sums of its day stale, so that of a day with sums no receipt is
        read: a nation has 350,000 of a month.
        """
        days = sources_of_all(within, await self._noted(within, aa_id)).days
        sums, reports = None, list[ReportsMark]()
        if days:
            sums = await self._tx.connection.scalar(
                sa.select(_versions_of_sums()).where(
                    within_times(metrics_received.c.at, days), *_of_aa(metrics_received, aa_id)
                )
            )
        for span in _without(within, days):
            query = _reports_query(span).where(*_of_aa(metrics_receipt, aa_id))
            reports.append(ReportsMark(*(await self._tx.connection.execute(query)).one()))
        return RangeMark(days, sums or "", tuple(reports))

    async def received(self, within: TimeRange, due_until: datetime = FOREVER) -> Reported:
        """Returns how many windows each AA reported; those from `due_until` on are early."""
        used = sources_of_all(within, await self._noted(within, None))
        days = [day for day in used.days if day + DAY <= due_until]
        found: dict[tuple[str, Tag], int] = defaultdict(int)
        early: dict[tuple[str, Tag], int] = {}
        if days:
            c = metrics_received.c
            counted = await self._tx.connection.execute(
                sa.select(c.aa_id, c.tag, sa.func.sum(c.windows))
                .where(within_times(c.at, days))
                .group_by(c.aa_id, c.tag)
            )
            for aa_id, tag, count in counted:
                found[(aa_id, long_tag(tag))] += count
        not_due = sa.func.count().filter(_R.window_at >= due_until)
        for span in _without(within, days):
            receipts = await self._tx.connection.execute(
                sa.select(_R.aa_id, _R.tag, sa.func.count(), not_due)
                .where(_R.version == 1, _R.window_at >= span.start, _R.window_at < span.end)
                .group_by(_R.aa_id, _R.tag)
            )
            for aa_id, tag, count, of_early in receipts:
                found[(aa_id, long_tag(tag))] += count
                if of_early:  # of the last span alone
                    early[(aa_id, long_tag(tag))] = of_early
        return Reported(found, early)

    async def _pair_sources(self, within: TimeRange) -> Sources:
        wide = await self._widened(within)
        stale = await self._stale_series(wide, None)
        return sources(wide, _of_tag(stale, short_tag(Tag.REQUESTS)))

    async def _read(self, used: Sources, part: Part, gathered: Gathered) -> Rows:
        """Reads what has sums; returns what has to be read raw."""
        await self._read_sums("day", used.days, part, gathered)
        await self._read_sums("hour", used.hours, part, gathered)
        summed, windows = await self._windows.read(used.windows, part, over_aas=gathered.over_aas)
        for row in summed:
            for type_, sums in row.types.items():
                gathered.packed(row.key.aa_id, row.key.tag, type_, sums)
        return windows

    async def _raw_rows(self, windows: Rows, part: Part) -> AsyncIterator[Sequence[RowMapping]]:
        """Gives raw rows in the order of tag and type."""
        if windows.times or windows.only:
            query = raw_query(windows, part).order_by(metrics_raw.c.tag, metrics_raw.c.type)
            async for rows in self._tx.in_parts(query, ROWS_AT_ONCE):
                yield mappings_of(rows)

    async def _read_sums(self, grain: str, rows: Rows, part: Part, gathered: Gathered) -> None:
        if part.fip_id is not None:
            await self._read_of_fip(SUMS_OF[grain], rows, part, gathered)
        elif part.aa_id is not None:
            packed = await find_packed(self._tx, grain, rows, part)
            for (tag, type_), sums in (await packed.together()).items():
                gathered.packed(part.aa_id, tag, type_, sums)
        elif gathered.over_aas:
            async for tag, type_, sums in packed_by_type(self._tx, grain, rows, part):
                gathered.packed(ALL_AAS, tag, type_, sums)
        else:
            async for some in packed_by_aa(self._tx, grain, rows, part):
                for row in some:
                    for type_, sums in row.types.items():
                        gathered.packed(row.key.aa_id, row.key.tag, type_, sums)

    async def _read_of_fip(
        self, table: sa.Table, rows: Rows, part: Part, gathered: Gathered
    ) -> None:
        """Reads the few rows of one FIP, by its key."""
        if rows.times or rows.only:
            query = sums_query(table, chosen_rows(table, table.c.at, rows), part)
            async for of_fip in self._tx.in_parts(query, ROWS_AT_ONCE):
                await gathered.add_sums(of_fip)

    async def _widened(self, within: TimeRange) -> TimeRange:
        """Extends a range to the end of the day if nothing was received later: fewer rows."""
        beyond = await self._tx.connection.scalar(
            sa.select(sa.literal(1)).where(_R.window_at >= within.end).limit(1)
        )
        day = day_start(within.end)
        end = within.end if beyond or day == within.end else day + DAY
        return TimeRange(within.start, end)

    async def _noted(self, within: TimeRange, aa_id: str | None) -> Notes:
        """Returns what was stale when it was first asked for, which serves counts and marks alone.

        Sums are read by what is stale after their mark was read: those under a mark may be newer
        than it, and never older.
        """
        if (within, aa_id) not in self._noted_before:
            self._noted_before[within, aa_id] = await self._stale_series(within, aa_id)
        return self._noted_before[within, aa_id]

    async def _stale_series(self, within: TimeRange, aa_id: str | None) -> Notes:
        c = metrics_stale.c
        rows = await self._tx.connection.execute(
            sa.select(c.grain, c.aa_id, c.tag, c.at)
            .distinct()
            .where(
                c.at >= day_start(within.start),
                c.at < within.end,
                c.grain != "window",
                *([c.aa_id == aa_id] if aa_id is not None else []),
            )
        )
        found: dict[str, set[SeriesKey]] = {"day": set(), "hour": set()}
        for grain, aa, tag, at in rows:
            found[grain].add(SeriesKey(aa, tag, at))
        return Notes(frozenset(found["day"]), frozenset(found["hour"]))


def _reports_query(within: TimeRange) -> sa.Select[int, Any, int, Any]:
    """Returns the query for a `ReportsMark`."""
    held = sa.and_(_H.aa_id == _R.aa_id, _H.receipt_id == _R.receipt_id)
    return (
        sa.select(
            *(sa.func.count(), sa.func.max(_R.received_at)),
            *(sa.func.count(_H.decided_at), sa.func.max(_H.decided_at)),
        )
        .join_from(metrics_receipt, metrics_held, held, isouter=True)
        .where(_R.window_at >= within.start, _R.window_at < within.end)
    )


def _of_aa(table: sa.Table, aa_id: str | None) -> Sequence[sa.ColumnElement[bool]]:
    return [] if aa_id is None else [table.c.aa_id == aa_id]


def _versions_of_sums() -> sa.ColumnElement[str]:
    """Returns another text once the sums of a day were made again: its rows are written then."""
    c = metrics_received.c
    version = c.aa_id + c.tag + sa.literal_column("metrics_received.xmin::text")
    in_order = aggregate_order_by(sa.literal(" "), c.at, c.aa_id, c.tag)
    return sa.func.md5(sa.func.string_agg(version, in_order))


def _of_tag(stale: Notes, tag: str) -> Notes:
    return Notes(
        frozenset(one for one in stale.days if one.tag == tag),
        frozenset(one for one in stale.hours if one.tag == tag),
    )


def _without(within: TimeRange, days: Sequence[datetime]) -> list[TimeRange]:
    """Returns what is left of a range without these days, which are in order."""
    left: list[TimeRange] = []
    at = within.start
    for day in days:
        if at < day:
            left.append(TimeRange(at, day))
        at = day + DAY
    return [*left, TimeRange(at, within.end)] if at < within.end else left
