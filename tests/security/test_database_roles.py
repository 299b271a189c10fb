"""The service's role on the real server: anyone who speaks SQL through it cannot get further."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg
import pytest
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.database.template_database import prepare
from tests.support.documents.blocks import blocks_of
from tests.support.forked_command import run_mudra

from mudra.bootstrap.node.serve import open_store
from mudra.settings.settings import Settings
from mudra.shared.secret_text import SecretText
from mudra.storage.backup.postgres_dump import only_backup
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.schema.migrate import migrate
from mudra.storage.database.schema.roles import OWNER, READER, SERVICE, as_role, excess_rights

REFUSED: Final = (
    "CREATE TABLE mine (n int)",
    "CREATE TEMPORARY TABLE audit_event (n int)",
    "CREATE SCHEMA mine",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE EXTENSION plpgsql_check",
    "ALTER TABLE entity ADD COLUMN mine int",
    "ALTER TABLE audit_event DISABLE TRIGGER ALL",
    "DROP TABLE entity",
    "DROP TABLE audit_seal",
    "TRUNCATE audit_event CASCADE",
    "TRUNCATE entity CASCADE",
    "UPDATE audit_event SET actor = 'user:other'",
    "UPDATE audit_seal SET hash = ''",
    "UPDATE audit_checkpoint SET count = 0",
    "UPDATE audit_epoch SET after = 0",
    "DELETE FROM audit_event",
    "DELETE FROM audit_seal",
    "DELETE FROM audit_checkpoint",
    "DELETE FROM audit_epoch",
    "UPDATE alembic_version SET version_num = '0000'",
    "UPDATE schema_version SET version_num = '0000'",
    "SELECT pg_read_file('{key}')",
    "SELECT pg_read_binary_file('{key}')",
    "SELECT lo_import('{key}')",
    "SELECT pg_ls_dir('/')",
    "COPY entity FROM '{key}'",
    "COPY entity TO '/tmp/entity'",
    "COPY entity TO PROGRAM 'cat'",
    "ALTER ROLE mudra_service SUPERUSER",
    "ALTER ROLE postgres LOGIN",
    "CREATE ROLE mine SUPERUSER",
    "GRANT mudra_owner TO mudra_service",
    "GRANT pg_read_server_files TO mudra_service",
    "SET ROLE mudra_owner",
    "SET ROLE postgres",
    "SET session_replication_role = replica",
    "ALTER SYSTEM SET log_statement = 'all'",
    "ALTER DATABASE mudra OWNER TO mudra_service",
    "SELECT metrics_partition_make('audit_event', now())",
    "SELECT metrics_partition_drop('audit_event', now())",
    "SELECT metrics_partition_make('metrics_block_window', '1066-10-14')",
)
KEY_READERS: Final = tuple(statement for statement in REFUSED if "{key}" in statement)


class Prepared:
    """A data directory whose server is held, as a start of the service leaves it."""

    def __init__(self, data_dir: Path, service: str, open_: contextlib.ExitStack) -> None:
        self.key = data_dir / "master.key"
        self.service = service
        self._open = open_
        self._connections: dict[str, psycopg.Connection] = {}

    def refused(self, role: str, statement: str) -> bool:
        """Tell whether the server refuses a statement for want of rights or as nonsense."""
        if role not in self._connections:
            made = psycopg.connect(as_role(self.service, role), autocommit=True)
            self._connections[role] = self._open.enter_context(made)
        try:
            self._connections[role].execute(statement.format(key=self.key).encode())
        except psycopg.Error as error:
            return error.sqlstate in {"42501", "P0001", "0A000"}
        return False


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    data_dir = tmp_path_factory.mktemp("roles") / "data"
    prepare(data_dir)
    with (
        open_store(Settings(data_dir=data_dir), create=True) as (service, _),
        contextlib.ExitStack() as connections,
    ):
        yield Prepared(data_dir, service, connections)


@pytest.mark.parametrize("statement", REFUSED)
def test_the_services_role_is_refused(prepared: Prepared, statement: str) -> None:
    """X4: no DDL, no change of the audit, no file, no other role."""
    assert prepared.refused(SERVICE, statement)


@pytest.mark.parametrize("role", [OWNER, SERVICE, READER])
def test_no_role_reads_the_master_key(prepared: Prepared, role: str) -> None:
    """K7: the file is there, and no role that can sign in reads files."""
    assert prepared.key.stat().st_mode & 0o777 == 0o600
    for statement in KEY_READERS:
        assert prepared.refused(role, statement), statement
    with pytest.raises(psycopg.OperationalError, match="not permitted to log in"):
        psycopg.connect(as_role(prepared.service, "postgres"))


def test_the_reader_reads_no_secret_and_writes_nothing(prepared: Prepared) -> None:
    """X4: figures and the registry, and no more."""
    for table in ("entity", "registry_version", "metrics_block", "metrics_incident"):
        assert not prepared.refused(READER, f"SELECT * FROM {table}")
        assert prepared.refused(READER, f"DELETE FROM {table}")
    assert not prepared.refused(READER, "SELECT kid, public_jwk FROM signing_key")
    for table in ("signing_key", "sealed_key", "entity_secret", "user_account", "mail_outbox"):
        assert prepared.refused(READER, f"SELECT * FROM {table}")
    assert prepared.refused(READER, "SELECT metrics_partition_make('metrics_block_window', now())")


def test_the_services_role_makes_and_drops_partitions_of_metrics(prepared: Prepared) -> None:
    with psycopg.connect(prepared.service) as connection:
        for verb, expected in (("make", True), ("make", False), ("drop", True), ("drop", False)):
            row = connection.execute(
                f"SELECT metrics_partition_{verb}('metrics_block_hour', '2031-05-17')".encode()
            ).fetchone()
            assert row == (expected,)
            names = connection.execute(
                "SELECT relname FROM pg_class WHERE relname LIKE 'metrics_block_hour_2031%'"
                " AND relkind = 'r'"
            ).fetchall()
            assert names == ([("metrics_block_hour_203105",)] if verb == "make" else [])


@pytest.mark.slow
def test_a_directory_from_before_the_roles_is_taken_over(tmp_path: Path) -> None:
    """Its tables belong to the superuser, who signs in; after one start neither is so."""
    data_dir = tmp_path / "data"
    with embedded_server(data_dir) as superuser:
        migrate(superuser)
        as_superuser(superuser, "INSERT INTO service_fact VALUES ('kept', 'yes')")
    for _ in range(2):
        with open_store(Settings(data_dir=data_dir), create=True) as (service, _encryption):
            with psycopg.connect(service) as connection:
                assert excess_rights(connection) == []
                kept = "SELECT value FROM service_fact WHERE name = 'kept'"
                assert connection.execute(kept).fetchone() == ("yes",)
            with psycopg.connect(as_role(service, OWNER)) as connection:
                connection.execute("ALTER TABLE entity ADD COLUMN later int")
                connection.rollback()


def test_rights_taken_away_come_back_and_rights_too_many_go(tmp_path: Path) -> None:
    """A dump restored without privileges, or a hand that granted too much."""
    prepare(tmp_path)
    settings = Settings(data_dir=tmp_path)
    with open_store(settings, create=True) as (service, _):
        with psycopg.connect(as_role(service, OWNER)) as connection:
            connection.execute("REVOKE ALL ON entity FROM mudra_service")
            connection.execute("GRANT UPDATE ON audit_event TO mudra_service")
        with open_store(settings, create=False), psycopg.connect(service) as connection:
            connection.execute("SELECT FROM entity")
            assert excess_rights(connection) == []


def test_an_own_database_with_one_role_works_and_doctor_says_so(tmp_path: Path) -> None:
    with own_postgres(tmp_path / "database") as url:
        environment = {"MUDRA_DATABASE_URL": url, "MUDRA_DATA_DIR": str(tmp_path / "node")}
        with open_store(
            Settings(data_dir=tmp_path / "node", database_url=SecretText(url)), create=True
        ):
            pass
        found = run_mudra("doctor", **environment)
    assert found.returncode == 1
    assert "FAIL  database roles: the service's role may read files" in found.stdout
    assert "run mudra database prepare" in found.stdout


def test_an_own_database_is_prepared_by_one_command(tmp_path: Path) -> None:
    with own_postgres(tmp_path / "database") as url:
        empty = url.replace("/mudra?", "/fresh?")
        as_superuser(url, "CREATE DATABASE fresh")
        settings, command = (
            block.body for block in blocks_of("docs/how-to/prepare-the-database.md")[:2]
        )
        of_service, of_owner = re.findall(r"^\w+", settings, re.MULTILINE)
        superuser, _, *words = re.split(r"[= ]", command.strip())
        environment = {
            of_service: as_role(empty, "serving"),
            of_owner: as_role(empty, "owning"),
            "MUDRA_DATA_DIR": str(tmp_path / "node"),
        }
        refused = run_mudra("database", "prepare", **environment)
        as_reader = as_role(url, READER)
        weak = run_mudra("database", "prepare", MUDRA_DATABASE_ADMIN_URL=as_reader, **environment)
        assert words.pop(0) == "mudra"
        done = run_mudra(*words, **{superuser: empty}, **environment)
        again = run_mudra("database", "prepare", **environment)
        with psycopg.connect(as_role(empty, "serving")) as connection:
            assert excess_rights(connection) == []
            connection.execute("INSERT INTO service_fact VALUES ('by', 'serving')")
        recipient = run_mudra("backup", "key", str(tmp_path / "backup.key")).stdout.strip()
        backup = ("backup", "create", "--to", str(tmp_path / "kept"), "--recipient", recipient)
        with only_backup(as_role(empty, "owning")):
            at_once = run_mudra(*backup, **environment)
        backed_up = run_mudra(*backup, **environment)
        environment.pop("MUDRA_DATABASE_OWNER_URL")
        without_owner = run_mudra(*backup, **environment)
        with open_store(
            Settings(
                data_dir=tmp_path / "node", database_url=SecretText(as_role(empty, "serving"))
            ),
            create=True,
        ):
            pass  # a node that knows the service's role alone works on the prepared database
    assert refused.returncode != 0
    assert "must name a superuser" in weak.stderr
    assert done.returncode == 0, done.stderr
    assert again.returncode == 0, again.stderr
    assert at_once.returncode == 1
    assert "another backup of this service is being made" in at_once.stderr
    assert backed_up.returncode == 0, backed_up.stderr
    assert without_owner.returncode == 1
    assert "the role serving may not read all that a backup holds (" in without_owner.stderr
    assert "set MUDRA_DATABASE_OWNER_URL" in without_owner.stderr
    assert len(list((tmp_path / "kept").iterdir())) == 2
