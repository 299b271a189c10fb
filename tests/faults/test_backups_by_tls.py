"""Backups of a PostgreSQL that is reached by TLS, here Debian's."""

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.faults.postgres.versions import DEBIAN, postgres_of, with_tls
from tests.faults.postgres.wrapped_programs import wrapped
from tests.support.database.own_postgres import as_superuser
from tests.support.forked_command import run_mudra
from tests.support.members import new_member
from tests.support.process import running_service

from mudra.storage.backup.postgres_dump import DumpFailed, dumping, restoring

pytestmark = pytest.mark.slow


class CutOff(Exception):
    """What ends a restore in its middle."""


class Place:
    """A server that takes nothing but TLS by TCP, and the addresses of its databases."""

    def __init__(self, socket: str, authority: Path) -> None:
        self.socket, self.authority = socket, authority

    def address(self, role: str, name: str, mode: str = "verify-full") -> str:
        port = conninfo_to_dict(self.socket)["port"]
        trusted = f"&sslrootcert={self.authority}&channel_binding=require"
        return (
            f"postgresql://{role}:pass@localhost:{port}/{name}?sslmode={mode}"
            f"{trusted if mode == 'verify-full' else ''}"
        )

    def made(self, name: str) -> dict[str, str]:
        """Make a database with its roles; gives a node's settings."""
        as_superuser(self.socket, f"CREATE DATABASE {name}")
        settings = {
            "MUDRA_DATABASE_URL": self.address("mudra_service", name),
            "MUDRA_DATABASE_OWNER_URL": self.address("mudra_owner", name),
        }
        admin = self.socket.replace("/postgres?", f"/{name}?")
        done = run_mudra("database", "prepare", MUDRA_DATABASE_ADMIN_URL=admin, **settings)
        assert done.returncode == 0, done.stderr
        return settings


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    home = tmp_path_factory.mktemp("server")
    authority, options = with_tls(DEBIAN, home)
    home.chmod(0o755)
    with postgres_of(DEBIAN, home, *options) as socket:
        yield Place(socket, authority)


def entities(url: str) -> set[str]:
    with psycopg.connect(url) as connection:
        return {str(row[0]) for row in connection.execute("SELECT entity_id FROM entity")}


def test_a_backup_is_made_and_restored(place: Place, tmp_path: Path) -> None:
    """With channel binding, which only a program that knows TLS itself can do."""
    node, key = tmp_path / "node", tmp_path / "backup.key"
    with running_service(tmp_path / "data", **place.made("mudra")) as service:
        member = new_member(service)
        public = service.cli("backup", "key", str(key)).stdout.strip()
        to = ("--to", str(tmp_path), "--recipient", public)
        made = json.loads(service.cli("backup", "create", "--json", *to).stdout)
        master = (service.data_dir / "master.key").read_bytes()
    settings = place.made("restored")
    node.mkdir(mode=0o700)
    (node / "master.key").write_bytes(master)
    (node / "master.key").chmod(0o600)
    words = ("restore", made["file"], "--identity", str(key))
    done = run_mudra(*words, MUDRA_DATA_DIR=str(node), **settings)

    assert done.returncode == 0, done.stderr
    assert member.entity_id in entities(settings["MUDRA_DATABASE_OWNER_URL"])


def test_nothing_is_sent_in_the_clear_where_a_program_knows_no_tls(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked for by no address: the session before it was encrypted."""
    settings = place.made("clear")
    owner = place.address("mudra_owner", "clear", "prefer")
    monkeypatch.setenv("MUDRA_POSTGRES_BIN", str(wrapped(tmp_path / "no-tls", "18.99")))

    with pytest.raises(DumpFailed, match=r"set MUDRA_POSTGRES_BIN .* postgresql-client-18"):  # noqa: SIM117
        with dumping(owner) as stream:
            stream.read()
    assert entities(settings["MUDRA_DATABASE_OWNER_URL"]) == set()


@pytest.mark.parametrize("how", [CutOff, DumpFailed])
def test_a_restore_that_is_cut_off_leaves_nothing(place: Place, how: type[Exception]) -> None:
    """By an exception, and by an end of the dump that is too early."""
    name = f"half_{how.__name__.lower()}"
    as_superuser(place.socket, f"CREATE DATABASE {name}_source")
    source = place.socket.replace("/postgres?", f"/{name}_source?")
    as_superuser(
        source, "CREATE TABLE many AS SELECT n, md5(n::text) FROM generate_series(1, 50000) n"
    )
    as_superuser(place.socket, f"CREATE DATABASE {name}")
    target = place.socket.replace("/postgres?", f"/{name}?")
    with dumping(source) as stream:
        dump = stream.read()

    with pytest.raises(how), restoring(target) as stream:  # noqa: PT012
        stream.write(dump[: len(dump) * 3 // 4])
        if how is CutOff:
            raise CutOff

    with psycopg.connect(target) as connection:
        assert connection.execute("SELECT to_regclass('many')").fetchone() == (None,)
    with restoring(target) as stream:
        stream.write(dump)
    with psycopg.connect(target) as connection:
        assert connection.execute("SELECT count(*) FROM many").fetchone() == (50_000,)


def test_what_pg_restore_did_not_finish_is_not_committed(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed between two statements, the first of which has run."""
    as_superuser(place.socket, "CREATE DATABASE killed")
    target = place.socket.replace("/postgres?", "/killed?")
    own = wrapped(tmp_path / "own", "18.6")
    (own / "pg_restore").write_text("#!/bin/sh\necho 'CREATE TABLE many ();'\nkill -9 $$\n")
    monkeypatch.setenv("MUDRA_POSTGRES_BIN", str(own))

    with pytest.raises(DumpFailed), restoring(target):
        pass

    with psycopg.connect(target) as connection:
        assert connection.execute("SELECT to_regclass('many')").fetchone() == (None,)
