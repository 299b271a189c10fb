"""A query that is read in parts fails where the server fails, its last step included."""

import asyncio
from datetime import timedelta

import psycopg
import pytest
import sqlalchemy as sa

from mudra.shared.unavailable import DatabaseUnavailable, Outage
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database

_ROWS = sa.select(sa.func.generate_series(1, 5).label("n"))
_FAILS = b"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '58030'; END $$"


def read(conninfo: str) -> list[int]:
    """The rows, two at a time, with another statement of the same transaction after them."""

    async def run() -> list[int]:
        pool = Database(conninfo, CacheInvalidation(conninfo), timedelta)
        try:
            async with pool.transaction() as tx:
                found = [row.n async for rows in tx.in_parts(_ROWS, 2) for row in rows]
                await tx.now()
                return found
        finally:
            await pool.close()

    return asyncio.run(run())


def test_all_rows_are_read(conninfo: str) -> None:
    assert read(conninfo) == [1, 2, 3, 4, 5]


def test_a_cursor_that_cannot_be_closed_is_an_outage_and_no_defect(
    conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def close(self: psycopg.AsyncServerCursor[object]) -> None:
        await self.connection.wait(self.connection._exec_command(_FAILS))

    monkeypatch.setattr(psycopg.AsyncServerCursor, "close", close)

    with pytest.raises(DatabaseUnavailable) as caught:
        read(conninfo)

    assert caught.value.cause is Outage.UNREACHABLE
