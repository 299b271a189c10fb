"""Pushes of network metrics in PostgreSQL: implements metrics/ports.py Reports.

One transaction stores a push: a lock on the AA, the look-up, `COPY` of its blocks,
the receipt, and the marks that the sums of its hour and window are stale.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, cast

import msgspec
import sqlalchemy as sa

from mudra.metrics.payload.catalogue import WINDOW, day_start, hour_start
from mudra.metrics.payload.ingest_rule import (
    Accept,
    Decision,
    Duplicate,
    Known,
    PushKey,
    Receipt,
    WindowKey,
)
from mudra.metrics.payload.ingest_rule import Replace as Replacement
from mudra.metrics.payload.report_facts import StorableReport
from mudra.metrics.payload.validation import ReportRefused
from mudra.metrics.rollup.stale import ALL_AAS, CHARTS_KEPT
from mudra.shared.finding import Finding
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import Grain
from mudra.storage.metrics.blocks.writing import Series, put, report_rows
from mudra.storage.metrics.partitions import (
    BLOCK_PREVIOUS,
    BLOCK_WINDOWS,
    Partitioned,
    make_partition,
)
from mudra.storage.metrics.stored_report import buckets_in, long_tag, short_tag
from mudra.storage.tables.metrics import (
    metrics_push,
    metrics_receipt,
    metrics_refused,
    metrics_stale,
)
from mudra.storage.tables.metrics_blocks import metrics_block, metrics_block_previous

_R: Final = metrics_receipt.c
_B: Final = metrics_block.c
_OF_REPORT: Final = (
    *(_B.aa_id == sa.bindparam("aa_id"), _B.grain == Grain.WINDOW.value),
    *(_B.at == sa.bindparam("window_at"), _B.tag == sa.bindparam("tag")),
)
_REPLACED: Final = sa.delete(metrics_block).where(*_OF_REPORT).returning(*metrics_block.c).cte()
_KEEP_PREVIOUS: Final = sa.insert(metrics_block_previous).from_select(
    [*metrics_block.c.keys(), "report_version"],
    sa.select(*_REPLACED.c, sa.bindparam("version", type_=sa.Integer)),
)
_BY_TXN: Final = (
    sa.select(sa.literal("push").label("why"), metrics_receipt)
    .join(metrics_push)
    .where(
        metrics_push.c.aa_id == sa.bindparam("sender"),
        metrics_push.c.txn_id == sa.bindparam("txn_id"),
    )
)
_BY_WINDOW: Final = (
    sa.select(sa.literal("current").label("why"), metrics_receipt)
    .where(
        _R.aa_id == sa.bindparam("aa_id"),
        _R.tag == sa.bindparam("tag"),
        _R.window_at == sa.bindparam("window_at"),
    )
    .order_by(_R.version.desc())
    .limit(1)
)
_KNOWN: Final = sa.union_all(_BY_TXN, sa.select(_BY_WINDOW.subquery()))
_ADD_RECEIPT: Final = sa.insert(metrics_receipt)
_ADD_PUSH: Final = sa.insert(metrics_push)
_ADD_STALE: Final = sa.insert(metrics_stale)
_COMPLETE: Final = datetime.fromisoformat("1970-01-01T00:00Z")
"""`noted_at` of history that is complete, so that its sums are not delayed."""

Row = Mapping[str, object]


class KnownPartitions:
    """Partitions that this process has seen committed."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    async def ensure(self, tx: Transaction, part: Partitioned, at: datetime) -> None:
        """Creates the partition of a moment unless it exists."""
        name = part.name(at)
        # One created in this transaction may still be rolled back, so it is not remembered.
        if name not in self._seen and not await make_partition(tx, part, at):
            self._seen.add(name)


