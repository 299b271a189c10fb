"""A restore is distinguished from tampering, and never stops sealing."""

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.storage.audit.audited_nodes import (
    AuditedNodes,
    Server,
    audit_server,
    audited_nodes,
    seal_as_the_job_does,
)
from tests.support.audit.audit_rows import NOON
from tests.support.database.template_database import prepare
from tests.support.documents.blocks import blocks_of

from mudra.audit.acts import Act, Acts
from mudra.audit.chain import Checkpoint
from mudra.audit.event import Caller, EventName
from mudra.audit.horizon_store import sealing_delay
from mudra.audit.proof.verdict import AuditState
from mudra.audit.proof.witness import open_witness
from mudra.bootstrap.backup.recovery import rolled_back
from mudra.cli.local.program import CommandFailed
from mudra.overview.rollback import Origin
from mudra.settings.settings import Settings
from mudra.storage.crypto.encryption_keys import load_data_encryption
from mudra.storage.database.embedded.cluster import CLUSTER
from mudra.storage.database.embedded.programs import programs
from mudra.storage.database.embedded.server import embedded_server

ROWS = 20
LOST = 48
MANY = 3000
FEW = 200
_WRITE_MANY = f"""
DO $$ BEGIN
    FOR i IN 1..{MANY} LOOP
        INSERT INTO audit_event
            (at, event, outcome, actor, entity_id, address, txn_id, reason, detail)
        VALUES (clock_timestamp(), 'entity:secret:read', 'success', 'user:asha', 'KAVERI-FIP',
            '', 't', '', '{{}}');
        COMMIT;
    END LOOP;
END $$
"""
_ANALYZE = ("ANALYZE audit_event", "ANALYZE audit_seal")


@pytest.fixture
def original(tmp_path: Path) -> Iterator[tuple[Server, AuditedNodes]]:
    """A cluster that has used up many transaction numbers, with sealed and unsealed events."""
    with (
        audit_server(tmp_path / "original") as server,
        audited_nodes(server.url, tmp_path, server.encryption) as nodes,
    ):
        for _ in range(ROWS):
            nodes.write(1)
        nodes.seal()
        nodes.write(5)
        yield server, nodes


def dump(server: Server, tmp_path: Path) -> Path:
    by_the_page("pg_dump", tmp_path, server.url)
    return tmp_path / "mudra.dump"


def by_the_page(program: str, folder: Path, url: str) -> None:
    """Run what docs/operations/running.md says of a program, in a folder."""
    blocks = blocks_of("docs/operations/running.md")
    (words,) = (one.body for one in blocks if one.first.startswith(f"{program} "))
    (form,) = (one.body for one in blocks if one.first == "[mudra]")
    address = "".join(f"{name}={value}\n" for name, value in conninfo_to_dict(url).items())
    services = folder / "pg_service.conf"
    services.write_text("\n".join(f"[{one}]\n{address}" for one in re.findall(r"\[(.+)\]", form)))
    path = f"{programs()}:{os.environ['PATH']}"
    environment = {"PATH": path, "PGSERVICEFILE": str(services)}
    subprocess.run(["bash", "-ec", words], cwd=folder, env=environment, check=True)


def lose_more(nodes: AuditedNodes) -> None:
    """Write what the restore takes back, vouched for in both second places."""
    nodes.write(LOST - 5)
    nodes.seal()


@contextlib.contextmanager
def recovered(home: Path) -> Iterator[str]:
    """Start a copied cluster, which recovers and begins a new timeline."""
    (home / CLUSTER / "recovery.signal").touch()
    with (home / CLUSTER / "postgresql.auto.conf").open("a") as settings:
        settings.write("restore_command = 'false'\n")
    with embedded_server(home) as url:
        # Without a target the recovery may have ended by itself.
        with (
            contextlib.suppress(psycopg.errors.ObjectNotInPrerequisiteState),
            psycopg.connect(url, autocommit=True) as connection,
        ):
            connection.execute("SELECT pg_promote()")
        yield url


def assert_distinguished(nodes: AuditedNodes) -> None:
    """Verify before and after sealing begins, and after an operator's confirmation."""
    for verdict in nodes.verdicts():
        assert verdict.state is AuditState.RESTORED, verdict
    nodes.write(7)
    nodes.seal()
    assert nodes.copy() == [True, True]

    for verdict in nodes.verdicts():
        assert verdict.state is AuditState.RESTORED, verdict
        assert verdict.waiting == 0
        assert f"at least {LOST - 5} events after row {ROWS + 5} are missing" in verdict.problem

    nodes.confirm()
    nodes.write(1)
    nodes.seal()
    for verdict in nodes.verdicts():
        assert (verdict.state, verdict.waiting) == (AuditState.INTACT, 0), verdict
        assert f"at least {LOST - 5} events" in verdict.notes[0]


