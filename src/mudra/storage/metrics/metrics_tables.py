"""Creates partitions and deletes old metrics: implements metrics/ports.py MetricsTables."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.storage.database.database import Transaction
from mudra.storage.metrics.alarm_tables import alarm_mail, health_silence
from mudra.storage.metrics.partitions import (
    HOURS,
    PAIR_HOURS,
    PREVIOUS,
    RAW,
    drop_before,
    make_ahead,
)
from mudra.storage.metrics.rollups.packed_rows import drop_packed
from mudra.storage.metrics.tables import (
    metrics_held,
    metrics_push,
    metrics_receipt,
    metrics_refused,
    metrics_window,
)

_R: Final = metrics_receipt.c


class PostgresMetricsTables:
    """Drops whole partitions where possible."""

    def __init__(self, transaction: Transaction, metrics: Transaction) -> None:
        self._first = transaction
        self._tx = metrics

    async def make_ahead(self) -> None:
        """Creates the partitions of today and the next days."""
        await make_ahead(self._tx)

    async def drop_raw(self, before: datetime) -> Sequence[str]:
        """Drops raw rows, held and refused reports of before a day; returns the dropped tables."""
        dropped = await drop_before(self._tx, RAW, before)
        dropped += await drop_before(self._tx, PREVIOUS, before)
        await self._tx.connection.execute(
            sa.delete(metrics_refused).where(metrics_refused.c.at < before)
        )
        # `metrics-sums` deletes them within hours where any report comes.
        await self._tx.connection.execute(
            sa.delete(metrics_window).where(metrics_window.c.window_at < before)
        )
        await drop_packed(self._tx, "window", before)
        old = sa.select(_R.receipt_id).where(_R.window_at < before)
        await self._tx.connection.execute(
            sa.delete(metrics_held).where(metrics_held.c.receipt_id.in_(old))
        )
        return dropped

    async def drop_hours(self, before: datetime) -> Sequence[str]:
        """Drops sums by hour and receipts from before a day; returns the dropped tables."""
        dropped = await drop_before(self._tx, HOURS, before)
        dropped += await drop_before(self._tx, PAIR_HOURS, before)
        await drop_packed(self._tx, "hour", before)
        await self._tx.connection.execute(sa.text("SET LOCAL statement_timeout = '60s'"))
        old = sa.select(_R.receipt_id).where(_R.window_at < before)
        await self._tx.connection.execute(
            sa.delete(metrics_push).where(metrics_push.c.receipt_id.in_(old))
        )
        await self._tx.connection.execute(sa.delete(metrics_receipt).where(_R.window_at < before))
        return dropped

    async def drop_silences(self, before: datetime) -> None:
        """Deletes silences that ended before a moment, and what is known of emails until then."""
        await self._first.connection.execute(
            sa.delete(health_silence).where(health_silence.c.ends < before)
        )
        of_old = alarm_mail.c.over & (alarm_mail.c.notified_at < before)
        await self._first.connection.execute(sa.delete(alarm_mail).where(of_old))
