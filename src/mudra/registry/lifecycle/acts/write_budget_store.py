"""Acts of the last hour counted per requester.

It counts writes to the registry, and test messages of webhooks, whose requesters have names of
their own (decision 0171).

Counted in the database, so that the limit holds over all workers and nodes.
"""

import datetime as dt
import math
from typing import Final

import sqlalchemy as sa

from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.registry import registry_write

PERIOD: Final = dt.timedelta(hours=1)
_C: Final = registry_write.c
_BY: Final = _C.requester == sa.bindparam("requester")
_FORGET: Final = sa.delete(registry_write).where(_BY, _C.at <= sa.bindparam("until"))
_TIMES: Final = sa.select(_C.at).where(_BY).order_by(_C.at)
_COUNT: Final = sa.insert(registry_write)


class WriteBudget:
    """Permits `per_hour` acts of one requester in any hour; those over the limit do not count."""

    def __init__(self, transaction: Transaction, per_hour: int) -> None:
        self._tx = transaction
        self._per_hour = per_hour

    async def wait_s(self, requester: str) -> int:
        """Count one act and return 0, or the whole seconds until the next is permitted."""
        execute = self._tx.connection.execute
        # Two acts of one requester at once must not both be the last permitted one.
        await self._tx.lock_name(f"write:{requester}")
        now = await self._tx.now()
        await execute(_FORGET, {"requester": requester, "until": now - PERIOD})
        found = await execute(_TIMES, {"requester": requester})
        times: list[dt.datetime] = [row.at for row in found]
        if len(times) < self._per_hour:
            await execute(_COUNT, {"requester": requester, "at": now})
            return 0
        permitted_at = times[len(times) - self._per_hour] + PERIOD
        return max(1, math.ceil((permitted_at - now).total_seconds()))
