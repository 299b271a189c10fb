"""Implausible reports in PostgreSQL: implements metrics/payload/held_reports.py."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, cast

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping

from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.held_reports import HeldReport, HeldState
from mudra.metrics.payload.ingest_rule import Receipt
from mudra.metrics.payload.plausibility import HISTORY, SETTLED, Doubt, ReportedVolume
from mudra.metrics.payload.report_facts import StorableReport
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.reports import PostgresReports, Row, receipt_of
from mudra.storage.metrics.stored_report import long_tag, short_tag
from mudra.storage.tables.metrics import metrics_held, metrics_receipt

_R: Final = metrics_receipt.c
_H: Final = metrics_held.c
_UNDECIDED: Final = sa.select(_H.receipt_id).where(_H.state != HeldState.ADMITTED.value)
_COUNTED: Final = _R.receipt_id.not_in(_UNDECIDED)
_OF_AA: Final = _R.aa_id == sa.bindparam("aa_id")
_OF_TAG: Final = _R.tag == sa.bindparam("tag")
_SINCE: Final = _R.window_at >= sa.bindparam("since")
_DAY: Final = (
    sa.select(sa.func.count().label("windows"), sa.func.max(_R.calls).label("peak"))
    .where(*(_OF_AA, _OF_TAG, _COUNTED, _SINCE), _R.window_at < sa.bindparam("until"))
    .group_by(sa.func.date_trunc("day", _R.window_at, "UTC"))
    .subquery()
)
_OWN: Final = sa.select(
    sa.func.coalesce(sa.func.sum(_DAY.c.windows), 0).label("windows"),
    sa.func.coalesce(sa.func.percentile_disc(0.5).within_group(_DAY.c.peak), 0).label("peak"),
).subquery()
_ADMITTED: Final = (
    sa.select(sa.func.coalesce(sa.func.max(_R.calls), 0))
    .join(metrics_held)
    .where(*(_OF_AA, _OF_TAG, _H.state == HeldState.ADMITTED.value, _SINCE))
)
_OTHERS: Final = sa.select(
    sa.func.coalesce(sa.func.percentile_disc(0.5).within_group(_R.calls), 0)
).where(
    *(_R.window_at == sa.bindparam("window_at"), _R.aa_id != sa.bindparam("aa_id")),
    *(_OF_TAG, _COUNTED),
)
_VOLUME: Final = sa.select(
    *(_OWN.c.windows, _OWN.c.peak), _ADMITTED.scalar_subquery(), _OTHERS.scalar_subquery()
)
"""One statement: each takes a push a millisecond."""


class PostgresHeldReports:
    """Held reports, and the volume of those that are not."""

    def __init__(self, transaction: Transaction, reports: PostgresReports) -> None:
        self._tx = transaction
        self._reports = reports

    async def volume(self, aa_id: str, tag: Tag, window: datetime) -> ReportedVolume:
        """Returns what was reported so far and not held."""
        found = await self._tx.connection.execute(
            _VOLUME,
            {
                "aa_id": aa_id,
                "tag": short_tag(tag),
                "since": window - HISTORY - SETTLED,
                "until": window - SETTLED,
                "window_at": window,
            },
        )
        return ReportedVolume(*(int(number) for number in found.one()))

    async def hold(self, receipt: Receipt, checked: StorableReport, doubt: Doubt) -> bool:
        """Keeps a report with its receipt, apart from what is counted.

        Returns whether no other one of the AA waits.
        """
        other = await self._tx.connection.scalar(
            sa.select(sa.literal(1))
            .select_from(metrics_held)
            .join(metrics_receipt)
            .where(_H.state == HeldState.WAITING.value, _R.aa_id == receipt.key.aa_id)
            .limit(1)
        )
        await self._reports.hear(receipt, checked.calls)
        await self._tx.connection.execute(
            sa.insert(metrics_held).values(
                receipt_id=receipt.receipt_id,
                aa_id=receipt.key.aa_id,
                buckets=checked.buckets,
                doubt=doubt.what,
                claimed=doubt.claimed,
                plausible=doubt.limit,
                state=HeldState.WAITING.value,
            )
        )
        return other is None

    async def latest(
        self, limit: int, state: HeldState | None, aa_id: str | None = None
    ) -> Sequence[HeldReport]:
        """Returns held reports, the latest first; `aa_id` None is for all AAs."""
        query = _SELECT.order_by(_R.received_at.desc(), _R.receipt_id).limit(limit)
        if state is not None:
            query = query.where(_H.state == state.value)
        if aa_id is not None:
            query = query.where(_R.aa_id == aa_id)
        return [_held(row) for row in (await self._tx.connection.execute(query)).mappings()]

    async def find(self, receipt_id: str) -> HeldReport | None:
        """Returns one, locked with its AA until the transaction ends; None without it."""
        aa_id = await self._tx.connection.scalar(
            sa.select(_R.aa_id).join(metrics_held).where(_H.receipt_id == receipt_id)
        )
        if aa_id is None:
            return None
        await self._reports.lock(aa_id)
        row = (
            (await self._tx.connection.execute(_SELECT.where(_H.receipt_id == receipt_id)))
            .mappings()
            .one()
        )
        return _held(row)

    async def is_latest(self, held: HeldReport) -> bool:
        """Returns whether the AA has not reported the window again since."""
        latest = await self._tx.connection.scalar(
            sa.select(_R.receipt_id)
            .where(
                _R.aa_id == held.aa_id,
                _R.tag == short_tag(held.tag),
                _R.window_at == held.window,
            )
            .order_by(_R.version.desc())
            .limit(1)
        )
        return latest == held.receipt_id

    async def decide(self, held: HeldReport, state: HeldState, by: str) -> HeldReport:
        """Records the decision; an admitted report is counted from now on."""
        now = await self._tx.now()
        if state is HeldState.ADMITTED:
            rows = await self._tx.connection.execute(
                sa.select(metrics_receipt, _H.buckets)
                .join(metrics_held)
                .where(_H.receipt_id == held.receipt_id)
            )
            row = rows.mappings().one()
            await self._reports.count(receipt_of(cast("Row", row)), cast("bytes", row["buckets"]))
        await self._tx.connection.execute(
            sa.update(metrics_held)
            .where(_H.receipt_id == held.receipt_id)
            .values(state=state.value, decided_by=by, decided_at=now)
        )
        return HeldReport(
            held.receipt_id, held.aa_id, held.tag, held.window, held.received_at, held.doubt,
            state, by, now,
        )  # fmt: skip  # in the order of HeldReport


_SELECT: Final = sa.select(
    *(_H.receipt_id, _R.aa_id, _R.tag, _R.window_at, _R.received_at),
    *(_H.doubt, _H.claimed, _H.plausible, _H.state, _H.decided_by, _H.decided_at),
).join_from(metrics_held, metrics_receipt)


def _held(row: RowMapping) -> HeldReport:
    return HeldReport(
        row["receipt_id"],
        row["aa_id"],
        long_tag(row["tag"]),
        row["window_at"],
        row["received_at"],
        Doubt(row["doubt"], int(row["claimed"]), int(row["plausible"])),
        HeldState(row["state"]),
        row["decided_by"],
        row["decided_at"],
    )
