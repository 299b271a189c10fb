"""Partitions of metrics tables: created ahead by a job or on demand by a push, dropped when old."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

import sqlalchemy as sa
from msgspec import Struct

from mudra.metrics.payload.catalogue import day_start
from mudra.storage.database.transaction import Transaction

DAYS_AHEAD: Final = 3


class Partitioned(Struct, frozen=True):
    """A table in partitions, with the begin and end of the partition of a moment."""

    table: str
    form: str
    begin: Callable[[datetime], datetime]
    end: Callable[[datetime], datetime]

    def name(self, at: datetime) -> str:
        """Returns the name of the partition that contains this moment."""
        return f"{self.table}_{self.begin(at).strftime(self.form)}"

    def begin_of(self, name: str) -> datetime:
        """Returns the begin of the partition of this name."""
        suffix = name.removeprefix(f"{self.table}_")
        return datetime.strptime(suffix, self.form).replace(tzinfo=UTC)


def month_of(at: datetime) -> datetime:
    """Returns the start of the month in UTC."""
    return day_start(at).replace(day=1)


def _next_day(at: datetime) -> datetime:
    return at + timedelta(days=1)


def _next_month(at: datetime) -> datetime:
    return month_of(at + timedelta(days=32))


def _next_year(at: datetime) -> datetime:
    return _year_of(at).replace(year=at.astimezone(UTC).year + 1)


def _year_of(at: datetime) -> datetime:
    return month_of(at).replace(month=1)


BLOCK_WINDOWS: Final = Partitioned("metrics_block_window", "%Y%m%d", day_start, _next_day)
BLOCK_HOURS: Final = Partitioned("metrics_block_hour", "%Y%m", month_of, _next_month)
BLOCK_DAYS: Final = Partitioned("metrics_block_day", "%Y", _year_of, _next_year)
BLOCK_PREVIOUS: Final = Partitioned("metrics_block_previous", "%Y%m%d", day_start, _next_day)
BLOCK_OF: Final = {"window": BLOCK_WINDOWS, "hour": BLOCK_HOURS, "day": BLOCK_DAYS}
"""The parent of the partitions of each grain."""
ALL_PARTITIONED: Final = (BLOCK_WINDOWS, BLOCK_HOURS, BLOCK_DAYS, BLOCK_PREVIOUS)


async def make_partition(tx: Transaction, part: Partitioned, at: datetime) -> bool:
    """Creates the partition of a moment; returns False when it exists already."""
    if await has_partition(tx, part, at):
        return False
    return await _call(tx, "metrics_partition_make", part, at)


async def has_partition(tx: Transaction, part: Partitioned, at: datetime) -> bool:
    """Returns whether there is a partition for a moment: not made yet, or dropped, otherwise."""
    # Not by to_regclass: its cache may not include the latest commit.
    found = await tx.connection.scalar(
        sa.text(
            "SELECT 1 FROM pg_class WHERE relname = :name"
            " AND relnamespace = current_schema()::regnamespace"
        ),
        {"name": part.name(at)},
    )
    return found is not None


async def make_ahead(tx: Transaction) -> None:
    """Creates the partitions of today and the next days."""
    now = await tx.now()
    for days in range(-1, DAYS_AHEAD + 1):
        for part in ALL_PARTITIONED:
            await make_partition(tx, part, now + timedelta(days=days))


async def drop_oldest(tx: Transaction, part: Partitioned, before: datetime) -> str | None:
    """Drops the oldest partition if it ends by `before`; returns its name, else None."""
    name = await tx.connection.scalar(
        sa.text(
            "SELECT min(c.relname::text) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
            " WHERE i.inhparent = cast(:parent AS regclass)"
        ),
        {"parent": part.table},
    )
    if name is None:
        return None
    begin = part.begin_of(name)
    if part.end(begin) > before:
        return None
    await _call(tx, "metrics_partition_drop", part, begin)
    return part.name(begin)


async def _call(tx: Transaction, function: str, part: Partitioned, at: datetime) -> bool:
    """Let the schema's owner do it: the service's role may make and drop no table."""
    call = getattr(sa.func, function)(part.table, sa.cast(at, sa.DateTime(timezone=True)))
    return bool(await tx.connection.scalar(sa.select(call)))
