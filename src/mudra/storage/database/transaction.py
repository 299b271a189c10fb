"""One open transaction, and what it knows of its process."""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, Protocol, TypeAlias, TypeVar, cast

import psycopg
import sqlalchemy as sa
from psycopg.pq import TransactionStatus
from psycopg.sql import Composed
from sqlalchemy.ext.asyncio import AsyncConnection

from mudra.storage.caching.announcement import CHANNEL
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.deadline import TRANSACTION_S, AnswerWatch, Deadline

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Columns = TypeVar("Columns", bound=tuple[object, ...])
_NOW: Final = sa.select(sa.func.clock_timestamp())


_LOCK_NAME: Final = sa.select(
    sa.func.pg_advisory_xact_lock(
        sa.func.hashtextextended(sa.bindparam("name", type_=sa.String), 0)
    )
)


_NOTIFY: Final = sa.select(sa.func.pg_notify(CHANNEL, sa.bindparam("message", type_=sa.String)))


@lru_cache(maxsize=1)  # only a sandbox moves its clock
def _moment(offset: timedelta) -> sa.ColumnElement[datetime]:
    return sa.func.clock_timestamp() + sa.literal(offset, sa.Interval)


class UseCases:
    """Makes the use cases that need more than a transaction: settings, or parts of the process."""

    def __init__(self) -> None:
        self._makers: dict[type[object], Callable[[Transaction], object]] = {}

    def add(self, kind: type[T], make: Callable[["Transaction"], T]) -> None:
        """Has each use case of this kind made by `make`."""
        self._makers[kind] = make

    def make(self, kind: type[T], transaction: "Transaction") -> T:
        """Returns a use case for a transaction; raises KeyError for one that no one added."""
        return cast("T", self._makers[kind](transaction))


@dataclass(frozen=True)
class Process:
    """The parts of a process that its transactions carry."""

    encryption: DataEncryption
    use_cases: UseCases


@dataclass
class Transaction:
    """An open transaction, from which a use case makes the stores that it needs."""

    connection: AsyncConnection
    invalidation: CacheInvalidation
    _offset: Callable[[], timedelta]
    _process: Process | None = None
    _changed: list[tuple[str, str]] = field(default_factory=list)
    """Keys, each with the fence that this change of it has."""
    _watch: AnswerWatch | None = None
    _deadline: Deadline | None = None

    @property
    def encryption(self) -> DataEncryption:
        """Returns the keys of this process."""
        assert self._process is not None, "this database was opened without keys"
        return self._process.encryption

    def service(self, kind: type[T]) -> T:
        """Returns a use case that needs more than the transaction, as this process makes it."""
        assert self._process is not None, "this database was opened without use cases"
        return self._process.use_cases.make(kind, self)

    async def now(self) -> datetime:
        """The database's clock at this moment (one source for all nodes)."""
        at = await self.connection.scalar(_NOW)
        assert isinstance(at, datetime)
        return at + self._offset()

    @property
    def offset(self) -> timedelta:
        """Returns how far the service is ahead of the database's clock: only a sandbox moves."""
        return self._offset()

    @property
    def this_moment(self) -> sa.ColumnElement[datetime]:
        """The same clock for a statement to read by itself, which saves asking first."""
        return _moment(self._offset())

    async def stay_open(self, seconds: float) -> None:
        """From here on the transaction may be idle so long: it computes between statements."""
        await self._limit(seconds, "idle_in_transaction_session_timeout")

    async def take_time(self, seconds: float) -> None:
        """From here on each statement may take so long, its waiting for a lock included."""
        if self._watch is not None:
            self._watch.end()
        await self._limit(seconds, "lock_timeout", "statement_timeout")

    async def _limit(self, seconds: float, *limits: str) -> None:
        value = f"{seconds * 1000:.0f}ms"
        await self.connection.execute(
            sa.select(*(sa.func.set_config(limit, value, sa.true()) for limit in limits))
        )

    async def lock_name(self, name: str, /) -> None:
        """Let all other transactions that lock this name wait until this one ends."""
        await self.connection.execute(_LOCK_NAME, {"name": name})

    @contextlib.asynccontextmanager
    async def copying(self, into: str | Composed) -> AsyncIterator[psycopg.AsyncCopy]:
        """Write rows by a statement `COPY … FROM STDIN`."""
        raw = await self.connection.get_raw_connection()
        driver = cast("psycopg.AsyncConnection[object]", raw.driver_connection)
        statement = into.encode() if isinstance(into, str) else into
        async with driver.cursor() as cursor, cursor.copy(statement) as copy:
            yield copy

    async def in_parts(
        self, statement: sa.Select[Columns], rows: int
    ) -> AsyncIterator[Sequence[sa.Row[Columns]]]:
        """Give the rows of a query, so many at a time: a cursor of the server has the others."""
        found = await self.connection.stream(statement, execution_options={"yield_per": rows})
        async for part in found.partitions():
            yield part
        await self._not_failed_unseen()

    async def _not_failed_unseen(self) -> None:
        """Raise when the transaction has failed: SQLAlchemy only logs that a cursor did not close.

        The next statement would fail for another reason than the server's.
        """
        raw = await self.connection.get_raw_connection()
        driver = cast("psycopg.AsyncConnection[object]", raw.driver_connection)
        if driver.info.transaction_status is TransactionStatus.INERROR:
            raise psycopg.errors.SystemError("a cursor of the server could not be closed")

    async def changing(self, key: str, *, must_not_be_missed: bool = False) -> None:
        """Announce that this transaction changes `key`.

        With `must_not_be_missed` every node reads the key from the database
        before this returns, so that none acts on the old value after the commit. The wait
        for a node that has just died is not taken from the time of the transaction.
        """
        fence_id = ""
        if must_not_be_missed:
            with self._deadline.paused() if self._deadline else contextlib.nullcontext():
                fence_id = await self.invalidation.fence(key)
        message = self.invalidation.change_message(key, fence_id)
        await self.connection.execute(_NOTIFY, {"message": message})
        self._changed.append((key, fence_id))

    def committed(self) -> None:
        """Apply on this node what the others will receive."""
        for key, fence_id in self._changed:
            self.invalidation.changed_here(key, fence_id)


class Opens(Protocol[T_co]):
    """Opens a transaction, and yields it or what is made over it.

    It commits at its end, and rolls back on an exception.
    """

    def __call__(self, *, within_s: float = TRANSACTION_S) -> AbstractAsyncContextManager[T_co]:
        """Opens one that is cut off after so many seconds (decision 0010)."""
        ...


OpenTransaction: TypeAlias = Opens[Transaction]
