"""The audit of entity tokens is written in parts and slices (decision 0002)."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, LiteralString

import psycopg
import pytest
import sqlalchemy as sa
from tests.storage.tokens.with_database import with_database

from mudra.audit import audit_log_store as anonymous
from mudra.audit.event import AuditEntry, AuditEvent, Caller, EventName, Outcome
from mudra.shared.ids import fresh_id
from mudra.storage.database.database import Database
from mudra.tokens.issuing import issue_log_store
from mudra.tokens.issuing.issue_log_store import BatchedIssueLog

TABLES: Final = "audit_token_issue, audit_anonymous, audit_event, secret_use, token_day"
AT: Final = datetime(2026, 5, 1, 10, 0, 30, tzinfo=UTC)
TOKENS: Final = "SELECT jtis FROM audit_token_issue"
USES: Final = "SELECT entity_id, count FROM secret_use ORDER BY 1"
DAYS: Final = "SELECT entity_id, count FROM token_day ORDER BY 1"
STRANGERS: Final = "SELECT address, count FROM audit_anonymous"
REFUSED: Final = "SELECT entity_id, detail ->> 'count' FROM audit_event ORDER BY 1"


@pytest.fixture(autouse=True)
def store(conninfo: str) -> Iterator[psycopg.Connection[Any]]:
    """A look into the database, where nothing is recorded yet."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(
            f"DO $$ BEGIN SET LOCAL session_replication_role = replica;"
            f" TRUNCATE {TABLES} CASCADE; END $$".encode()
        )
        yield connection


def issue(log: BatchedIssueLog, entity_id: str, count: int = 1, address: str = "192.0.2.7") -> None:
    for _ in range(count):
        log.issued(entity_id, address, "txn", version=1, in_grace=False, jti=fresh_id())


def jtis(store: psycopg.Connection[Any]) -> list[int]:
    return sorted(len(set(text.split())) for (text,) in store.execute(TOKENS))


def test_a_flood_of_strangers_is_counted_in_one_statement(
    conninfo: str, store: psycopg.Connection[Any]
) -> None:
    statements: list[str] = []

    async def act(database: Database) -> None:
        sync = database._engine.sync_engine
        sa.event.listen(sync, "before_cursor_execute", lambda *a: statements.append(a[2]))
        log = BatchedIssueLog(database)
        for number in range(1050):
            log.refused("", f"198.51.{number // 250}.{number % 250}", "txn", "unknown-entity")
        issue(log, "KAVERI-FIP", 3)
        await log.stop()
        assert len(log) == 0

    with_database(conninfo, act)

    counts = dict(store.execute(STRANGERS).fetchall())
    assert sum(counts.values()) == 1050
    assert len(counts) == anonymous.MAX_ADDRESSES
    assert counts["(others)"] == 51
    assert jtis(store) == [3]
    assert sum("INSERT INTO audit_anonymous" in one for one in statements) == 1


def test_a_long_backlog_is_written_in_slices(conninfo: str, store: psycopg.Connection[Any]) -> None:
    """The last write of a stop writes all of them, each in an ordinary transaction."""

    async def act(database: Database) -> None:
        log = BatchedIssueLog(database)
        issue(log, "SETU-AA", 65_000)
        for number in range(5000):
            issue(log, f"FIP-{number:04}", 7)
            log.refused(f"FIP-{number:04}", "192.0.2.7", "txn", "wrong-secret")
        await log.stop()
        assert len(log) == 0

    with_database(conninfo, act)

    per_row = jtis(store)
    assert sum(per_row) == 100_000
    assert max(per_row) <= issue_log_store.SLICE_JTIS
    for counted in (USES, DAYS):
        found = dict(store.execute(counted).fetchall())
        assert found.pop("SETU-AA") == 65_000
        assert Counter(found.values()) == {7: 5000}
    assert Counter(count for _, count in store.execute(REFUSED)) == {"1": 5000}
    transactions = store.execute("SELECT count(DISTINCT xmin::text) FROM audit_token_issue")
    assert transactions.fetchall() == [(6,)]


