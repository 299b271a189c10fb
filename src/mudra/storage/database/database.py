"""Connections and transactions: the only file that commits.

Every use case runs in one transaction, opened at its edge. Work that must
follow a commit (dropping what memory holds) is registered with the transaction.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

import psycopg
import sqlalchemy as sa
from sqlalchemy.exc import DisconnectionError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from mudra.shared.unavailable import DatabaseUnavailable, Outage
from mudra.shared.waiting.fair_queue import CLIENT, Queue
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.deadline import (
    TRANSACTION_S,
    Deadline,
    TimeIsOver,
    abort_after,
    watch_answers,
)
from mudra.storage.database.outage import OutageLog, is_lost, outage_of, watched
from mudra.storage.database.primary import (
    CONFIRM,
    IDENTITY,
    Lineage,
    PrimaryConnection,
    Timeline,
    connect_to_primary,
    timeline_of,
)
from mudra.storage.database.statement_watch import StatementWatch, watch_engine
from mudra.storage.database.transaction import Process, Transaction

QUEUE_S: Final = 10.0
"""How long a request waits for its turn while others are served."""
GIVE_UP_S: Final = 2.0
"""A lost connection after so long without a success means that the database is gone."""
OUTAGE_WAIT_S: Final = 1.0
"""How long a request waits for its turn while the database is gone."""


class Turns:
    """The turns of one process. `connections` requests have one at the same time."""

    def __init__(self, connections: int) -> None:
        self._free = Queue(connections, per_key=max(1, connections // 2))
        self._trying = Queue(1)
        self._succeeded_at = float("-inf")
        self._gone: Outage | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn and have it; raises DatabaseUnavailable when there is none in time."""
        if self._gone is not None:
            async with self._place_of(self._trying, OUTAGE_WAIT_S):
                if self._gone is not None:
                    async with self._place_of(self._free, OUTAGE_WAIT_S):
                        yield
                    return
        async with self._place_of(self._free, QUEUE_S):
            yield

    @asynccontextmanager
    async def _place_of(self, queue: Queue, wait_s: float) -> AsyncIterator[None]:
        client = CLIENT.get()
        keys = (client,) if client else ()
        if not await queue.enter(*keys, wait_s=wait_s):
            raise DatabaseUnavailable("no turn in time", self._gone or Outage.ALL_IN_USE)
        try:
            yield
        finally:
            queue.leave(*keys)

    def succeeded(self) -> None:
        """Note that the database did something."""
        self._succeeded_at = asyncio.get_running_loop().time()
        self._gone = None

    def lost(self, cause: Outage) -> None:
        """Note a lost connection; refuse those who wait with its cause if nothing succeeds."""
        if asyncio.get_running_loop().time() - self._succeeded_at < GIVE_UP_S:
            return
        self._gone = cause
        self._free.turn_away()
        self._trying.turn_away()


CONNECT_TIMEOUT_S: Final = 1
MAX_CONNECTIONS: Final = 8
"""Transactions of a process at a time. Its one thread of Python has work for fewer, but some take
seconds: 4 pages (decision 0010) and 3 changes of the registry leave one for those of milliseconds,
which come one after the other. With those that listen and lock it is 11 connections a process."""
IDLE_S: Final = 30.0
"""After so long without any transaction a process keeps no connection but the listening one."""
OLDEST_S: Final = 200
"""So long a connection is used: one that rested for longer may be forgotten by what is between."""
POOL_WAIT_S: Final = 1.0
STATEMENT_TIMEOUT_MS: Final = 2000
LOCK_TIMEOUT_MS: Final = 1500
IDLE_TRANSACTION_S: Final = 30
"""So long a transaction may be idle, but for one that may take longer."""
_SETTINGS: Final = {
    "statement_timeout": STATEMENT_TIMEOUT_MS,
    "lock_timeout": LOCK_TIMEOUT_MS,
    "timezone": "UTC",
    "idle_in_transaction_session_timeout": IDLE_TRANSACTION_S * 1000,
}
_OF_TRANSACTION: Final = sa.select(
    *(sa.func.set_config(name, str(value), sa.true()) for name, value in _SETTINGS.items()),
    *(sa.literal_column(column) for column in IDENTITY),
)
_CONFIRM: Final = sa.text(CONFIRM)
_TRIAL: Final = """
INSERT INTO service_fact (name, value)
SELECT 'trial-' || gen_random_uuid(), string_agg(md5(random()::text), '')
FROM generate_series(1, 8192)
"""
"""A quarter of a megabyte that cannot be compressed away; rolled back."""


