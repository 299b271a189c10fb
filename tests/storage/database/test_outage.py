"""What a transaction that fails says of its database: gone, or there and too slow."""

import asyncio
from datetime import timedelta

import psycopg
import pytest
import sqlalchemy as sa

from mudra.shared.unavailable import DatabaseUnavailable, Outage
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database


def failed(conninfo: str, statement: str, within_s: float) -> DatabaseUnavailable:
    """Run a statement that does not end well; give the error."""

    async def run() -> DatabaseUnavailable:
        database = Database(conninfo, CacheInvalidation(conninfo), timedelta)
        try:
            with pytest.raises(DatabaseUnavailable) as caught:
                async with database.transaction(within_s=within_s) as transaction:
                    await transaction.connection.execute(sa.text(statement))
            return caught.value
        finally:
            await database.close()

    return asyncio.run(run())


def test_a_transaction_that_takes_too_long_blames_no_connection(conninfo: str) -> None:
    error = failed(conninfo, "SELECT pg_sleep(20)", within_s=0.1)

    assert error.cause is Outage.TOO_SLOW
    assert str(error).startswith("the service's database did not answer in time")


@pytest.mark.parametrize(
    "ended_by_the_server",
    [
        "SET LOCAL statement_timeout = '10ms'; SELECT pg_sleep(20)",
        "DO $$ BEGIN RAISE lock_not_available; END $$",
    ],
    ids=["statement_timeout", "lock_timeout"],
)
def test_a_limit_of_the_server_blames_no_connection(
    conninfo: str, ended_by_the_server: str
) -> None:
    assert failed(conninfo, ended_by_the_server, within_s=20).cause is Outage.TOO_SLOW


def test_a_connection_that_the_server_ends_is_one_to_a_database_that_is_gone(
    conninfo: str,
) -> None:
    ended = "SELECT pg_terminate_backend(pg_backend_pid())"

    assert failed(conninfo, ended, within_s=20).cause is Outage.UNREACHABLE


def test_a_server_that_is_not_there_is_not_too_slow() -> None:
    nowhere = psycopg.conninfo.make_conninfo(host="127.0.0.1", port=9, dbname="none")

    assert failed(nowhere, "SELECT 1", within_s=20).cause is Outage.UNREACHABLE
