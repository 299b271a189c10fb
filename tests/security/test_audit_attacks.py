"""Attacks on the audit by one who may write anything to the database, on two nodes.

Each is found from either node: the one that sealed, and one that only copied checkpoints.
"""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.storage.audit.audited_nodes import AuditedNodes, Server, audit_server, audited_nodes
from tests.support.depth import with_every_change

from mudra.audit.proof.verdict import AuditState, AuditVerdict

ROWS = 60
_COLUMNS = "at, event, outcome, actor, entity_id, address, txn_id, reason, detail"
_FORGED = "'user:token:issue', 'success', 'user:forged', '', '', 't', '', '{}'"
_INSERT = f"INSERT INTO audit_event ({_COLUMNS}) VALUES"  # constants of this file

CHANGES = {
    "seq": "UPDATE audit_event SET seq = DEFAULT WHERE seq = 30",
    "at": "UPDATE audit_event SET at = at + interval '1 ms' WHERE seq = 30",
    "event": "UPDATE audit_event SET event = 'user:token:issue' WHERE seq = 30",
    "outcome": "UPDATE audit_event SET outcome = 'refused' WHERE seq = 30",
    "actor": "UPDATE audit_event SET actor = 'nobody' WHERE seq = 30",
    "entity": "UPDATE audit_event SET entity_id = 'OTHER' WHERE seq = 30",
    "address": "UPDATE audit_event SET address = '192.0.2.1' WHERE seq = 30",
    "transaction ID": "UPDATE audit_event SET txn_id = 'other' WHERE seq = 30",
    "reason": "UPDATE audit_event SET reason = 'other' WHERE seq = 30",
    "detail": "UPDATE audit_event SET detail = '{\"a\": 1}' WHERE seq = 30",
    "xid": "UPDATE audit_event SET xid = '7' WHERE seq = 30",
    "an unknown event": "UPDATE audit_event SET event = 'forged' WHERE seq = 30",
    "hash": "UPDATE audit_seal SET hash = '\\x00' WHERE number = 30",
    "number": "UPDATE audit_seal SET number = 1000 WHERE number = 30",
    "epoch of a seal": "UPDATE audit_seal SET epoch = 2 WHERE number = 30",
    "checkpoint": "UPDATE audit_checkpoint SET count = count - 1",
    "epoch": "UPDATE audit_epoch SET cluster = 'other'",
    "an added epoch": (
        "INSERT INTO audit_epoch SELECT 2, cluster, 0, 0, at, 'operator:me', mac FROM audit_epoch"
    ),
}
_FREE = "ALTER TABLE audit_seal DROP CONSTRAINT fk_audit_seal_seq"
REMOVALS = {
    "a row": ["DELETE FROM audit_event WHERE seq = 30"],
    "a row with its seal": [
        "DELETE FROM audit_seal WHERE seq = 30",
        "DELETE FROM audit_event WHERE seq = 30",
    ],
    "a row, the rest renumbered": [
        "DELETE FROM audit_seal WHERE number = 30",
        "DELETE FROM audit_event WHERE seq = 30",
        "UPDATE audit_seal SET number = -number WHERE number > 30",
        "UPDATE audit_seal SET number = -number - 1 WHERE number < 0",
    ],
    "a seal": ["DELETE FROM audit_seal WHERE number = 30"],
    "the tail": [
        "DELETE FROM audit_seal WHERE number > 12",
        "DELETE FROM audit_event WHERE seq > 12",
    ],
    "the tail and its checkpoints": [
        "DELETE FROM audit_checkpoint",
        "DELETE FROM audit_seal WHERE number > 12",
        "DELETE FROM audit_event WHERE seq > 12",
    ],
    "everything but the epoch": [
        "TRUNCATE audit_checkpoint, audit_seal, audit_event",
    ],
    "everything": ["TRUNCATE audit_checkpoint, audit_seal, audit_event, audit_epoch"],
    "two rows swapped": [
        "UPDATE audit_seal SET number = -1 WHERE number = 30",
        "UPDATE audit_seal SET number = 30 WHERE number = 40",
        "UPDATE audit_seal SET number = 40 WHERE number = -1",
    ],
}
JUDGED_WHEN_SEALED = ("an old time", "a time to come")
_AS = "OVERRIDING SYSTEM VALUE VALUES"
_PLACED = _INSERT.replace(f"({_COLUMNS}) VALUES", f"(seq, xid, {_COLUMNS}) {_AS}")
INSERTIONS = {
    "an old time": f"{_INSERT} (now() - interval '3 days', {_FORGED})",
    "a time to come": f"{_INSERT} (now() + interval '3 days', {_FORGED})",
    "a negative number": f"{_PLACED} (-5, pg_current_xact_id(), now(), {_FORGED})",
    "a negative number and an old time": (
        f"{_PLACED} (-5, pg_current_xact_id(), now() - interval '3 days', {_FORGED})"
    ),
    "an old transaction": (
        f"{_PLACED} (DEFAULT, (SELECT min(xid) FROM audit_event), now(), {_FORGED})"
    ),
    "a transaction to come": f"{_PLACED} (DEFAULT, '99999999', now(), {_FORGED})",
    "a number to come": f"{_PLACED} (99999, pg_current_xact_id(), now(), {_FORGED})",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with audit_server(tmp_path_factory.mktemp("attacks") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def shared(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuditedNodes]:
    """Two nodes whose audit is sealed, and vouched for in both second places."""
    with (
        server.copy() as url,
        audited_nodes(url, tmp_path_factory.mktemp("shared"), server.encryption) as nodes,
    ):
        nodes.write(ROWS // 2)
        nodes.write(ROWS // 2)
        nodes.seal()
        yield nodes


@pytest.fixture
def nodes(server: Server, tmp_path: Path) -> Iterator[AuditedNodes]:
    """Make the same, for one test to spoil."""
    with server.copy() as url, audited_nodes(url, tmp_path, server.encryption) as nodes:
        nodes.write(ROWS // 2)
        nodes.write(ROWS // 2)
        nodes.seal()
        yield nodes


def states(found: list[AuditVerdict]) -> set[AuditState]:
    return {verdict.state for verdict in found}


def test_an_untouched_audit_is_intact_on_both_nodes(shared: AuditedNodes) -> None:
    for verdict in shared.verdicts():
        assert (verdict.state, verdict.problem) == (AuditState.INTACT, "")
        assert verdict.vouched == ROWS


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_found_from_both_nodes(shared: AuditedNodes, what: str) -> None:
    found = shared.verdicts(_FREE, CHANGES[what])

    assert states(found) == {AuditState.BROKEN}, found


@pytest.mark.parametrize("what", REMOVALS)
def test_a_removal_is_found_from_both_nodes(shared: AuditedNodes, what: str) -> None:
    found = shared.verdicts(_FREE, *REMOVALS[what])

    assert states(found) == {AuditState.BROKEN}, found


@pytest.mark.parametrize(
    "what", with_every_change(["everything"], ["the tail and its checkpoints", "everything"])
)
def test_a_removal_is_found_after_the_chain_went_on(nodes: AuditedNodes, what: str) -> None:
    nodes.sql(*REMOVALS[what])
    nodes.write(2 * ROWS)
    nodes.seal(copied=False)

    assert nodes.copy() == [False, False]
    found = nodes.verdicts()
    assert states(found) == {AuditState.BROKEN}, found


@pytest.mark.parametrize("what", [what for what in INSERTIONS if what not in JUDGED_WHEN_SEALED])
def test_a_row_that_claims_another_place_is_found(shared: AuditedNodes, what: str) -> None:
    found = shared.verdicts(INSERTIONS[what])

    assert states(found) == {AuditState.BROKEN}, found


@pytest.mark.parametrize(
    "what",
    with_every_change(
        ["an old time"], [*JUDGED_WHEN_SEALED, "a negative number", "a number to come"]
    ),
)
def test_a_row_that_claims_another_place_is_found_when_it_was_sealed(
    nodes: AuditedNodes, what: str
) -> None:
    nodes.sql(INSERTIONS[what])
    nodes.write(ROWS)
    nodes.seal()

    found = nodes.verdicts()
    assert states(found) == {AuditState.BROKEN}, found


def test_an_older_copy_put_back_is_found_and_can_be_confirmed(nodes: AuditedNodes) -> None:
    nodes.sql(
        "CREATE TABLE old_event AS TABLE audit_event",
        "CREATE TABLE old_seal AS TABLE audit_seal",
        "CREATE TABLE old_checkpoint AS TABLE audit_checkpoint",
    )
    nodes.write(480)
    nodes.seal()
    nodes.sql(
        "TRUNCATE audit_checkpoint, audit_seal, audit_event",
        "INSERT INTO audit_event OVERRIDING SYSTEM VALUE SELECT * FROM old_event",
        "INSERT INTO audit_seal SELECT * FROM old_seal",
        "INSERT INTO audit_checkpoint SELECT * FROM old_checkpoint",
    )

    assert states(nodes.verdicts()) == {AuditState.BROKEN}

    nodes.confirm()
    nodes.write(1)
    nodes.seal()
    for verdict in nodes.verdicts():
        assert verdict.state is AuditState.INTACT, verdict
        assert f"at least 480 events after row {ROWS} are missing" in verdict.notes[0]
    assert nodes.confirm() is None


def test_a_transaction_in_another_database_does_not_stop_sealing(
    nodes: AuditedNodes, server: Server
) -> None:
    with psycopg.connect(server.named("postgres")) as connection:
        connection.execute("SELECT pg_current_xact_id()")
        nodes.write(10)
        nodes.seal()

        assert {verdict.vouched for verdict in nodes.verdicts()} == {ROWS + 10}


def test_rows_of_an_open_transaction_are_sealed_in_the_order_of_transactions(
    nodes: AuditedNodes,
) -> None:
    with psycopg.connect(nodes.url) as connection:
        connection.execute(b"SELECT pg_current_xact_id()")
        nodes.write(10)
        nodes.seal()
        waiting = {verdict.waiting for verdict in nodes.verdicts()}
        connection.execute(f"{_INSERT} (now(), {_FORGED})".encode())
    nodes.seal()

    assert waiting == {10}
    assert states(nodes.verdicts()) == {AuditState.INTACT}


def test_sealing_that_has_stopped_is_said_while_the_service_runs(nodes: AuditedNodes) -> None:
    nodes.sql(f"{_INSERT} (now() - interval '16 minutes', {_FORGED})")
    running = "INSERT INTO node SELECT gen_random_uuid(), clock_timestamp() FROM (VALUES (1), (2))"

    stopped = nodes.verdicts(running)
    offline = nodes.verdicts()

    assert states(stopped) == {AuditState.STOPPED}
    assert "sealing has stopped: 1 events since" in stopped[0].problem
    assert states(offline) == {AuditState.INTACT}
