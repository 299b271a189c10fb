"""Writes to the registry counted per requester: implements http/dependencies.py `WriteBudget`.

Kept in the database, so that the limit is the network's and not each worker's.
"""

import datetime as dt
import math
from typing import Final

import sqlalchemy as sa

from mudra.storage.database.database import Database
from mudra.storage.registry.tables import registry_write

PERIOD: Final = dt.timedelta(hours=1)


class PostgresWriteBudget:
    """Never more than `per_hour` writes of one requester in any hour; refused ones do not count."""

    def __init__(self, database: Database, per_hour: int) -> None:
        self._database = database
        self._per_hour = per_hour

    async def wait_s(self, requester: str) -> int:
        """Count one write and return 0, or the whole seconds until the next is permitted."""
        c = registry_write.c
        async with self._database.transaction() as transaction:
            execute = transaction.connection.execute
            # Two writes of one requester at once must not both be the last permitted one.
            await execute(
                sa.select(
                    sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(f"write:{requester}", 0))
                )
            )
            now = await transaction.now()
            await execute(
                sa.delete(registry_write).where(c.requester == requester, c.at <= now - PERIOD)
            )
            found = await execute(sa.select(c.at).where(c.requester == requester).order_by(c.at))
            times: list[dt.datetime] = [row.at for row in found]
            if len(times) < self._per_hour:
                await execute(sa.insert(registry_write).values(requester=requester, at=now))
                return 0
        permitted_at = times[len(times) - self._per_hour] + PERIOD
        return max(1, math.ceil((permitted_at - now).total_seconds()))