def test_a_dump_restored_to_another_cluster(
    original: tuple[Server, AuditedNodes], tmp_path: Path
) -> None:
    server, nodes = original
    dump(server, tmp_path)
    lose_more(nodes)

    with embedded_server(tmp_path / "restored") as url:
        by_the_page("pg_restore", tmp_path, url)  # a start of the service grants rights again
        with audited_nodes(url, tmp_path, server.encryption) as restored:
            assert_distinguished(restored)


@pytest.mark.slow
def test_a_dump_restored_to_the_same_cluster(
    original: tuple[Server, AuditedNodes], tmp_path: Path
) -> None:
    server, nodes = original
    file = dump(server, tmp_path)
    lose_more(nodes)

    server.run("CREATE DATABASE restored TEMPLATE postgres")
    url = server.named("restored")
    subprocess.run([programs() / "pg_restore", "-d", url, file], check=True)
    with audited_nodes(url, tmp_path, server.encryption) as restored:
        assert_distinguished(restored)


@pytest.mark.slow
def test_a_recovery_to_a_point_in_time(tmp_path: Path) -> None:
    home = tmp_path / "original"
    with audit_server(home) as server:
        encryption = server.encryption
        with audited_nodes(server.url, tmp_path, encryption) as nodes:
            for _ in range(ROWS):
                nodes.write(1)
            nodes.seal()
            nodes.write(5)
    restored = tmp_path / "restored" / CLUSTER
    restored.parent.mkdir(mode=0o700)
    subprocess.run(["cp", "-a", home / CLUSTER, restored], check=True)
    with embedded_server(home) as url, audited_nodes(url, tmp_path, encryption) as nodes:
        lose_more(nodes)

    with (
        recovered(restored.parent) as url,
        audited_nodes(url, tmp_path, encryption) as nodes,
    ):
        assert_distinguished(nodes)


def test_a_fail_over_that_lost_nothing_is_no_fault(tmp_path: Path) -> None:
    home = tmp_path / "data"
    with audit_server(home) as server:
        encryption = server.encryption
        with audited_nodes(server.url, tmp_path, encryption) as nodes:
            nodes.write(ROWS)
            nodes.seal()
            nodes.write(5)
    with recovered(home) as url, audited_nodes(url, tmp_path, encryption) as nodes:
        nodes.write(5)
        nodes.seal()
        for verdict in nodes.verdicts():
            assert (verdict.state, verdict.notes) == (AuditState.INTACT, ()), verdict
            assert verdict.vouched >= ROWS + 10


def states(nodes: AuditedNodes) -> set[AuditState]:
    return {verdict.state for verdict in nodes.verdicts()}


def read_at_each_step(nodes: AuditedNodes) -> list[int]:
    """Seal, measure the delay and seal what that left: count the rows of the audit read by each."""
    return [
        nodes.rows_read(seal_as_the_job_does),
        nodes.rows_read(sealing_delay),
        nodes.rows_read(seal_as_the_job_does),
        nodes.rows_read(sealing_delay),
    ]


@dataclass(frozen=True)
class Past:
    """A server whose audit has a past, and the second places of the nodes that it had."""

    server: Server
    home: Path

    def places(self, tmp_path: Path) -> Path:
        """Give a test copies of the second places, which it may spoil."""
        return Path(shutil.copytree(self.home, tmp_path / "home"))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    """Many sealed events, each of a transaction of its own."""
    folder = tmp_path_factory.mktemp("large")
    with audit_server(folder / "original") as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(_WRITE_MANY.encode())
        with audited_nodes(server.url, folder / "home", server.encryption) as nodes:
            nodes.seal()
            nodes.sql(*_ANALYZE)
        yield Past(server, folder / "home")


@pytest.mark.slow
def test_entering_a_cluster_reads_what_is_not_sealed_alone(large: Past, tmp_path: Path) -> None:
    """A scan of all events takes longer than a statement may, once there are millions."""
    home, encryption = large.places(tmp_path), large.server.encryption
    with large.server.copy() as url, audited_nodes(url, home, encryption) as nodes:
        read = read_at_each_step(nodes)
        nodes.seal()

        assert max(read) < FEW
        assert states(nodes) == {AuditState.INTACT}


