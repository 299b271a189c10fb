"""Delete what is no longer needed, by the rules of `retention.py`, in batches."""

from typing import Final

import sqlalchemy as sa

from mudra.overview.retention_store import RULES, Aged, Days
from mudra.storage.database.database import Database
from mudra.storage.tables.schema import metadata

BATCH: Final = 2000
"""Rows of one transaction: short enough that no request waits for it."""


async def purge_expired(database: Database, days: Days) -> dict[str, int]:
    """Delete all rows that are over age; returns their number by table, where there were any."""
    deleted = {}
    for name, rule in RULES.items():
        if isinstance(rule, Aged) and (count := await _purge(database, name, rule, days)):
            deleted[name] = count
    return deleted


async def _purge(database: Database, name: str, rule: Aged, days: Days) -> int:
    total = done = 0
    while done == BATCH or not total:
        done = await _batch(database, metadata.tables[name], rule, days)
        total += done
        if done < BATCH:
            break
    return total


async def _batch(database: Database, table: sa.Table, rule: Aged, days: Days) -> int:
    async with database.transaction() as transaction:
        now = (
            sa.func.clock_timestamp()
            if rule.by_machine_time
            else sa.literal(await transaction.now(), sa.TIMESTAMP(timezone=True))
        )
        old = rule.column < now - sa.literal(rule.period(days), sa.Interval)
        if rule.unset_is_old:
            old = sa.or_(old, rule.column.is_(None))
        which = old if rule.only is None else sa.and_(old, rule.only)
        place: sa.ColumnElement[object] = sa.literal_column("ctid")
        oldest = sa.select(place).select_from(table).where(which).limit(BATCH)
        # By their place: no other session moves rows that are over age.
        gone = await transaction.connection.execute(
            sa.delete(table).where(place == sa.func.any(sa.func.array(oldest.scalar_subquery())))
        )
        return gone.rowcount
