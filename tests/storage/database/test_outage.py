"""What a transaction that fails says of its database: gone, or there and too slow."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from mudra.shared.unavailable import DatabaseUnavailable, Outage
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database import deadline
from mudra.storage.database.database import Database
from mudra.storage.database.transaction import Transaction


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


def done(conninfo: str, act: Callable[[Transaction], Awaitable[object]], within_s: float) -> None:
    """Do this in a transaction."""

    async def run() -> None:
        database = Database(conninfo, CacheInvalidation(conninfo), timedelta)
        try:
            async with database.transaction(within_s=within_s) as transaction:
                await act(transaction)
        finally:
            await database.close()

    asyncio.run(run())


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "ANSWER_S", 0.1)


@pytest.mark.usefixtures("quickly")
def test_a_statement_without_an_answer_ends_a_transaction_that_has_time_left(conninfo: str) -> None:
    assert failed(conninfo, "SELECT pg_sleep(1.9)", within_s=20).cause is Outage.TOO_SLOW


@pytest.mark.usefixtures("quickly")
def test_what_a_transaction_does_between_its_statements_has_time(conninfo: str) -> None:
    async def with_a_pause(transaction: Transaction) -> None:
        for _ in range(2):
            assert await transaction.connection.scalar(sa.select(sa.literal(1))) == 1
            await asyncio.sleep(0.3)

    done(conninfo, with_a_pause, within_s=20)


@pytest.mark.usefixtures("quickly")
def test_statements_that_take_their_time_are_not_watched(conninfo: str) -> None:
    async def at_length(transaction: Transaction) -> None:
        await transaction.take_time(10)
        await transaction.connection.execute(sa.text("SELECT pg_sleep(0.3)"))

    done(conninfo, at_length, within_s=20)
    done(conninfo, lambda one: one.connection.execute(sa.text("SELECT pg_sleep(0.3)")), 60)


@pytest.mark.usefixtures("quickly")
def test_a_statement_that_fails_is_no_longer_waited_for(conninfo: str) -> None:
    async def fails_within(transaction: Transaction) -> None:
        with pytest.raises(sa.exc.DBAPIError):
            async with transaction.connection.begin_nested():
                await transaction.connection.execute(sa.text("SELECT 1 / 0"))
        await asyncio.sleep(0.3)
        assert await transaction.connection.scalar(sa.select(sa.literal(1))) == 1

    done(conninfo, fails_within, within_s=20)


def test_who_shares_the_loss_of_another_connection_keeps_none_to_that_server(conninfo: str) -> None:
    async def of_another(database: Database, drivers: list[object]) -> None:
        async with database.transaction(within_s=20) as transaction:
            await transaction.connection.scalar(sa.select(sa.literal(1)))
            drivers.append((await transaction.connection.get_raw_connection()).driver_connection)
            raise psycopg.OperationalError("of another reader")

    async def run() -> bool:
        database, drivers = Database(conninfo, CacheInvalidation(conninfo), timedelta), list[Any]()
        with pytest.raises(DatabaseUnavailable):
            await of_another(database, drivers)
        closed = bool(drivers[0].closed)
        await database.close()
        return closed

    assert asyncio.run(run())
