"""Connections and transactions: the only file that commits.

Every use case runs in one transaction, opened at its edge. Work that must
follow a commit (dropping what memory holds) is registered with the transaction.
"""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import psycopg
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.caching.cache_invalidation import CHANNEL, CacheInvalidation
from mudra.storage.database.deadline import TRANSACTION_S, abort_after

CONNECT_TIMEOUT_S: Final = 1
MAX_CONNECTIONS: Final = 20
POOL_WAIT_S: Final = 1.0
STATEMENT_TIMEOUT_MS: Final = 2000
LOCK_TIMEOUT_MS: Final = 1500


@dataclass
class Transaction:
    """One open transaction."""

    connection: AsyncConnection
    invalidation: CacheInvalidation
    _offset: Callable[[], timedelta]
    _changed: list[str] = field(default_factory=list)

    async def now(self) -> datetime:
        """The database's clock at this moment (decisions 3: one source for all nodes)."""
        at = await self.connection.scalar(sa.select(sa.func.clock_timestamp()))
        assert isinstance(at, datetime)
        return at + self._offset()

    @property
    def this_moment(self) -> sa.ColumnElement[datetime]:
        """The same clock for a statement to read by itself, which saves asking first."""
        return sa.func.clock_timestamp() + sa.literal(self._offset(), sa.Interval)

    async def changing(self, key: str, *, must_not_be_missed: bool = False) -> None:
        """Announce that this transaction changes `key`.

        With `must_not_be_missed` every node reads the key from the database
        before this returns, so that none acts on the old value after the commit.
        """
        if must_not_be_missed:
            await self.invalidation.fence(key)
        await self.connection.execute(
            sa.select(sa.func.pg_notify(CHANNEL, self.invalidation.change_message(key)))
        )
        self._changed.append(key)

    def committed(self) -> None:
        """Apply on this node what the others will receive."""
        for key in self._changed:
            self.invalidation.changed_here(key)


class Database:
    """The pool of connections of this process."""

    def __init__(
        self,
        conninfo: str,
        invalidation: CacheInvalidation,
        offset: Callable[[], timedelta],
        *,
        connections: int = MAX_CONNECTIONS,
    ) -> None:
        self.conninfo = conninfo
        self.invalidation = invalidation
        self._offset = offset
        self._engine = _engine(conninfo, connections)

    @contextlib.asynccontextmanager
    async def transaction(self, *, within_s: float = TRANSACTION_S) -> AsyncIterator[Transaction]:
        """Open a transaction, commit it at the end, roll it back on an exception.

        Raises DatabaseUnavailable when the server cannot be reached, goes away or
        does not finish `within_s` seconds.
        """
        try:
            async with self._engine.connect() as connection:
                driver = (await connection.get_raw_connection()).driver_connection
                assert isinstance(driver, psycopg.AsyncConnection)
                transaction = Transaction(connection, self.invalidation, self._offset)
                with abort_after(driver, within_s):
                    yield transaction
                    await connection.commit()
        except (OperationalError, PoolTimeout, psycopg.OperationalError) as error:
            raise DatabaseUnavailable(type(error).__name__) from error
        except DBAPIError as error:
            if error.connection_invalidated:
                raise DatabaseUnavailable(type(error).__name__) from error
            raise
        transaction.committed()

    async def reachable(self) -> bool:
        """Tell whether the database answers now."""
        try:
            async with self.transaction() as transaction:
                await transaction.now()
        except DatabaseUnavailable:
            return False
        return True

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()


def _engine(conninfo: str, connections: int) -> AsyncEngine:
    async def connect() -> psycopg.AsyncConnection[tuple[object, ...]]:
        return await psycopg.AsyncConnection.connect(
            conninfo,
            connect_timeout=CONNECT_TIMEOUT_S,
            options=(
                f"-c statement_timeout={STATEMENT_TIMEOUT_MS} -c lock_timeout={LOCK_TIMEOUT_MS}"
                " -c timezone=UTC -c idle_in_transaction_session_timeout=30000"
            ),
        )

    return create_async_engine(
        "postgresql+psycopg://",
        async_creator=connect,
        pool_size=(connections + 1) // 2,  # half of them stay open
        max_overflow=connections // 2,
        pool_timeout=POOL_WAIT_S,
        hide_parameters=True,  # bound values never reach an error text
    )
