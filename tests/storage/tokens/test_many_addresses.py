"""A program with another address for each token fills no table (decision 0108)."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg
import pytest
import sqlalchemy as sa
from tests.storage.tokens.with_database import with_database

from mudra.shared.ids import fresh_id
from mudra.storage.database.database import Database
from mudra.storage.database.transaction import Transaction
from mudra.tokens.issuing.issue_log_store import BatchedIssueLog
from mudra.tokens.secrets import secret_use_store as secret_use
from mudra.tokens.secrets.secret_use_store import SecretUses, Used, add_uses

MAX_ADDRESSES = 1000

AT: Final = datetime(2026, 5, 1, 10, 0, 30, tzinfo=UTC)
FLOODER: Final = "KAVERI-FIP"


@pytest.fixture(autouse=True)
def store(conninfo: str) -> Iterator[psycopg.Connection[Any]]:
    """A look into the database, where two members have used no secret yet."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("TRUNCATE secret_use, token_day")
        for one in (FLOODER, "SETU-AA"):
            connection.execute(
                "INSERT INTO entity (entity_id, type, name, status, created_at)"
                " VALUES (%s, 'FIP', 'N', 'active', now()) ON CONFLICT DO NOTHING",
                [one],
            )
        yield connection


def addresses(numbers: Iterable[int]) -> list[str]:
    return [f"2001:db8::{number:x}" for number in numbers]


def issue(log: BatchedIssueLog, numbers: Iterable[int], entity_id: str = FLOODER) -> None:
    for address in addresses(numbers):
        log.issued(entity_id, address, "txn", version=1, in_grace=False, jti=fresh_id())


def rows_of(
    store: psycopg.Connection[Any], entity_id: str = FLOODER, version: int = 1
) -> dict[str, int]:
    return dict(
        store.execute(
            "SELECT address, count FROM secret_use WHERE entity_id = %s AND version = %s",
            [entity_id, version],
        ).fetchall()
    )


def test_further_addresses_of_a_secret_are_counted_together(
    conninfo: str, store: psycopg.Connection[Any]
) -> None:
    statements: list[str] = []

    async def act(database: Database) -> None:
        sync = database._engine.sync_engine
        sa.event.listen(sync, "before_cursor_execute", lambda *a: statements.append(a[2]))
        log = BatchedIssueLog(database)
        for numbers in (range(600), range(300, 1400), range(1400)):
            issue(log, numbers)
            issue(log, [7], "SETU-AA")
            await log.stop()

    with_database(conninfo, act)

    kept = rows_of(store)
    assert len(kept) == MAX_ADDRESSES + 1
    assert kept.pop("(others)") == 2 * 400
    assert sum(kept.values()) == 600 + 1100 + 1400 - 2 * 400
    assert rows_of(store, "SETU-AA") == {"2001:db8::7": 3}
    # Each write is a slice of all its groups, and one statement for them.
    assert sum("INSERT INTO secret_use" in one for one in statements) == 3
    assert not [one for one in statements if "secret_use" in one and "INSERT INTO" not in one]


async def use(
    transaction: Transaction, numbers: Iterable[int], version: int, at: datetime = AT
) -> None:
    found = [Used(FLOODER, version, one, 2, in_grace=True) for one in addresses(numbers)]
    await add_uses(transaction, found, at)


def test_many_take_the_places_as_each_by_itself_would(
    conninfo: str, store: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secret_use, "MAX_ADDRESSES", 8)

    async def act(database: Database) -> None:
        async with database.transaction() as transaction:
            for numbers in (range(5), range(2, 12), range(14)):
                for one in numbers:
                    await use(transaction, [one], version=1)
                await use(transaction, numbers, version=2)

    with_database(conninfo, act)

    one_by_one, together = rows_of(store, version=1), rows_of(store, version=2)
    assert together == one_by_one
    assert sum(together.values()) == 2 * 29
    assert len(together) == 9


def test_what_is_read_of_a_secret_has_all_its_tokens(conninfo: str) -> None:
    later = AT + timedelta(hours=1)

    async def act(database: Database) -> None:
        async with database.transaction() as transaction:
            uses = SecretUses(transaction)
            await use(transaction, range(1100), version=3)
            await use(transaction, range(1100, 1200), version=3, at=later)
            read = await uses.of(FLOODER, 3)
            assert (read.count, read.count_in_grace) == (2400, 2400)
            assert (read.addresses[0].address, read.last_used_at) == ("(others)", later)
            assert len(read.addresses) == MAX_ADDRESSES + 1
            assert [one.address for one in await uses.since(later)] == ["(others)"]
            assert len(await uses.since(AT, FLOODER)) == MAX_ADDRESSES + 1
            assert await uses.since(AT, "SETU-AA") == []

    with_database(conninfo, act)


def test_a_table_that_was_filled_before_is_read_in_part(
    conninfo: str, store: psycopg.Connection[Any]
) -> None:
    store.execute(
        "INSERT INTO secret_use SELECT %s, v, '2001:db8::' || to_hex(n), 1, 0, %s"
        " FROM generate_series(1, 9) v, generate_series(1, 2500) n",
        [FLOODER, AT],
    )

    async def act(database: Database) -> None:
        async with database.transaction() as transaction:
            uses = SecretUses(transaction)
            await uses.add_key_use(FLOODER, "2001:db8::1")
            assert len((await uses.of(FLOODER, 9)).addresses) == 2_001
            read = await uses.since(AT, FLOODER)
            assert sum(one.count for one in read) == 10_006

    with_database(conninfo, act)