@pytest.mark.slow
def test_a_restored_audit_is_not_read_over_and_over(large: Past, tmp_path: Path) -> None:
    """In the new cluster transactions have smaller numbers than in what came along."""
    home, encryption = large.places(tmp_path), large.server.encryption
    dump(large.server, tmp_path)
    with embedded_server(tmp_path / "restored") as url:
        by_the_page("pg_restore", tmp_path, url)
        with audited_nodes(url, home, encryption) as nodes:
            nodes.sql(*_ANALYZE)
            nodes.write(3)
            entering = read_at_each_step(nodes)
            nodes.write(3)
            later = read_at_each_step(nodes)
            nodes.seal()

            assert max(*entering, *later) < FEW
            assert states(nodes) == {AuditState.INTACT}

    with (
        recovered(tmp_path / "restored") as url,
        audited_nodes(url, home, encryption) as nodes,
    ):
        nodes.write(3)
        failed_over = read_at_each_step(nodes)
        nodes.seal()

        assert max(failed_over) < FEW
        assert states(nodes) == {AuditState.INTACT}


@pytest.fixture(scope="module")
def failed_over(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    """Two fail-overs after a backup: the second place knows what it lost of each."""
    folder = tmp_path_factory.mktemp("failed-over")
    home = folder / "home"
    with audit_server(folder / "original") as server:
        with audited_nodes(server.url, home, server.encryption) as nodes:
            nodes.write(ROWS)
            nodes.seal()
        server.run("CREATE DATABASE second TEMPLATE mudra")
        with audited_nodes(server.named("second"), home, server.encryption) as nodes:
            nodes.write(LOST)
            nodes.seal()
        server.run("CREATE DATABASE third TEMPLATE second")
        with audited_nodes(server.named("third"), home, server.encryption) as nodes:
            nodes.write(LOST)
            nodes.seal()
        yield Past(server, home)


@pytest.fixture
def before_fail_overs(failed_over: Past, tmp_path: Path) -> Iterator[AuditedNodes]:
    """A backup, put back after them."""
    home, encryption = failed_over.places(tmp_path), failed_over.server.encryption
    with failed_over.server.copy() as backup, audited_nodes(backup, home, encryption) as nodes:
        yield nodes


def test_a_restore_to_before_fail_overs_is_no_intrusion(before_fail_overs: AuditedNodes) -> None:
    nodes = before_fail_overs

    before = states(nodes)
    nodes.write(5)
    nodes.seal()

    assert before == states(nodes) == {AuditState.RESTORED}
    assert nodes.copy() == [True, True]


def test_a_restore_to_before_fail_overs_is_confirmed_once(before_fail_overs: AuditedNodes) -> None:
    nodes = before_fail_overs

    nodes.confirm()
    nodes.write(5)
    nodes.seal()

    assert states(nodes) == {AuditState.INTACT}
    assert nodes.copy() == [True, True]


def test_a_second_place_that_cannot_be_read_is_named_with_the_way_out(tmp_path: Path) -> None:
    data = tmp_path / "data"
    prepare(data)
    with embedded_server(data) as url:
        load_data_encryption(url, data, create=True)
    (data / "audit-checkpoints.jsonl").write_text("no checkpoint\n")

    with pytest.raises(CommandFailed, match=r"line 1 of .*audit-checkpoints\.jsonl .*again"):
        rolled_back(Settings(data_dir=data), Origin("a-backup", NOON), Caller("operator:rao"))


@pytest.mark.parametrize(("newest", "listed"), [("0 days", 1), ("2 days", 2)])
def test_a_rollback_acts_on_what_was_lost_since_the_database_stops(
    tmp_path: Path, newest: str, listed: int
) -> None:
    """What an earlier restore took back was dealt with then; a wrong `--to` hides nothing."""
    data, now = tmp_path / "data", datetime.now(UTC)
    reset = EventName.ENTITY_SECRET_RESET.value
    acts = [
        Act(row_id, now - timedelta(days=days), reset, "KAVERI-FIP", "user:asha")
        for row_id, days in ((90, 1), (91, 0))
    ]
    prepare(data)
    with embedded_server(data) as url, psycopg.connect(url) as connection:
        encryption = load_data_encryption(url, data, create=True)
        connection.execute(
            "INSERT INTO audit_event"
            " (at, event, outcome, actor, entity_id, address, txn_id, reason, detail) VALUES"
            f" (now() - interval '{newest}', '{reset}', 'success', 'a', '', '', 't', '', '{{}}')"
        )
    place = open_witness("file", data, encryption)
    place.publish(Checkpoint(99, bytes(32), now), Acts(tuple(acts)))

    _, lost = rolled_back(Settings(data_dir=data), Origin("a-backup", now), Caller("operator:rao"))

    assert lost == acts[-listed:]
