"""PostgreSQL 15 to 17: the schema, the storage tests and all flows (18: the other tests)."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.faults.postgres.versions import DEBIAN, postgres_of
from tests.support.forked_command import run_mudra
from tests.support.members import new_member
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.process import running_service
from tests.support.registry.registry_members import live_entry
from tests.support.service import PASSWORD, Service
from tests.support.until import PATIENCE_S

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=[DEBIAN, 16, 17])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    home = tmp_path_factory.mktemp(f"postgresql-{request.param}")
    home.chmod(0o755)
    with postgres_of(request.param, home) as url:
        with psycopg.connect(url) as connection:
            assert connection.info.server_version // 10_000 == request.param
        yield url


@pytest.fixture(scope="module")
def served(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on it, with the roles that `mudra database prepare` makes."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE mudra")
    urls = {
        name: server.replace("postgres@/postgres?", f"{role}@/mudra?")
        for name, role in (
            ("MUDRA_DATABASE_URL", "mudra_service:pass"),
            ("MUDRA_DATABASE_OWNER_URL", "mudra_owner:pass"),
            ("MUDRA_DATABASE_ADMIN_URL", "postgres"),
        )
    }
    done = subprocess.run(
        [str(Path(sys.executable).with_name("mudra")), "database", "prepare"],
        env={**os.environ, **urls}, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    del urls["MUDRA_DATABASE_ADMIN_URL"]
    data_dir = tmp_path_factory.mktemp("node") / "data"
    with running_service(data_dir, "--workers", "2", **urls) as running:
        yield running


def test_the_storage_tests_hold(server: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/storage"],
        env={**os.environ, "MUDRA_TESTS_SERVER": server},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-5000:]
    with psycopg.connect(server) as connection:
        used = connection.execute("SELECT count(*) FROM pg_database WHERE datname LIKE 'stored%'")
        assert used.fetchone() != (0,)


def test_secrets_and_tokens(served: Service) -> None:
    member = new_member(served)
    before = member.secret()
    token = member.entity_token(before).json()["accessToken"]

    assert served.introspected(token, member.entity_id, before)["active"] is True
    reset = member.reset(secretExpiryDays=90, oldSecretValidity=0)
    assert reset.status_code == 200, reset.text
    assert member.entity_token(before).status_code == 401
    assert member.entity_token(reset.json()["secret"]).status_code == 200


def test_an_entry_goes_live(served: Service) -> None:
    registry, entry = live_entry(served)

    assert registry.member.service is served
    assert entry


def test_pushes_and_pages(served: Service) -> None:
    aa, operator = pushing_aa(served), new_operator(served)
    window = aa.last_window()
    for payload in (aa.requests(window), aa.notifications(window)):
        pushed = aa.push(payload)
        assert pushed.status_code == 200, pushed.text
        assert aa.push(payload).json()["receiptId"] == pushed.json()["receiptId"]
    browser = reader(served)
    browser.sign_in(operator.email, PASSWORD)

    assert len(aa.receipts()["receipts"]) == 2
    for word in ("board", "health", "incidents", "members", "audit", "keys"):
        assert browser.get(f"/console/operator/{word}").status_code == 200


def test_the_commands_that_read_everything(served: Service) -> None:
    for words in (("audit", "verify"), ("doctor",), ("keys", "list"), ("mail", "list")):
        done = served.cli(*words, check=False)
        assert done.exit_code == 0 or words == ("doctor",), (words, done.output)
        assert "Traceback" not in done.output


def test_a_backup_is_restored(server: str, served: Service, tmp_path: Path) -> None:
    """A server before 17 knows no transaction_timeout, which pg_restore sets from 17 on."""
    member, key = new_member(served), tmp_path / "backup.key"
    public = served.cli("backup", "key", str(key)).stdout.strip()
    served.cli("backup", "create", "--to", str(tmp_path), "--recipient", public)
    (file,) = tmp_path.glob("*.dump.age")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE restored")
    there, node = server.replace("/postgres?", "/restored?"), tmp_path / "node"
    node.mkdir(mode=0o700)
    shutil.copy2(served.data_dir / "master.key", node)
    words = ("restore", str(file), "--identity", str(key))
    done = run_mudra(*words, MUDRA_DATA_DIR=str(node), MUDRA_DATABASE_URL=there)

    assert done.returncode == 0, done.stderr
    with psycopg.connect(there) as connection:
        found = connection.execute("SELECT entity_id FROM entity").fetchall()
    assert (member.entity_id,) in found
