"""The size of a database and how fast it grows: by the partitions of the metrics.

Metrics are nearly all of it. Their partitions are dropped in time, so what is kept stops growing.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import sqlalchemy as sa
from msgspec import Struct

from mudra.storage.database.transaction import Transaction

_PARTITIONS: Final = sa.text("""
    SELECT c.relname, pg_total_relation_size(c.oid)
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = cast(:parent AS regclass)
""")
_SIZE: Final = sa.text("SELECT pg_database_size(current_database())")
_DAYS: Final = 3
"""The latest complete days whose mean is the growth of a day."""
_YEARS: Final = 3


class Growing(Struct, frozen=True):
    """Bytes that come every day, and for how many days before as many are dropped."""

    a_day: float
    days_left: int


class Growth(Struct, frozen=True):
    """The size of a database now, and what is growing in it."""

    size: int
    parts: Sequence[Growing]

    @property
    def a_day(self) -> float:
        """Bytes of the next day."""
        return sum(part.a_day for part in self.parts if part.days_left > 0)

    def full_in(self, free: int) -> int | None:
        """Return in how many days so much room is used up; None when never, or in years."""
        for day in range(1, _YEARS * 365):
            if sum(part.a_day * min(day, part.days_left) for part in self.parts) > free:
                return day
        return None


def of_days(sizes: Sequence[tuple[datetime, int]], now: datetime, kept_days: int) -> Growing:
    """Judge partitions of a day each, by their beginning; today's is not complete."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    past = {at: size for at, size in sizes if at < today}
    latest = [past.get(today - timedelta(days=ago), 0) for ago in range(1, _DAYS + 1)]
    known = [size for size in latest if size]
    oldest = min(past, default=today)
    return Growing(sum(known) / max(1, len(known)), max(0, kept_days - (today - oldest).days))


def of_months(sizes: Sequence[tuple[datetime, int]], now: datetime, kept_days: int) -> Growing:
    """Judge partitions of a month each: the current one has grown since its first day."""
    past = {at: size for at, size in sizes if at <= now}
    if not past:
        return Growing(0.0, kept_days)
    newest, oldest = max(past), min(past)
    days = max(1.0, (now - newest) / timedelta(days=1))
    return Growing(past[newest] / days, max(0, kept_days - (now - oldest).days))


async def read_growth(transaction: Transaction, raw_days: int, hour_days: int) -> Growth:
    """Read the sizes of a database with metrics."""
    now = await transaction.now()
    size = await transaction.connection.scalar(_SIZE)
    windows = await _sizes(transaction, "metrics_block_window", "%Y%m%d")
    hours = await _sizes(transaction, "metrics_block_hour", "%Y%m")
    return Growth(
        int(size or 0), [of_days(windows, now, raw_days), of_months(hours, now, hour_days)]
    )


async def _sizes(transaction: Transaction, table: str, form: str) -> list[tuple[datetime, int]]:
    rows = await transaction.connection.execute(_PARTITIONS, {"parent": table})
    return [
        (datetime.strptime(name.removeprefix(f"{table}_"), form).replace(tzinfo=UTC), int(size))
        for name, size in rows
    ]
