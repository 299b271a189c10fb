"""Creates partitions and deletes old metrics: implements metrics/ports.py MetricsTables."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.metrics.payload.catalogue import day_start
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.partitions import (
    BLOCK_HOURS,
    BLOCK_PREVIOUS,
    BLOCK_WINDOWS,
    Partitioned,
    drop_oldest,
    make_ahead,
)
from mudra.storage.tables.alarms import alarm_mail, health_silence
from mudra.storage.tables.metrics import (
    metrics_held,
    metrics_push,
    metrics_receipt,
    metrics_refused,
)

DELETE_S: Final = 50.0
DROP_LOCK_MS: Final = 1000
"""Half a second less than a push waits for a lock, so that the drop itself has the rest."""
_R: Final = metrics_receipt.c


class PostgresMetricsTables:
    """Drops whole partitions where possible, each in a transaction without any delete."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def make_ahead(self) -> None:
        """Creates the partitions of today and the next days."""
        await make_ahead(self._tx)

    async def delete_of_raw(self, before: datetime) -> None:
        """Deletes what is kept as long as reports: held and refused ones."""
        await self._tx.take_time(DELETE_S)
        await self._tx.connection.execute(
            sa.delete(metrics_refused).where(metrics_refused.c.at < before)
        )
        # Before the reports: one that was admitted later would be all that is left of its hour.
        await self._tx.connection.execute(
            sa.delete(metrics_held).where(_is_of(metrics_held, _R.window_at < before))
        )

    async def delete_receipts(self, before: datetime) -> bool:
        """Deletes the oldest day of receipts from before a day; returns whether there was one."""
        await self._tx.take_time(DELETE_S)
        oldest = await self._tx.connection.scalar(
            sa.select(sa.func.min(_R.window_at)).where(_R.window_at < before)
        )
        if oldest is None:
            return False
        old = _R.window_at < min(before, BLOCK_WINDOWS.end(day_start(oldest)))
        await self._tx.connection.execute(sa.delete(metrics_push).where(_is_of(metrics_push, old)))
        await self._tx.connection.execute(sa.delete(metrics_receipt).where(old))
        return True

    async def delete_silences(self, before: datetime) -> None:
        """Deletes silences that ended before a moment, and what is known of emails until then."""
        await self._tx.connection.execute(
            sa.delete(health_silence).where(health_silence.c.ends < before)
        )
        ends = sa.or_(alarm_mail.c.over, alarm_mail.c.page != "")  # what is no incident has no end
        of_old = ends & (alarm_mail.c.notified_at < before)
        await self._tx.connection.execute(sa.delete(alarm_mail).where(of_old))

    async def drop_raw(self, before: datetime) -> str | None:
        """Drops the oldest table of reports from before a day; returns its name."""
        return await self._drop_oldest((BLOCK_WINDOWS, BLOCK_PREVIOUS), before)

    async def drop_hours(self, before: datetime) -> str | None:
        """Drops the oldest table of sums by hour from before a day; returns its name."""
        return await self._drop_oldest((BLOCK_HOURS,), before)

    async def _drop_oldest(self, parts: Iterable[Partitioned], before: datetime) -> str | None:
        # Pushes wait behind it while it waits for its lock: for less than they are allowed to.
        await self._tx.connection.execute(sa.text(f"SET LOCAL lock_timeout = '{DROP_LOCK_MS}ms'"))
        for part in parts:
            if dropped := await drop_oldest(self._tx, part, before):
                return dropped
        return None


def _is_of(table: sa.Table, receipts: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """Returns whether a row belongs to one of these receipts: its key begins with the AA."""
    keys = sa.select(_R.aa_id, _R.receipt_id).where(receipts)
    return sa.tuple_(table.c.aa_id, table.c.receipt_id).in_(keys)