class PostgresReports:
    """Pushes inside one transaction."""

    def __init__(self, transaction: Transaction, partitions: KnownPartitions) -> None:
        self._tx = transaction
        self._partitions = partitions

    async def lock(self, aa_id: str) -> datetime:
        """Locks out other pushes of this AA until the transaction ends; returns the time."""
        await self._tx.lock_name(f"push:{aa_id}")
        return await self._tx.now()

    async def take_time(self, seconds: float) -> None:
        """Sets the time limit of each statement of this transaction and of waiting for `lock`."""
        await self._tx.take_time(seconds)

    async def known(self, push: PushKey, window: WindowKey) -> Known:
        """Returns what is stored of this push and this window."""
        rows = await self._tx.connection.execute(
            _KNOWN,
            {
                "sender": push.aa_id,
                "txn_id": push.txn_id,
                "aa_id": window.aa_id,
                "tag": short_tag(window.tag),
                "window_at": window.window,
            },
        )
        found = {cast("str", row["why"]): receipt_of(cast("Row", row)) for row in rows.mappings()}
        return Known(found.get("push"), found.get("current"))

    async def carry_out(self, decision: Decision, checked: StorableReport) -> None:
        """Writes counts, receipt and findings; on replacement keeps the previous version."""
        if isinstance(decision, Duplicate):
            if decision.remember:
                await self._tx.connection.execute(
                    _ADD_PUSH, _push_row(decision.receipt, decision.txn_id)
                )
            return
        assert isinstance(decision, Accept | Replacement)
        receipt = decision.receipt
        window = receipt.key.window
        if isinstance(decision, Replacement):
            await self._keep_previous(receipt)
        await self._store([(receipt, checked)], window)

    async def count(self, receipt: Receipt, buckets: bytes) -> None:
        """Counts a report that has its receipt, in place of what its window had before."""
        await self._keep_previous(receipt)
        await self._write([(receipt, buckets)])
        await self._mark_stale([receipt], receipt.key.window, whole=False)

    async def hear(self, receipt: Receipt, calls: int) -> None:
        """Stores the receipt of a report that is not counted: its window counts as reported."""
        window = receipt.key.window
        # Sums are made again only where reports are kept, and theirs have the reported windows.
        await self._partitions.ensure(self._tx, BLOCK_WINDOWS, window)
        await self._acknowledge([(receipt, calls, 0)])
        await self._mark_stale([receipt], window + WINDOW, whole=False)

    async def _keep_previous(self, receipt: Receipt) -> None:
        window = receipt.key.window
        await self._partitions.ensure(self._tx, BLOCK_PREVIOUS, window)
        await self._tx.connection.execute(
            _KEEP_PREVIOUS,
            {
                "window_at": window,
                "aa_id": receipt.key.aa_id,
                "tag": short_tag(receipt.key.tag),
                "version": receipt.version - 1,
            },
        )

    async def accept_all(
        self, accepted: Sequence[tuple[Accept, StorableReport]], watched_from: datetime
    ) -> None:
        """Writes many at once; incidents are detected in windows from `watched_from` on."""
        if accepted:
            stored = [(one.receipt, checked) for one, checked in accepted]
            await self._store(stored, watched_from, whole=True)

    async def _store(
        self,
        stored: Sequence[tuple[Receipt, StorableReport]],
        watched_from: datetime,
        *,
        whole: bool = False,
    ) -> None:
        await self._write([(one, checked.buckets) for one, checked in stored])
        await self._acknowledge([(one, checked.calls, checked.blocks) for one, checked in stored])
        await self._mark_stale([one for one, _ in stored], watched_from, whole=whole)

    async def _write(self, stored: Sequence[tuple[Receipt, bytes]]) -> None:
        for day in {day_start(receipt.key.window) for receipt, _ in stored}:
            await self._partitions.ensure(self._tx, BLOCK_WINDOWS, day)
        rows = [
            row
            for receipt, buckets in stored
            for row in report_rows(_series(receipt), receipt.key.window, buckets_in(buckets))
        ]
        if rows:
            await put(self._tx, rows)

    async def _acknowledge(self, receipts: Sequence[tuple[Receipt, int, int]]) -> None:
        """Stores receipts, each with its number of calls and of blocks."""
        await self._tx.connection.execute(_ADD_RECEIPT, [_receipt_row(*one) for one in receipts])
        await self._tx.connection.execute(
            _ADD_PUSH, [_push_row(one, one.txn_id) for one, *_ in receipts]
        )

    async def _mark_stale(
        self, receipts: Sequence[Receipt], watched_from: datetime, *, whole: bool
    ) -> None:
        # From here on the observations of the windows and the sums of their hours are stale, and
        # those over all AAs of a window. Of a history that is filled only the latest have these:
        # its windows are many, and seldom asked for.
        summed_from = await self._tx.now() - CHARTS_KEPT
        stale = {_mark("hour", one, hour_start(one.key.window)): None for one in receipts}
        for one in receipts:
            if one.key.window >= watched_from:
                stale[_mark("window", one, one.key.window)] = None
            if not whole or one.key.window >= summed_from:
                tag = short_tag(one.key.tag)
                stale["window", ALL_AAS, tag, one.key.window] = None
        noted_at = {"noted_at": _COMPLETE} if whole else {}
        await self._tx.connection.execute(
            _ADD_STALE,
            [
                dict(zip(("grain", "aa_id", "tag", "at"), mark, strict=True)) | noted_at
                for mark in stale
            ],
        )

    async def keep_refused(self, aa_id: str, refused: ReportRefused) -> None:
        """Stores the findings of a refused payload, so that its sender can look them up."""
        await self._tx.connection.execute(
            sa.insert(metrics_refused).values(
                aa_id=aa_id,
                at=await self._tx.now(),
                total=refused.total,
                findings=msgspec.to_builtins(refused.findings),
            )
        )


def _series(receipt: Receipt) -> Series:
    return Series(receipt.key.aa_id, Grain.WINDOW, short_tag(receipt.key.tag))


def _mark(grain: str, receipt: Receipt, at: datetime) -> tuple[str, str, str, datetime]:
    return grain, receipt.key.aa_id, short_tag(receipt.key.tag), at


def receipt_of(row: Row) -> Receipt:
    """Returns the receipt of a row."""
    return Receipt(
        receipt_id=cast("str", row["receipt_id"]),
        key=WindowKey(
            cast("str", row["aa_id"]),
            long_tag(cast("str", row["tag"])),
            cast("datetime", row["window_at"]),
        ),
        txn_id=cast("str", row["txn_id"]),
        content_hash=cast("bytes", row["content_hash"]),
        version=cast("int", row["version"]),
        received_at=cast("datetime", row["received_at"]),
        findings=findings_of(row["findings"]),
    )


def findings_of(stored: object) -> tuple[Finding, ...]:
    """Returns findings from their JSON."""
    return msgspec.convert(stored, tuple[Finding, ...])


def _push_row(receipt: Receipt, txn_id: str) -> dict[str, object]:
    return {"aa_id": receipt.key.aa_id, "txn_id": txn_id, "receipt_id": receipt.receipt_id}


def _receipt_row(receipt: Receipt, calls: int, blocks: int) -> dict[str, object]:
    return {
        "receipt_id": receipt.receipt_id,
        "aa_id": receipt.key.aa_id,
        "tag": short_tag(receipt.key.tag),
        "window_at": receipt.key.window,
        "version": receipt.version,
        "txn_id": receipt.txn_id,
        "content_hash": receipt.content_hash,
        "received_at": receipt.received_at,
        "blocks": blocks,
        "calls": calls,
        "findings": msgspec.to_builtins(receipt.findings),
    }
