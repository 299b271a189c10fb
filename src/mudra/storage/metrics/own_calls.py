"""The calls that are the FIPs' own, in PostgreSQL: for the ports of metrics/health/own_calls.py."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from mudra.metrics.health.own_calls import own_to_bytes, sum_of_stored
from mudra.metrics.payload.catalogue import day_start
from mudra.storage.database.among import is_among
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.metrics import metrics_own_calls

_O: Final = metrics_own_calls.c
_HOUR, _DAY, _CHANGES = "hour", "day", "changes"
_CALLS: Final = sa.select(_O.calls).where(
    _O.span == sa.bindparam("of"), _O.at == sa.bindparam("at")
)
_HOURS: Final = (
    sa.select(_O.at, _O.calls)
    .where(_O.span == _HOUR, _O.at >= sa.bindparam("since"), _O.at < sa.bindparam("until"))
    .order_by(_O.at)
)
_DROP: Final = sa.delete(metrics_own_calls).where(
    _O.span == _HOUR,
    sa.or_(_O.at >= sa.bindparam("since"), _O.at < sa.bindparam("drop_before")),
)
_FOREVER: Final = timedelta(days=366)


async def own_hour(tx: Transaction, at: datetime) -> bytes | None:
    """Returns what is stored of the hour from a time on."""
    calls: bytes | None = await tx.connection.scalar(_CALLS, {"of": _HOUR, "at": at})
    return calls


async def save_own_calls(
    tx: Transaction, hours: Mapping[datetime, bytes], *, since: datetime, drop_before: datetime
) -> None:
    """Replaces the hours from a time on, and the days that they are of."""
    await tx.connection.execute(_DROP, {"since": since, "drop_before": drop_before})
    for at, calls in hours.items():
        await _put(tx, _HOUR, at, calls)
    for day in sorted({day_start(at) for at in hours}):
        within = {"since": day, "until": day + timedelta(days=1)}
        of_hours = [calls for _, calls in await tx.connection.execute(_HOURS, within)]
        await _put(tx, _DAY, day, own_to_bytes(sum_of_stored(of_hours)))


async def own_hours(tx: Transaction, since: datetime) -> Mapping[datetime, bytes]:
    """Returns the hours from a time on."""
    rows = await tx.connection.execute(_HOURS, {"since": since, "until": since + _FOREVER})
    return {at: calls for at, calls in rows}  # noqa: C416  # rows are no pairs to mypy


async def save_changes(tx: Transaction, changes: bytes, at: datetime) -> None:
    """Stores which rates have changed for good, in place of what was known."""
    await tx.connection.execute(sa.delete(metrics_own_calls).where(_O.span == _CHANGES))
    await _put(tx, _CHANGES, at, changes)


async def _put(tx: Transaction, span: str, at: datetime, calls: bytes) -> None:
    await tx.connection.execute(sa.delete(metrics_own_calls).where(_O.span == span, _O.at == at))
    await tx.connection.execute(sa.insert(metrics_own_calls).values(span=span, at=at, calls=calls))


class PostgresOwnCalls:
    """Implements the port `StoredOwnCalls`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def own_hours(self, since: datetime) -> Mapping[datetime, bytes]:
        """Returns the hours from a time on."""
        return await own_hours(self._tx, since)

    async def changes(self) -> bytes | None:
        """Returns which rates have changed for good; None before any day was compared."""
        query = sa.select(_O.calls).where(_O.span == _CHANGES)
        changes: bytes | None = await self._tx.connection.scalar(query)
        return changes

    async def own_days(self, days: Sequence[datetime]) -> Mapping[datetime, str]:
        """Returns a mark of each of these days that has any: another one once it has changed."""
        rows = await self._tx.connection.execute(
            sa.select(_O.at, sa.literal_column("xmin::text")).where(
                _O.span == _DAY, is_among(_O.at, days)
            )
        )
        return {at: mark for at, mark in rows}  # noqa: C416  # rows are no pairs to mypy

    async def own_day(self, day: datetime) -> bytes:
        """Returns what is stored of such a day."""
        found = await self._tx.connection.execute(_CALLS, {"of": _DAY, "at": day})
        calls: bytes = found.scalar_one()
        return calls
