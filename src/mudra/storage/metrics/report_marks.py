"""The knowledge about reports without their numbers: implements metrics/ports.py ReportMarks."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import aggregate_order_by

from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.rollup.coverage import FOREVER, Reported, TimeRange
from mudra.metrics.rollup.marks import DayMark, RangeMark, ReportsMark
from mudra.metrics.rollup.stale import DAY
from mudra.metrics.sums.selection import StaleSums, valid_days
from mudra.storage.database.among import is_among
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.stale_sums import stale_sums
from mudra.storage.metrics.stored_report import long_tag
from mudra.storage.tables.metrics import metrics_held, metrics_receipt, metrics_received

_R: Final = metrics_receipt.c
_H: Final = metrics_held.c


class PostgresReportMarks:
    """The reports that came, and marks by which a reader sees that others came since."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._noted_before: dict[TimeRange, StaleSums] = {}

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
        days = valid_days(within, await self._noted(within, aa_id))
        sums, reports = None, list[ReportsMark]()
        if days:
            sums = await self._tx.connection.scalar(
                sa.select(_versions_of_sums()).where(
                    is_among(metrics_received.c.at, days), *_of_aa(metrics_received, aa_id)
                )
            )
        for span in _without(within, days):
            query = _reports_query(span).where(*_of_aa(metrics_receipt, aa_id))
            reports.append(ReportsMark(*(await self._tx.connection.execute(query)).one()))
        return RangeMark(days, sums or "", tuple(reports))

    async def received(self, within: TimeRange, due_until: datetime = FOREVER) -> Reported:
        """Returns how many windows each AA reported; those from `due_until` on are early."""
        valid = valid_days(within, await self._noted(within, None))
        days = [day for day in valid if day + DAY <= due_until]
        found: dict[tuple[str, Tag], int] = defaultdict(int)
        early: dict[tuple[str, Tag], int] = {}
        if days:
            c = metrics_received.c
            counted = await self._tx.connection.execute(
                sa.select(c.aa_id, c.tag, sa.func.sum(c.windows))
                .where(is_among(c.at, days))
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

    async def received_by_day(
        self, within: TimeRange
    ) -> Mapping[datetime, Mapping[tuple[str, Tag], int]]:
        """Returns how many windows each AA reported on each day (UTC), by one query of receipts."""
        day = sa.func.date_trunc("day", _R.window_at, "UTC")
        rows = await self._tx.connection.execute(
            sa.select(day, _R.aa_id, _R.tag, sa.func.count())
            .where(_R.version == 1, _R.window_at >= within.start, _R.window_at < within.end)
            .group_by(day, _R.aa_id, _R.tag)
        )
        found: dict[datetime, dict[tuple[str, Tag], int]] = defaultdict(dict)
        for at, aa_id, tag, count in rows:
            found[at][aa_id, long_tag(tag)] = count
        return found

    async def _noted(self, within: TimeRange, aa_id: str | None) -> StaleSums:
        """Returns what was stale when it was first asked for, which serves counts and marks alone.

        Sums are read by what is stale after their mark was read: those under a mark may be newer
        than it, and never older.
        """
        if within not in self._noted_before:
            self._noted_before[within] = await stale_sums(self._tx, within)
        found = self._noted_before[within]
        return found if aa_id is None else found.of_aa(aa_id)


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


def _without(within: TimeRange, days: Sequence[datetime]) -> list[TimeRange]:
    """Returns what is left of a range without these days, which are in order."""
    left: list[TimeRange] = []
    at = within.start
    for day in days:
        if at < day:
            left.append(TimeRange(at, day))
        at = day + DAY
    return [*left, TimeRange(at, within.end)] if at < within.end else left
