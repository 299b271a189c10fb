"""A search of the audit from a time on does not read what is older."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from tests.storage.audit.audited_nodes import AuditedNodes, audit_server, audited_nodes

from mudra.audit.search import AuditFilter, AuditRow, TokensOfDay
from mudra.audit.search_store import AuditSearch
from mudra.storage.database.transaction import Transaction

OLD = 2000
FEW = 200
_REFUSE = """
INSERT INTO audit_event (at, event, outcome, actor, entity_id, address, txn_id, reason, detail)
SELECT now() - cast('{} days' AS interval), 'entity:token:refuse', 'refused', '', 'SETU-AA',
    '192.0.2.7', 't', '', '{{"count": 2}}' FROM generate_series(1, {})
"""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuditedNodes]:
    """An AA with many refused tokens ten days ago, three of today, and one between."""
    home = tmp_path_factory.mktemp("searched")
    with (
        audit_server(home / "data") as server,
        audited_nodes(server.url, home, server.encryption) as nodes,
    ):
        for days_ago, count in ((10, OLD), (4, 1), (0, 3)):
            nodes.sql(_REFUSE.format(days_ago, count))
            nodes.seal(days_ago=days_ago)
        nodes.sql("ANALYZE audit_event", "ANALYZE audit_seal")
        yield nodes


def test_the_tokens_of_the_last_days_are_counted_from_their_events_alone(
    nodes: AuditedNodes,
) -> None:
    found: list[TokensOfDay] = []

    async def count(transaction: Transaction) -> None:
        since = await transaction.now() - timedelta(days=1)
        found.extend(await AuditSearch(transaction).tokens_by_day("SETU-AA", since))

    assert nodes.rows_read(count) < FEW
    assert [(day.issued, day.refused) for day in found] == [(0, 6)]


@pytest.mark.parametrize(("days", "listed"), [(1, 3), (5, 4), (9, 4), (11, 10)])
def test_events_from_a_time_on_are_all_listed(nodes: AuditedNodes, days: int, listed: int) -> None:
    found: list[AuditRow] = []

    async def search(transaction: Transaction) -> None:
        which = AuditFilter(
            entity_id="SETU-AA", since=await transaction.now() - timedelta(days=days)
        )
        found.extend(await AuditSearch(transaction).events(which, None, 10))

    nodes.rows_read(search)
    assert len(found) == listed


def test_events_since_the_first_day_of_the_calendar_are_all_listed(nodes: AuditedNodes) -> None:
    found: list[AuditRow] = []

    async def search(transaction: Transaction) -> None:
        which = AuditFilter(entity_id="SETU-AA", since=datetime.min.replace(tzinfo=UTC))
        found.extend(await AuditSearch(transaction).events(which, None, 10))

    nodes.rows_read(search)
    assert len(found) == 10


def test_a_search_that_finds_little_reads_no_older_events(nodes: AuditedNodes) -> None:
    async def search(transaction: Transaction) -> None:
        which = AuditFilter(actor="operator:rao", since=await transaction.now() - timedelta(days=1))
        await AuditSearch(transaction).events(which, None, 10)

    assert nodes.rows_read(search) < FEW
