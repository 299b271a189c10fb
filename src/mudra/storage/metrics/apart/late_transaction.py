"""A transaction of the second database, opened when the first statement needs it.

Most requests read or write no metrics: they hold no connection of that database, which may be
away.
"""

import contextlib
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol, cast

import psycopg
import sqlalchemy as sa
from psycopg.sql import Composed
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from mudra.storage.database.database import Database, Transaction
from mudra.storage.database.deadline import TRANSACTION_S
from mudra.storage.metrics.apart.handover import HandedChange, hand_over

IDLE_S: Final = 30
"""A transaction that may take longer may also wait longer for the other database."""


class Opening(Protocol):
    """Opens a transaction of a database, or of its replica."""

    def __call__(
        self, *, within_s: float = TRANSACTION_S
    ) -> AbstractAsyncContextManager[Transaction]:
        """Open one that is cut off after so many seconds."""
        ...


class LateTransaction(Transaction):
    """Begins with its first statement; ends where `late_transaction` ends."""

    def __init__(self, database: Database, opening: Opening, within_s: float) -> None:
        super().__init__(
            cast("AsyncConnection", _LateConnection(self)), database.invalidation, database.offset
        )
        self._database = database
        self._opening = opening
        self._within_s = within_s
        self._begun: Transaction | None = None
        self.ending = contextlib.AsyncExitStack()

    async def opened(self) -> Transaction:
        """Return the transaction, from the first call on the same."""
        if self._begun is None:
            opening = self._opening(within_s=self._within_s)
            self._begun = await self.ending.enter_async_context(opening)
            if self._within_s > IDLE_S:
                await self._begun.stay_open(self._within_s)
        return self._begun

    @contextlib.contextmanager
    def naming(self) -> Iterator[None]:
        """Turn what the second database said into an outage that names it.

        The first database's transaction, around it, must not take it for its own.
        """
        try:
            yield
        except (SQLAlchemyError, psycopg.Error) as error:
            outage = self._database.failed(error)
            if outage is None:
                raise
            raise outage from error

    @contextlib.asynccontextmanager
    async def copying(self, into: str | Composed) -> AsyncIterator[psycopg.AsyncCopy]:
        """Write rows by a statement `COPY … FROM STDIN`."""
        with self.naming():
            async with (await self.opened()).copying(into) as copy:
                yield copy

    async def in_parts(
        self, statement: sa.Select[Any], rows: int
    ) -> AsyncIterator[Sequence[sa.Row[Any]]]:
        """Give the rows of a query, so many at a time."""
        with self.naming():
            async for part in (await self.opened()).in_parts(statement, rows):
                yield part

    async def take_time(self, seconds: float) -> None:
        """From here on each statement may take so long, its waiting for a lock included."""
        with self.naming():
            await (await self.opened()).take_time(seconds)

    async def changing(self, key: str, *, must_not_be_missed: bool = False) -> None:
        """Have it announced by the first database, where the nodes listen, after this commit."""
        assert not must_not_be_missed, "nothing is fenced by the metrics"
        await hand_over(self, "", HandedChange(key), await self.now())


class _LateConnection:
    """The part of `AsyncConnection` that statements use."""

    def __init__(self, transaction: LateTransaction) -> None:
        self._late = transaction

    async def execute(self, *given: Any) -> object:
        with self._late.naming():
            return await (await self._late.opened()).connection.execute(*given)

    async def scalar(self, *given: Any) -> object:
        with self._late.naming():
            return await (await self._late.opened()).connection.scalar(*given)

    async def scalars(self, *given: Any) -> object:
        with self._late.naming():
            return await (await self._late.opened()).connection.scalars(*given)


@contextlib.asynccontextmanager
async def late_transaction(
    database: Database, opening: Opening, within_s: float
) -> AsyncIterator[LateTransaction]:
    """Give a transaction that may never begin; it is committed at the end if it did.

    `opening` opens it, in the database or a replica of it.

    Raises DatabaseUnavailable, as `Database.transaction` does, also at a statement.
    """
    late = LateTransaction(database, opening, within_s)
    try:
        yield late
    except BaseException:
        await late.ending.__aexit__(*sys.exc_info())
        raise
    await late.ending.aclose()
