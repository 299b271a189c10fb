"""A database that comes to another server: moved whole it goes on as it was, and is not believed."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from tests.faults.postgres.second_place import SECOND, until_exported
from tests.faults.postgres.upgraded import upgrade
from tests.support.agent.agent_process import free_port
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.database.template_database import prepare
from tests.support.forked_command import run_mudra
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.until import PATIENCE_S

from mudra.storage.database.embedded.programs import programs
from mudra.storage.database.embedded.server import embedded_server

pytestmark = pytest.mark.slow

FROM_ELSEWHERE = (
    "this database came here from another server: if it was moved whole, as by pg_upgrade, and "
    "nothing was written in the old place since, run mudra database moved --nothing-since; after "
    "any other copy run mudra restore again, or mudra database recovered --to TIME"
)
MOVED = ("database", "moved", "--nothing-since")
MOVES = "SELECT actor, detail ? 'from' FROM audit_event WHERE event = 'database:place:move'"


@dataclass
class Old:
    """A service that stopped, of which a backup was made, and what someone holds of it."""

    data: Path
    port: int
    """A part of its issuer: a token is of one place."""
    dump: Path
    """By hand, of the database as it stopped."""
    member: str
    headers: dict[str, str]
    beyond: bytes
    """The second place after the service ran once more in the old place."""


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Old:
    home = tmp_path_factory.mktemp("old")
    data, key, dump = home / "data", home / "backup.key", home / "mudra.dump"
    port = free_port()
    prepare(data, with_templates=True)  # pg_upgrade makes its databases from them
    with running_service(data, port=port) as service:
        member = new_member(service)
        headers = member.bearer()
        public = service.cli("backup", "key", str(key)).stdout.strip()
        service.cli("backup", "create", "--to", str(home / "kept"), "--recipient", public)
        assert member.reset(headers).status_code == 200
        until_exported(service, "entity:secret:reset")
    with embedded_server(data) as url:
        words = (programs() / "pg_dump", "-Fc", "-f", dump, "-d", url)
        subprocess.run(words, check=True, timeout=PATIENCE_S)
    _copied(data, home / "moved")
    with running_service(data) as service:
        again = new_member(service)
        assert again.reset().status_code == 200
        until_exported(service, again.entity_id)
    return Old(home / "moved", port, dump, member.entity_id, headers, (data / SECOND).read_bytes())


@pytest.fixture(scope="module")
def upgraded(old: Old, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of the old service after pg_upgrade, for each test to copy."""
    folder = _copied(old.data, tmp_path_factory.mktemp("upgraded") / "data")
    upgrade(folder)
    return folder


def _copied(data: Path, folder: Path) -> Path:
    """Copy a data directory, owners and all."""
    subprocess.run(["cp", "-a", "--reflink=auto", data, folder], check=True)
    return folder


def _refused_start(folder: Path, **variables: str) -> str:
    with pytest.raises(AssertionError) as said, running_service(folder, **variables):
        pass
    return " ".join(str(said.value).split())


def _said(done: "subprocess.CompletedProcess[str]") -> str:
    return " ".join(done.stderr.split())


def test_after_pg_upgrade_everyone_goes_on_as_before(
    old: Old, upgraded: Path, tmp_path: Path
) -> None:
    folder = _copied(upgraded, tmp_path / "data")
    own = {"MUDRA_DATA_DIR": str(folder)}
    refused = _refused_start(folder)
    unstated = run_mudra("database", "moved", **own)
    done = [run_mudra(*MOVED, "--json", **own) for _ in range(2)]
    with running_service(folder, port=old.port) as service:
        client = service.client()
        body = {"entityId": old.member}
        read = client.post("/v1/entity/secret/read", json=body, headers=old.headers)
        verified = service.cli("audit", "verify")
        mails = json.loads(service.cli("mail", "list", "--json").stdout)
        made = service.cli(
            *("backup", "create", "--to", str(tmp_path / "kept"), "--recipient"),
            run_mudra("backup", "key", str(tmp_path / "a.key")).stdout.strip(),
        )
    with embedded_server(folder) as url, psycopg.connect(url) as connection:
        moves = connection.execute(MOVES).fetchall()

    assert FROM_ELSEWHERE in refused
    assert (unstated.returncode, "add --nothing-since" in unstated.stderr) == (2, True)
    assert [json.loads(one.stdout) for one in done] == [{"already": False}, {"already": True}]
    assert read.status_code == 200, read.text
    assert (verified.exit_code, made.exit_code) == (0, 0), verified.output
    assert not [mail for mail in mails if "restored" in mail["subject"]]
    assert [(actor.partition(":")[0], named) for actor, named in moves] == [("operator", True)]


def test_a_move_is_not_believed_where_the_second_place_knows_of_more(
    old: Old, upgraded: Path, tmp_path: Path
) -> None:
    folder = _copied(upgraded, tmp_path / "data")
    (folder / SECOND).write_bytes(old.beyond)
    own = {"MUDRA_DATA_DIR": str(folder)}
    refused = run_mudra(*MOVED, **own)
    still = _refused_start(folder)
    recovered = run_mudra(
        *("database", "recovered", "--to", "2026-11-23T08:00:00Z", "--json"), **own
    )

    assert refused.returncode == 1
    assert "was not moved whole" in _said(refused)
    assert "events that it lacks" in _said(refused)
    assert FROM_ELSEWHERE in still
    assert json.loads(recovered.stdout)["lost"]


def test_a_dump_by_hand_is_a_move_where_the_second_place_vouches_for_it(
    old: Old, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    shutil.copy(old.data / "master.key", folder)
    with own_postgres(tmp_path / "server") as server:
        as_superuser(server, "CREATE DATABASE moved")
        url = server.replace("/mudra?", "/moved?")
        words = ("--no-owner", "--no-privileges", "-d", url, old.dump)
        subprocess.run((programs() / "pg_restore", *words), check=True, timeout=PATIENCE_S)
        own = {"MUDRA_DATA_DIR": str(folder), "MUDRA_DATABASE_URL": url}
        started = _refused_start(folder, **own)
        nothing = run_mudra(*MOVED, **own)
        as_superuser(url, "SELECT setval('audit_event_seq_seq', 1)")
        behind = run_mudra(*MOVED, **own)
        as_superuser(
            url, "SELECT setval('audit_event_seq_seq', (SELECT max(seq) FROM audit_event))"
        )
        with psycopg.connect(url):
            used = run_mudra(*MOVED, **own)
        collected = ("--checkpoints", str(old.data / SECOND))
        later = tmp_path / "later.log"
        later.write_bytes(old.beyond)
        more = run_mudra(*MOVED, "--checkpoints", str(later), **own)
        done = run_mudra(*MOVED, *collected, **own)
        with running_service(folder, **own) as service:
            verified = service.cli("audit", "verify")

    assert FROM_ELSEWHERE in started
    assert "does not have its last checkpoints" in _said(nothing)
    assert "the sequences of the database were not moved" in _said(behind)
    assert "1 other sessions use the database" in _said(used)
    assert "events that it lacks" in _said(more)
    assert (done.returncode, done.stdout.split(".")[0]) == (0, "It is recorded"), done.stderr
    assert verified.exit_code == 0, verified.output


def test_nothing_is_recorded_where_nothing_was_moved(old: Old, tmp_path: Path) -> None:
    folder = _copied(old.data, tmp_path / "data")
    done = run_mudra(*MOVED, MUDRA_DATA_DIR=str(folder))

    assert (done.returncode, done.stdout.startswith("Nothing to do")) == (0, True), done.stderr