@pytest.mark.parametrize(
    ("locked", "written", "missing"),
    [
        ("audit_anonymous", (TOKENS, REFUSED), STRANGERS),
        ("audit_token_issue", (STRANGERS, REFUSED), TOKENS),
        ("token_day", (STRANGERS, REFUSED), USES),
    ],
)
def test_a_part_that_fails_waits_alone(
    conninfo: str,
    store: psycopg.Connection[Any],
    locked: LiteralString,
    written: tuple[LiteralString, ...],
    missing: LiteralString,
) -> None:
    async def act(database: Database) -> None:
        log = BatchedIssueLog(database)
        issue(log, "KAVERI-FIP", 2)
        log.refused("KAVERI-FIP", "192.0.2.7", "txn", "wrong-secret")
        log.refused("", "192.0.2.8", "txn", "unknown-entity")
        with psycopg.connect(conninfo) as other:
            other.execute(f"LOCK TABLE {locked}".encode())
            await log.stop()
            assert len(log) == 1
        assert all(store.execute(one).fetchall() for one in written)
        assert not store.execute(missing).fetchall()
        issue(log, "KAVERI-FIP")
        await log.stop()
        assert len(log) == 0

    with_database(conninfo, act)

    assert sum(jtis(store)) == 3
    assert store.execute(USES).fetchall() == [("KAVERI-FIP", 3)]
    assert store.execute(DAYS).fetchall() == [("KAVERI-FIP", 3)]
    assert store.execute(REFUSED).fetchall() == [("KAVERI-FIP", "1")]
    assert store.execute(STRANGERS).fetchall() == [("192.0.2.8", 1)]


def test_a_slice_that_cannot_be_stored_keeps_no_other_waiting(
    conninfo: str, store: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issue_log_store, "SLICE_GROUPS", 2)

    async def act(database: Database) -> None:
        log = BatchedIssueLog(database)
        for name in ("A", "B", "C", "not\0text", "E"):
            issue(log, name)
        with pytest.raises(sa.exc.DBAPIError):
            await log.stop()
        assert len(log) == 2

    with_database(conninfo, act)

    assert [name for name, _ in store.execute(USES)] == ["A", "B", "E"]


def test_an_outage_leaves_the_rest_for_the_next_write_and_what_failed_for_its_end(
    conninfo: str, store: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issue_log_store, "SLICE_GROUPS", 1)

    async def act(database: Database) -> list[list[str]]:
        log = BatchedIssueLog(database)
        for name in ("A", "B", "C", "D"):
            issue(log, name)
        seen = []
        with psycopg.connect(conninfo) as other:
            other.execute("INSERT INTO token_day VALUES ('B', (now() AT TIME ZONE 'UTC')::date, 1)")
            for waiting in (3, 1):
                await log.stop()
                assert len(log) == waiting
                seen.append([name for name, _ in store.execute(USES)])
            other.rollback()
        await log.stop()
        return [*seen, [name for name, _ in store.execute(USES)]]

    assert with_database(conninfo, act) == [["A"], ["A", "C", "D"], ["A", "B", "C", "D"]]
    assert Counter(store.execute(DAYS).fetchall()) == {(name, 1): 1 for name in "ABCD"}


def test_what_is_being_written_counts_for_the_bounds() -> None:
    waiting = issue_log_store.WaitingGroups(2, 3)

    def add(name: str) -> bool:
        return waiting.add((name, "", "", 1), f"txn-{name}", fresh_id())

    assert [add("A"), add("A"), add("B"), add("B")] == [True, True, True, False]
    [one] = waiting.take()
    assert [add("A"), add("C"), len(waiting)] == [False, False, 2]
    waiting.put_back([one])
    assert [add("A"), len(waiting)] == [False, 2]
    [one] = waiting.take()
    waiting.written(one)
    assert [add("C"), add("C"), len(waiting)] == [True, True, 1]


def refusals(at: datetime, numbers: range) -> list[AuditEvent]:
    return [
        AuditEntry(
            EventName.USER_LINK_REFUSE,
            Caller("nobody", f"192.0.2.{number}", f"t{number}"),
            reason=("unknown", "expired")[number % 2],
            outcome=Outcome.REFUSED,
        ).at(at)
        for number in numbers
    ]


def test_many_take_the_places_of_a_minute_as_each_by_itself_would(
    conninfo: str, store: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    later = AT + timedelta(minutes=1)

    async def count(database: Database, events: list[AuditEvent]) -> None:
        async with database.transaction() as transaction:
            await anonymous.count_anonymous(transaction, events)

    async def act(database: Database) -> None:
        monkeypatch.setattr(anonymous, "MAX_ADDRESSES", 8)
        for numbers in (range(10, 15), range(12, 20), range(10, 16)):
            for one in refusals(AT, numbers):
                await count(database, [one])
            await count(database, refusals(later, numbers))
        await count(database, [])

    with_database(conninfo, act)

    one_by_one, together = (
        store.execute(
            "SELECT address, event, reason, outcome, count, txn_id, first_at = %(at)s,"
            " last_at = %(at)s FROM audit_anonymous"
            " WHERE minute = date_trunc('minute', %(at)s) ORDER BY 1, 2, 3",
            {"at": at},
        ).fetchall()
        for at in (AT, later)
    )
    assert together == one_by_one
    assert len(together) == 10
    assert sum(row[4] for row in together) == 19
