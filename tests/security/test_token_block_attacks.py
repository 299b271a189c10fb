"""Attacks on the packed issues of tokens by one who may write anything to the database."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.storage.audit.audited_nodes import AuditedNodes, audit_server, audited_nodes

from mudra.audit.proof.verdict import AuditState
from mudra.audit.search import AuditFilter, AuditRow
from mudra.audit.search_store import AuditSearch
from mudra.storage.database.transaction import Transaction

_COLUMNS = "first_seq, last_seq, first_at, last_at, entities, marks, data"
_MIDDLE = "UPDATE audit_token_block SET {} WHERE number = 2"
ATTACKS = {
    "data": [_MIDDLE.format("data = data || '\\x00'")],
    "data of another block": [
        _MIDDLE.format("data = (SELECT data FROM audit_token_block WHERE number = 1)")
    ],
    "an entity hidden from the search": [_MIDDLE.format("entities = '{SETU-AA}'")],
    "a token hidden from the search": [_MIDDLE.format("marks = '{}'")],
    "its first number": [_MIDDLE.format("first_seq = first_seq - 1")],
    "its last number": [_MIDDLE.format("last_seq = last_seq - 1")],
    "its first time": [_MIDDLE.format("first_at = first_at - interval '1 day'")],
    "its last time": [_MIDDLE.format("last_at = last_at + interval '1 day'")],
    "a block taken out": ["DELETE FROM audit_token_block WHERE number = 2"],
    "the last block taken out": ["DELETE FROM audit_token_block WHERE number = 3"],
    "all taken out": ["TRUNCATE audit_token_block"],
    "two swapped": [
        "UPDATE audit_token_block SET number = 9 WHERE number = 1",
        "UPDATE audit_token_block SET number = 1 WHERE number = 2",
        "UPDATE audit_token_block SET number = 2 WHERE number = 9",
    ],
    "one added": [
        (
            f"INSERT INTO audit_token_block SELECT 4, {_COLUMNS} FROM audit_token_block"
            " WHERE number = 1"
        )
    ],
    "one added with a number below 1": [
        (
            f"INSERT INTO audit_token_block SELECT -4, {_COLUMNS} FROM audit_token_block"
            " WHERE number = 1"
        )
    ],
    "the oldest taken out as if dropped": [
        "INSERT INTO audit_token_drop VALUES (1, now(), '\\x00')",
        "DELETE FROM audit_token_block WHERE number = 1",
    ],
    "its event changed": [
        (
            "UPDATE audit_event SET detail = jsonb_set(detail, '{sha256}', '\"00\"')"
            " WHERE event = 'audit:tokens:pack'"
        )
    ],
}
FILTERS = {
    "all": AuditFilter(),
    "an entity": AuditFilter(entity_id="KAVERI-FIP"),
    "an actor": AuditFilter(actor="entity:SETU-AA"),
    "a transaction": AuditFilter(txn_id="txn-7"),
    "a token": AuditFilter(jti="jti-8"),
    "names": AuditFilter(event="entity:token:*"),
    "another name": AuditFilter(event="entity:secret:read"),
    "refusals": AuditFilter(outcome="refused"),
}


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuditedNodes]:
    """Two nodes with three sealed blocks, the first of which is two months old."""
    home = tmp_path_factory.mktemp("blocks")
    with (
        audit_server(home / "data") as server,
        audited_nodes(server.url, home, server.encryption) as nodes,
    ):
        for days in (60, 0, 0):
            nodes.write(3)
            nodes.issue(20)
            nodes.sql(f"UPDATE audit_token_issue SET at = at - interval '{days} days'")
            assert nodes.pack() == 20
        nodes.seal()
        yield nodes


def found(nodes: AuditedNodes, which: AuditFilter, before: int | None = None) -> list[AuditRow]:
    async def search(tx: Transaction) -> list[AuditRow]:
        return list(await AuditSearch(tx).events(which, before, 15))

    return nodes.at("b", search)


def test_untouched_blocks_are_intact_on_both_nodes(packed: AuditedNodes) -> None:
    for verdict in packed.verdicts():
        assert (verdict.state, verdict.problem) == (AuditState.INTACT, "")
        assert (verdict.token_blocks, verdict.dropped_blocks) == (3, 0)


@pytest.mark.parametrize("attack", list(ATTACKS))
def test_what_was_done_to_a_block_is_found(packed: AuditedNodes, attack: str) -> None:
    for verdict in packed.verdicts(*ATTACKS[attack]):
        assert verdict.state is AuditState.BROKEN, attack
        assert verdict.problem


def test_the_rights_of_the_service_do_not_suffice_to_drop_what_is_young(
    packed: AuditedNodes,
) -> None:
    with (
        psycopg.connect(packed.url) as connection,
        pytest.raises(psycopg.errors.RaiseException, match="30 days"),
    ):
        connection.execute("SELECT audit_token_blocks_drop(3)")


def test_packed_tokens_are_found_as_before(packed: AuditedNodes) -> None:
    packed.issue(20)
    before = {name: found(packed, which) for name, which in FILTERS.items()}

    packed.pack()
    packed.seal()

    # The newest are of the block just packed; the event of the packing itself is new.
    for name, rows in before.items():
        now = [r for r in found(packed, FILTERS[name]) if r.event != "audit:tokens:pack"]
        assert now == rows[: len(now)], name
        assert len(now) >= len(rows) - 1
    page = found(packed, FILTERS["an entity"])
    following = found(packed, FILTERS["an entity"], page[-1].seq)
    assert [r.seq for r in [*page, *following]] == sorted(
        {r.seq for r in [*page, *following]}, reverse=True
    )
    assert all(state.intact for state in packed.verdicts())


def test_blocks_over_age_are_dropped_signed_and_no_fault(packed: AuditedNodes) -> None:
    assert packed.drop(60) == 0, "by the day: not before a whole day is over age"
    assert packed.drop(59) == 1
    packed.seal()

    for verdict in packed.verdicts():
        assert (verdict.state, verdict.problem) == (AuditState.INTACT, "")
        assert verdict.dropped_blocks == 1
    for verdict in packed.verdicts("UPDATE audit_token_drop SET until = until + 1"):
        assert verdict.state is AuditState.BROKEN
    for verdict in packed.verdicts("DELETE FROM audit_token_drop"):
        assert verdict.state is AuditState.BROKEN


def test_the_shortest_period_drops_what_the_database_lets_go_and_no_more(tmp_path: Path) -> None:
    """The newest block is a while old: the database counts its 30 days from there."""
    with (
        audit_server(tmp_path / "data") as server,
        audited_nodes(server.url, tmp_path, server.encryption) as nodes,
    ):
        for age in ("32 days", "30 days 1 minute", "1 hour"):
            nodes.issue(2)
            nodes.sql(f"UPDATE audit_token_issue SET at = at - interval '{age}'")
            nodes.pack()

        assert nodes.drop(30) == 1
        assert nodes.drop(30) == 0
