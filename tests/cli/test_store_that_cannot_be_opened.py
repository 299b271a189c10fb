"""A store that cannot be opened: each command says why and the way out, and reveals no password."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.database.template_database import prepare
from tests.support.forked_command import run_mudra

from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.schema.migrate import HEAD, revisions
from mudra.storage.database.schema.roles import OWNER, as_role

PASSWORD = "a-password-of-a-database"
NOTHING_LISTENS = f"postgresql://mudra:{PASSWORD}@127.0.0.1:1/mudra"
NO_URL = f"host=127.0.0.1 {PASSWORD}"
SERVE = ("serve", "--port", "0")
LIST = ("member", "list")


def mudra(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return run_mudra(*words, MUDRA_TELEMETRY_PORT="0", **variables)


@pytest.mark.parametrize(
    ("words", "url", "said", "code"),
    [
        (SERVE, NOTHING_LISTENS, "the database did not answer: check MUDRA_DATABASE_URL", 5),
        (LIST, NOTHING_LISTENS, "the database did not answer: check MUDRA_DATABASE_URL", 5),
        (SERVE, NO_URL, "MUDRA_DATABASE_URL must be postgresql://", 2),
    ],
    ids=["serve, no one listens", "list, no one listens", "serve, no address"],
)
def test_an_address_that_leads_nowhere_is_named_without_its_password(
    words: tuple[str, ...], url: str, said: str, code: int, tmp_path: Path
) -> None:
    done = mudra(*words, MUDRA_DATABASE_URL=url, MUDRA_DATA_DIR=str(tmp_path))

    shown = done.stdout + done.stderr
    assert said in shown
    assert PASSWORD not in shown
    assert "Traceback" not in shown
    assert done.returncode == code


def test_the_doctor_reports_what_else_it_found_when_the_database_is_away(tmp_path: Path) -> None:
    done = mudra(
        "doctor", "--json", MUDRA_DATABASE_URL=NOTHING_LISTENS, MUDRA_DATA_DIR=str(tmp_path)
    )

    findings = {one["check"]: one["ok"] for one in json.loads(done.stdout)}
    assert findings == {
        "settings": True,
        "passkeys": True,
        "languages": True,
        "certificates": True,
        "installation": True,
        "disk": True,
        "master key": True,
        "registry": True,
        "database": False,
    }


def test_an_older_release_leaves_a_newer_database_alone_and_says_so(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    prepare(data_dir)
    with embedded_server(data_dir) as conninfo:
        with psycopg.connect(conninfo) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9998'")
            connection.execute("UPDATE schema_version SET version_num = '9999'")

        for words in (SERVE, LIST):
            done = mudra(*words, MUDRA_DATA_DIR=str(data_dir))

            shown = done.stdout + done.stderr
            assert (
                f"at schema revision 9999, which this release of Mudra does not know (its own is {HEAD})"
                in shown
            )
            assert "Traceback" not in shown
            assert done.returncode == 1
        # A start has ended the superuser's sign-ins.
        with psycopg.connect(as_role(conninfo, OWNER)) as connection:
            assert revisions(connection) == ("9999", "9998")


def test_an_older_release_works_on_a_newer_schema_that_allows_it(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    prepare(data_dir)
    with embedded_server(data_dir) as conninfo:
        with psycopg.connect(conninfo) as connection:
            connection.execute("UPDATE schema_version SET version_num = '9999'")
            newer = revisions(connection)

        done = mudra(*LIST, MUDRA_DATA_DIR=str(data_dir))

        assert "the schema is of a newer release" in done.stderr
        assert "there is no master key" in done.stderr  # what it needs next
        with psycopg.connect(as_role(conninfo, OWNER)) as connection:
            assert revisions(connection) == newer


def test_a_data_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    done = mudra(*SERVE, MUDRA_DATA_DIR=str(file / "data"))

    assert f"the data directory {file / 'data'} cannot be used: Not a directory" in done.stderr
    assert "set MUDRA_DATA_DIR" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 1


@pytest.fixture(scope="module")
def own_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with own_postgres(tmp_path_factory.mktemp("own")) as url:
        yield url


def test_missing_rights_on_the_schema_are_named(own_database: str, tmp_path: Path) -> None:
    as_superuser(own_database, "CREATE ROLE nothing LOGIN", "CREATE DATABASE bare")
    address = own_database.replace("postgres@", "nothing@").replace("/mudra?", "/bare?")

    done = mudra(*SERVE, MUDRA_DATABASE_URL=address, MUDRA_DATA_DIR=str(tmp_path))

    assert (
        "the database's user may not do what Mudra needs: run mudra database prepare" in done.stderr
    )
    assert "permission denied for schema public" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 1


def test_a_read_only_database_is_named_at_the_start(own_database: str, tmp_path: Path) -> None:
    as_superuser(own_database, "ALTER DATABASE mudra SET default_transaction_read_only = on")
    try:
        done = mudra(*SERVE, MUDRA_DATABASE_URL=own_database, MUDRA_DATA_DIR=str(tmp_path))
    finally:
        as_superuser(
            own_database,
            "SET default_transaction_read_only = off",
            "ALTER DATABASE mudra RESET default_transaction_read_only",
        )

    assert "the service's database is read-only: let MUDRA_DATABASE_URL lead to" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 5
