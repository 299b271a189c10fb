"""The sandbox's time machine: an offset in the database that all nodes follow."""

import asyncio
from datetime import datetime, timedelta
from typing import Final, Protocol

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects.postgresql import insert

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.shared.unavailable import ServiceUnavailable
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.service import service_fact

_CLOCK: Final = "clock:"
_OFFSET: Final = "clock-offset-ms"
_ABSENT_S: Final = 4.0
_log = structlog.get_logger()
_READ: Final = sa.select(service_fact.c.value).where(service_fact.c.name == _OFFSET)
_NEW: Final = insert(service_fact)
_MOVE: Final = _NEW.on_conflict_do_update(
    index_elements=["name"], set_={"value": _NEW.excluded.value}
)
_LOCK: Final = sa.text("LOCK TABLE service_fact IN EXCLUSIVE MODE")
_ABSENT: Final = sa.text(
    "SELECT count(*) FROM node WHERE proven_at BETWEEN"
    " clock_timestamp() - interval '15 seconds'"
    " AND clock_timestamp() - interval '1 second'"
)


class MovableClock(Protocol):
    """A clock that can be moved: `ServiceClock` of a process."""

    offset: timedelta

    def __call__(self) -> datetime:
        """Return the current time, moved by the offset."""


class PostgresTimeMachine:
    """Moves this node's clock as the database says."""

    def __init__(
        self,
        database: Database,
        invalidation: CacheInvalidation,
        clock: MovableClock,
        pause_s: float = 1.0,
    ) -> None:
        """`pause_s` is how long a database that is away is left alone."""
        self._pause_s = pause_s
        self._database = database
        self._invalidation = invalidation
        self._clock = clock
        self._moving: set[asyncio.Task[None]] = set()
        invalidation.on_change(self._changed)
        self._followed = False

    async def load(self) -> None:
        """Take the offset from the database, and follow it from now on."""
        self._followed = True
        async with self._database.transaction() as transaction:
            self._clock.offset = await _offset(transaction)

    async def _load_again(self) -> None:
        """Load until the database answers: messages were lost, so the clock may be behind."""
        while True:
            try:
                await self.load()
            except ServiceUnavailable as error:
                _log.warning("the sandbox's clock waits for the database", error=str(error))
                await asyncio.sleep(self._pause_s)
            else:
                return

    async def advance(self, by: timedelta) -> datetime:
        """Move the service's clock forward on all nodes; returns the new time.

        By nothing, it only returns the time: no job runs and nothing is recorded.
        """
        if not by:
            return self._clock()
        async with self._database.transaction() as transaction:
            await transaction.connection.execute(_LOCK)
            offset = await _offset(transaction) + by
            value = str(offset // timedelta(milliseconds=1))
            await transaction.connection.execute(_MOVE, {"name": _OFFSET, "value": value})
            await AuditLog(transaction).append(
                AuditEntry(
                    EventName.SANDBOX_CLOCK_ADVANCE,
                    Caller("sandbox"),
                    detail={"seconds": int(by.total_seconds())},
                )
            )
            await transaction.changing(f"{_CLOCK}{value}")
        # Nodes apply messages in order: one that acknowledges the fence has moved its clock.
        await self._invalidation.fence("clock")
        await self._wait_for_the_absent()
        return self._clock()

    async def _wait_for_the_absent(self) -> None:
        """Wait for nodes that have just lost their listening connection, at most a few seconds.

        They load the offset when they are back; until then their clock is behind.
        """
        deadline = asyncio.get_running_loop().time() + _ABSENT_S
        while asyncio.get_running_loop().time() < deadline:
            async with self._database.transaction() as transaction:
                absent = await transaction.connection.scalar(_ABSENT)
            if not absent:
                return
            await asyncio.sleep(0.05)

    def _changed(self, key: str) -> None:
        if self._followed and key.startswith(_CLOCK):
            self._clock.offset = timedelta(milliseconds=int(key.removeprefix(_CLOCK)))
        elif self._followed and key == "*":
            task = asyncio.get_running_loop().create_task(self._load_again())
            self._moving.add(task)
            task.add_done_callback(self._moving.discard)


async def _offset(transaction: Transaction) -> timedelta:
    value = await transaction.connection.scalar(_READ)
    return timedelta(milliseconds=int(value) if value is not None else 0)