class Database:
    """The pool of connections of this process."""

    def __init__(
        self,
        conninfo: str,
        invalidation: CacheInvalidation,
        offset: Callable[[], timedelta],
        *,
        connections: int = MAX_CONNECTIONS,
        direct: str | None = None,
        process: Process | None = None,
        read_only: bool = False,
    ) -> None:
        """With `direct`, `conninfo` leads to a pooler whose connections keep no session state.

        Its transactions carry `process`; without it they serve stores that need no keys.
        `read_only` is for a replica, whose failures are no outage of the service.
        """
        self.conninfo = conninfo
        self.direct = direct or conninfo
        self._pooled = direct is not None
        self.invalidation = invalidation
        self.offset = offset
        self._process = process
        self._read_only = read_only
        settings = _SETTINGS | ({"default_transaction_read_only": "on"} if read_only else {})
        lineage = None if read_only else invalidation.lineage
        self._engine = _engine(conninfo, connections, settings, lineage, pooled=direct is not None)
        self._turns = Turns(connections)
        self._in_use = 0
        self._used_at = float("-inf")
        self._closing: asyncio.TimerHandle | None = None
        self._closed: set[asyncio.Task[None]] = set()
        self.outages = OutageLog()

    def replica(self, conninfo: str, connections: int) -> "Database":
        """Return the pool of a replica of this database."""
        return Database(
            conninfo,
            self.invalidation,
            self.offset,
            connections=connections,
            process=self._process,
            read_only=True,
        )

    @contextlib.asynccontextmanager
    async def transaction(self, *, within_s: float = TRANSACTION_S) -> AsyncIterator[Transaction]:
        """Open a transaction, commit it at the end, roll it back on an exception.

        Raises DatabaseUnavailable when the server cannot be reached, goes away, takes no
        changes or does not finish `within_s` seconds; up to `WATCHED_S` also when it does not
        answer one statement in `ANSWER_S`.
        """
        self._in_use += 1
        deadline = Deadline()
        try:
            async with self._turns.turn(), self._engine.connect() as connection:
                driver = (await connection.get_raw_connection()).driver_connection
                assert isinstance(driver, psycopg.AsyncConnection)
                with (
                    abort_after(driver, within_s) as deadline,
                    watched(connection, driver, within_s, deadline) as watch,
                ):
                    transaction = Transaction(
                        *(connection, self.invalidation, self.offset, self._process),
                        _watch=watch,
                        _deadline=deadline,
                    )
                    timeline = await self._begun_on(connection, driver)
                    if within_s > IDLE_TRANSACTION_S:
                        await transaction.stay_open(within_s)
                    yield transaction
                    if not (self._read_only or self.invalidation.is_proven(timeline)):
                        await connection.execute(_CONFIRM)
                    if watch is not None:
                        watch.asked()
                    await connection.commit()
                self._turns.succeeded()
        except (SQLAlchemyError, psycopg.Error) as error:
            outage = self.failed(error, too_slow=deadline.has_passed)
            if outage is None:
                raise
            raise outage from error
        finally:
            self._in_use -= 1
            self._close_when_idle()
        transaction.committed()

    def failed(self, error: Exception, *, too_slow: bool = False) -> DatabaseUnavailable | None:
        """Note an error of this database; returns its outage, None for one of a statement alone.

        `too_slow` says that we ended the connection ourselves because the time was up.
        """
        found = outage_of(error)
        if found is None:
            return None
        of_own_time = isinstance(error, TimeIsOver)
        too_slow = too_slow or of_own_time
        cause = Outage.TOO_SLOW if too_slow and found.cause is Outage.UNREACHABLE else found.cause
        outage = DatabaseUnavailable(found.detail, cause, of_own_time=of_own_time)
        if not self._read_only:
            self.outages.begun(outage)
        if is_lost(error):
            self._turns.lost(cause)
        return outage

    async def _begun_on(
        self, connection: AsyncConnection, driver: psycopg.AsyncConnection[tuple[object, ...]]
    ) -> Timeline | None:
        """Return whose connection it is; behind a pooler that may differ each time."""
        if self._pooled:
            row = (await connection.execute(_OF_TRANSACTION)).one()
            timeline = timeline_of(tuple(row))
            self.invalidation.lineage.admit(timeline)
            return timeline
        return driver.timeline if isinstance(driver, PrimaryConnection) else None

    def _close_when_idle(self) -> None:
        """Give connections back to the server when none was used for a while."""
        loop = asyncio.get_running_loop()
        self._used_at = loop.time()
        if self._closing is None:
            self._closing = loop.call_later(IDLE_S, self._close_idle)

    def _close_idle(self) -> None:
        loop = asyncio.get_running_loop()
        self._closing = None
        left = self._used_at + IDLE_S - loop.time()
        if self._in_use or left > 0:
            self._closing = loop.call_later(max(left, 1), self._close_idle)
            return
        task = loop.create_task(self._engine.dispose(), name="close-idle")
        self._closed.add(task)
        task.add_done_callback(self._closed.discard)

    async def outage(self) -> DatabaseUnavailable | None:
        """Ask whether the database takes changes now; returns what keeps it from that."""
        try:
            async with self.transaction() as transaction:
                read_only = await transaction.connection.scalar(
                    sa.text("SELECT current_setting('transaction_read_only')::boolean")
                )
                if self.outages.current is Outage.DISK_FULL:
                    async with transaction.connection.begin_nested() as trial:
                        await transaction.connection.execute(sa.text(_TRIAL))
                        await trial.rollback()
        except DatabaseUnavailable as outage:
            return outage
        if read_only:
            found = DatabaseUnavailable(cause=Outage.READ_ONLY)
            self.outages.begun(found)
            return found
        self.outages.over()
        return None

    def watch_statements(self, watch: StatementWatch) -> None:
        """Have `watch` called around each statement from now on, but for COPY."""
        watch_engine(self._engine.sync_engine, watch)

    async def close(self) -> None:
        """Close all connections."""
        if self._closing is not None:
            self._closing.cancel()
        await self._engine.dispose()


