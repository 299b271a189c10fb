"""The runs of the periodic jobs that are done: implements jobs/scheduler.py JobRuns.

A job is claimed by an advisory lock of this process's own connection, so the claim ends with
the process however it ends, and another node runs the job again.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Final

import psycopg

from mudra.storage.database.deadline import TRANSACTION_S, abort_after
from mudra.storage.database.outage import outage_of

_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_RETRY_AFTER: Final = timedelta(minutes=5)

_LOCK: Final = "SELECT pg_try_advisory_lock(hashtextextended('job:' || %s, 0))"
_UNLOCK: Final = "SELECT pg_advisory_unlock(hashtextextended('job:' || %s, 0))"
_START: Final = """
INSERT INTO job_run AS known (name, started_at) VALUES (%(name)s, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET started_at = EXCLUDED.started_at
WHERE (known.slot IS NULL OR known.slot < date_bin(%(every)s, clock_timestamp(), %(origin)s)
       OR known.slot > date_bin(%(every)s, clock_timestamp(), %(origin)s) + %(every)s)
  AND (known.failures = 0
       OR greatest(known.started_at, known.finished_at) < clock_timestamp() - %(retry_after)s
       OR known.started_at < clock_timestamp() - %(every)s
       OR greatest(known.started_at, known.finished_at) > clock_timestamp())
RETURNING date_bin(%(every)s, clock_timestamp(), %(origin)s)
"""
_SUCCEEDED: Final = """
UPDATE job_run SET slot = %(slot)s, finished_at = clock_timestamp(), failures = 0, error = ''
WHERE name = %(name)s
"""
_FAILED: Final = """
UPDATE job_run SET finished_at = clock_timestamp(), failures = failures + 1, error = %(error)s
WHERE name = %(name)s
"""


class PostgresJobRuns:
    """The record of all nodes' runs, over one connection of this process."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: psycopg.AsyncConnection[tuple[object, ...]] | None = None
        self._connecting = asyncio.Lock()

    async def begin(self, name: str, every: timedelta, offset: timedelta) -> datetime | None:
        """Claim the run of the current time slot; None when it is done, or another node has it.

        Slots begin at whole multiples of `every`, plus `offset`, in UTC. A run that failed is
        due again 5 minutes after its end, or in the next slot when that comes first. What a clock
        recorded that was ahead by more than a slot counts for nothing.
        """
        values = {
            "name": name,
            "every": every,
            "origin": _EPOCH + offset,
            "retry_after": min(_RETRY_AFTER, every) * 0.9,
        }
        async with self._connected() as connection:
            locked = await (await connection.execute(_LOCK, [name])).fetchone()
            if locked != (True,):
                return None
            started = await (await connection.execute(_START, values)).fetchone()
            if started is None:
                await connection.execute(_UNLOCK, [name])
                return None
        slot = started[0]
        assert isinstance(slot, datetime)
        return slot

    async def end(self, name: str, slot: datetime, error: str) -> None:
        """Record how a claimed run ended (`error` is empty after a success), and release it."""
        values = {"name": name, "slot": slot, "error": error}
        async with self._connected() as connection:
            await connection.execute(_FAILED if error else _SUCCEEDED, values)
            await connection.execute(_UNLOCK, [name])

    async def close(self) -> None:
        """Close the connection, which releases every claim."""
        if self._connection is not None:
            await self._connection.close()

    @contextlib.asynccontextmanager
    async def _connected(
        self,
    ) -> AsyncIterator[psycopg.AsyncConnection[tuple[object, ...]]]:
        try:
            connection = await self._opened()
            try:
                with abort_after(connection, TRANSACTION_S):
                    yield connection
            except BaseException:
                # A claim is of the session, and counted: one that is left would keep the job here.
                await connection.close()
                raise
        except psycopg.Error as error:
            outage = outage_of(error)
            if outage is None:
                raise
            raise outage from error

    async def _opened(self) -> psycopg.AsyncConnection[tuple[object, ...]]:
        # One at a time: of two that jobs opened at once, one would be dropped with their claims.
        async with self._connecting:
            if self._connection is None or self._connection.closed:
                self._connection = await psycopg.AsyncConnection.connect(
                    self._conninfo,
                    autocommit=True,
                    connect_timeout=5,
                    options="-c timezone=UTC -c statement_timeout=2000",
                )
            return self._connection
