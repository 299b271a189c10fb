"""A store that cannot be opened: each command says why and the way out, and tells no password."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.migrate import HEAD, migrate

MUDRA = str(Path(sys.executable).with_name("mudra"))
PASSWORD = "a-password-of-a-database"
NOBODY_LISTENS = f"postgresql://mudra:{PASSWORD}@127.0.0.1:1/mudra"
NO_URL = f"host=127.0.0.1 {PASSWORD}"
SERVE = ("serve", "--port", "0")
LIST = ("member", "list")


def mudra(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    known = {name: value for name, value in os.environ.items() if not name.startswith("MUDRA_")}
    return subprocess.run(
        [MUDRA, *words],
        env={**known, "MUDRA_TELEMETRY_PORT": "0", **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "url", "said", "code"),
    [
        (SERVE, NOBODY_LISTENS, "the database did not answer: check MUDRA_DATABASE_URL", 5),
        (LIST, NOBODY_LISTENS, "the database did not answer: check MUDRA_DATABASE_URL", 5),
        (SERVE, NO_URL, "MUDRA_DATABASE_URL cannot be read: write postgresql://", 1),
    ],
    ids=["serve, nobody listens", "list, nobody listens", "serve, no address"],
)
def test_an_address_that_leads_nowhere_is_named_without_its_password(
    words: tuple[str, ...], url: str, said: str, code: int, tmp_path: Path
) -> None:
    done = mudra(*words, MUDRA_DATABASE_URL=url, MUDRA_DATA_DIR=str(tmp_path))

    told = done.stdout + done.stderr
    assert said in told
    assert PASSWORD not in told
    assert "Traceback" not in told
    assert done.returncode == code


def test_the_doctor_tells_what_else_it_found_when_the_database_is_away(tmp_path: Path) -> None:
    done = mudra(
        "doctor", "--json", MUDRA_DATABASE_URL=NOBODY_LISTENS, MUDRA_DATA_DIR=str(tmp_path)
    )

    findings = {one["check"]: one["ok"] for one in json.loads(done.stdout)}
    assert findings == {"settings": True, "disk": True, "master key": True, "database": False}


def test_an_older_release_leaves_a_newer_database_alone_and_says_so(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with embedded_server(data_dir) as conninfo:
        migrate(conninfo)
        with psycopg.connect(conninfo) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")

        for words in (SERVE, LIST):
            done = mudra(*words, MUDRA_DATA_DIR=str(data_dir))

            told = done.stdout + done.stderr
            assert f"at schema revision 9999, and this release of Mudra knows up to {HEAD}" in told
            assert "Traceback" not in told
            assert done.returncode == 1
        with psycopg.connect(conninfo) as connection:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        assert row == ("9999",)