def _engine(
    conninfo: str,
    connections: int,
    settings: Mapping[str, object],
    lineage: Lineage | None,
    *,
    pooled: bool,
) -> AsyncEngine:
    async def connect() -> psycopg.AsyncConnection[tuple[object, ...]]:
        if pooled:
            # What a session prepared or set would be another session's in the next transaction.
            return await psycopg.AsyncConnection.connect(
                conninfo, connect_timeout=CONNECT_TIMEOUT_S, prepare_threshold=None
            )
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        if lineage is None:
            return await psycopg.AsyncConnection.connect(
                conninfo, connect_timeout=CONNECT_TIMEOUT_S, options=options
            )
        connection = await connect_to_primary(
            conninfo, lineage, connect_timeout=CONNECT_TIMEOUT_S, options=options
        )
        await connection.set_autocommit(False)
        return connection

    engine = create_async_engine(
        "postgresql+psycopg://",
        async_creator=connect,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=POOL_WAIT_S,
        # The one used last has its statements prepared and its tables known: 25 ms of CPU for
        # an onboarding, not 31. Others rest, and a firewall may forget them: hence OLDEST_S.
        pool_use_lifo=True,
        pool_recycle=OLDEST_S,
        use_native_hstore=False,  # else the first connection looks for a type that no table has
        hide_parameters=True,  # bound values never reach an error text
    )
    watch_answers(engine.sync_engine)
    if lineage is not None:
        _drop_superseded(engine, lineage)
    return engine


def _drop_superseded(engine: AsyncEngine, lineage: Lineage) -> None:
    """Keep no connection to a primary that another one has followed."""

    def check(_: object, entry: sa.pool.ConnectionPoolEntry, __: object) -> None:
        driver = entry.driver_connection
        if isinstance(driver, PrimaryConnection) and not lineage.is_current(driver.timeline):
            raise DisconnectionError("to a former primary")

    sa.event.listen(engine.sync_engine, "checkout", check)
