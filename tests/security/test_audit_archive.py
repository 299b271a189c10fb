"""Archives of the audit: written, verified, dropped, and attacked in file and database."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.storage.audit.audited_nodes import AuditedNodes, audit_server, audited_nodes

from mudra.audit.chain import CheckpointForged
from mudra.audit.proof.verdict import AuditState

TAMPERED = {
    "a row": (b'"user:asha"', b'"user:ravi"'),
    "a token block": (b'"first_seq":', b'"first_seq":1'),
    "the header": (b'"first_block":0', b'"first_block":1'),
    "the signature": (b'"mac":"', b'"mac":"00'),
}


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[AuditedNodes, Path]]:
    """Two archives of a sealed audit with token blocks, and rows after them."""
    home = tmp_path_factory.mktemp("archive")
    files = home / "files"
    with (
        audit_server(home / "data") as server,
        audited_nodes(server.url, home, server.encryption) as nodes,
    ):
        for _ in range(2):
            nodes.write(10)
            nodes.issue(20)
            nodes.pack()
            nodes.seal()
            assert nodes.archive(files) is not None
        nodes.write(10)
        nodes.seal()
        yield nodes, files


def test_archives_hold_the_audit_up_to_a_checkpoint(archived: tuple[AuditedNodes, Path]) -> None:
    nodes, files = archived
    first, second = sorted(files.iterdir())

    assert (first.name[:18], second.name[:18]) == ("audit-000000000001", "audit-000000000012")
    assert nodes.check_archives(files) == 23, "the event of the first archive is in the second"
    assert first.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("part", list(TAMPERED))
def test_a_file_that_was_changed_is_found(
    archived: tuple[AuditedNodes, Path], tmp_path: Path, part: str
) -> None:
    nodes, files = archived
    for file in files.iterdir():
        text = gzip.decompress(file.read_bytes())
        assert TAMPERED[part][0] in text or "000012" in file.name
        (tmp_path / file.name).write_bytes(gzip.compress(text.replace(*TAMPERED[part], 1)))

    with pytest.raises(CheckpointForged):
        nodes.check_archives(tmp_path)


def test_a_file_that_is_cut_or_gone_is_found(
    archived: tuple[AuditedNodes, Path], tmp_path: Path
) -> None:
    nodes, files = archived
    first, second = sorted(files.iterdir())
    (tmp_path / first.name).write_bytes(first.read_bytes()[:-40])

    with pytest.raises(CheckpointForged):
        nodes.check_archives(tmp_path)
    (tmp_path / first.name).write_bytes(first.read_bytes())
    with pytest.raises(FileNotFoundError):
        nodes.check_archives(tmp_path)
    (tmp_path / second.name).write_bytes(first.read_bytes())
    with pytest.raises(CheckpointForged):
        nodes.check_archives(tmp_path)


def test_what_is_archived_is_dropped_and_the_rest_still_verified(
    archived: tuple[AuditedNodes, Path],
) -> None:
    nodes, _ = archived
    gone = (
        "DELETE FROM audit_seal WHERE number <= {0}",
        "DELETE FROM audit_event e WHERE NOT EXISTS (SELECT FROM audit_seal s WHERE s.seq = e.seq)",
    )
    for dropped in (7, 11, 20, 23):  # also when a batch ends within an archive
        for verdict in nodes.verdicts(*(statement.format(dropped) for statement in gone)):
            assert (verdict.state, verdict.problem) == (AuditState.INTACT, ""), dropped
            assert verdict.archived == (11 if dropped <= 11 else 23)
    for attack in (
        [statement.format(24) for statement in gone],
        [*(statement.format(23) for statement in gone), "DELETE FROM audit_archive"],
        [*(statement.format(23) for statement in gone), "UPDATE audit_archive SET name = 'other'"],
        [
            *(statement.format(23) for statement in gone),
            "UPDATE audit_event SET actor = 'user:ravi' WHERE event = 'entity:secret:read'",
        ],
    ):
        for verdict in nodes.verdicts(*attack):
            assert verdict.state is AuditState.BROKEN, attack


def test_nothing_younger_than_thirty_days_is_dropped(archived: tuple[AuditedNodes, Path]) -> None:
    nodes, _ = archived

    assert nodes.drop_archived(days=30) == 0
    with psycopg.connect(nodes.url) as connection:
        for highest in (23, 24):
            with pytest.raises(psycopg.errors.RaiseException, match="until it is archived"):
                connection.execute("SELECT audit_archived_drop(%s, 10)", [highest])
            connection.rollback()


def test_the_job_drops_rows_whose_token_blocks_are_gone_first(tmp_path: Path) -> None:
    with (
        audit_server(tmp_path / "data") as server,
        audited_nodes(server.url, tmp_path, server.encryption) as nodes,
    ):
        nodes.issue(3)
        nodes.write(3)
        # As if a while ago, before anything was sealed.
        nodes.sql(
            "UPDATE audit_token_issue SET at = at - interval '90 days'",
            "UPDATE audit_event SET at = at - interval '90 days'",
        )
        nodes.pack(days_ago=90)
        nodes.seal(days_ago=90)
        nodes.write(3)
        nodes.issue(3)
        nodes.pack()
        nodes.seal()
        nodes.archive(tmp_path / "files", days_old=60)

        assert nodes.drop_archived(days=60) == 0
        assert nodes.drop(60) == 1
        assert nodes.drop_archived(days=60) == 4
        nodes.seal()
        for verdict in nodes.verdicts():
            assert (verdict.state, verdict.problem) == (AuditState.INTACT, "")
            assert (verdict.archived, verdict.token_blocks, verdict.dropped_blocks) == (4, 1, 0)


def test_the_shortest_period_waits_until_the_database_lets_rows_go(tmp_path: Path) -> None:
    """The newest event is a while old: the database counts its 30 days from there."""
    with (
        audit_server(tmp_path / "data") as server,
        audited_nodes(server.url, tmp_path, server.encryption) as nodes,
    ):
        nodes.write(3)
        nodes.sql("UPDATE audit_event SET at = at - interval '30 days'")
        nodes.seal(days_ago=30)
        nodes.archive(tmp_path / "files", days_old=30)
        nodes.sql("UPDATE audit_event SET at = at - interval '1 hour' WHERE seq > 3")

        assert nodes.drop_archived(days=30) == 0
