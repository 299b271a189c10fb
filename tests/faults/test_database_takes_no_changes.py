"""A database that takes no changes: 503 that names the cause, tokens where they may go on (17, c)."""

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psycopg
import pytest
from tests.support.agent.agent_process import free_port
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.process import running_service
from tests.support.service import Service
from tests.support.small_disk import fill, small_disk
from tests.support.until import PATIENCE_S
from tests.unit.deploy.proxies import PROXIES, running_proxy

READ_ONLY = "the service's database is read-only"
STANDBY = "the service's database is a standby"
DISK_FULL = "the disk of the service's database is full"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("own") / "database"
    with own_postgres(folder) as url:
        yield url, folder


@pytest.fixture(scope="module")
def on_own(
    tmp_path_factory: pytest.TempPathFactory, database: tuple[str, Path]
) -> Iterator[Service]:
    data_dir = tmp_path_factory.mktemp("node") / "data"
    with running_service(
        data_dir, MUDRA_DATABASE_URL=database[0], MUDRA_TELEMETRY_PORT=str(free_port())
    ) as running:
        yield running


@pytest.fixture
def asha(on_own: Service) -> tuple[Member, dict[str, str], str]:
    """A member with a token of its admin and its secret."""
    member = new_member(on_own)
    bearer = member.bearer()
    return member, bearer, member.read(bearer).json()["secret"]


def ready(service: Service) -> httpx2.Response:
    return httpx2.get(f"{service.root}/readyz", verify=NO_TLS)


def error_text(response: httpx2.Response) -> str:
    """What a 503 says; empty for any other answer."""
    if response.status_code != 503:
        return ""
    assert int(response.headers["retry-after"]) >= 1
    return str(response.json()["errorMsg"])


def impaired(service: Service) -> str:
    """What a node that is ready cannot do; empty for any other answer."""
    answer = ready(service)
    return str(answer.json().get("impaired", "")) if answer.status_code == 200 else ""


def failures(service: Service, cause: str) -> float:
    """How often the database failed for this cause: what the alarm is about."""
    address = f"http://127.0.0.1:{service.environment['MUDRA_TELEMETRY_PORT']}/metrics"
    figures = httpx2.get(address, verify=NO_TLS).text
    line = rf'^mudra_database_failures_total{{cause="{cause}"}} (\S+)$'
    found = re.search(line, figures, re.MULTILINE)
    return float(found[1]) if found else -1.0


@contextlib.contextmanager
def read_only(url: str) -> Iterator[None]:
    """Make the database read-only until the end of the block."""
    as_superuser(
        url, "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()"
    )
    try:
        yield
    finally:
        # The setting would apply to this session too.
        as_superuser(
            url,
            "SET default_transaction_read_only = off",
            "ALTER SYSTEM RESET default_transaction_read_only",
            "SELECT pg_reload_conf()",
        )


def log(service: Service) -> str:
    return (service.data_dir / "mudra.log").read_text()


def test_a_read_only_database_ends_writes_but_not_tokens(
    on_own: Service, database: tuple[str, Path], asha: tuple[Member, dict[str, str], str]
) -> None:
    url, _ = database
    member, bearer, secret = asha
    on_own.wait_until(lambda: failures(on_own, "read-only") >= 0)  # it is there from the start
    before = failures(on_own, "read-only")
    with read_only(url):
        on_own.wait_until(lambda: impaired(on_own) == READ_ONLY)
        tokens = [member.entity_token(secret).status_code for _ in range(3)]
        reset = member.reset(bearer)
        sign_in = member.client.post(
            "/v1/user/token/generate", data={"username": member.email, "password": member.password}
        )

    assert failures(on_own, "read-only") > before + 2
    assert tokens == [200, 200, 200]
    assert error_text(reset).startswith(READ_ONLY)
    assert error_text(sign_in).startswith(READ_ONLY)
    assert '"read-only"' in log(on_own)
    on_own.wait_until(lambda: ready(on_own).json() == {"status": "ready"})
    assert member.reset(bearer).status_code == 200
    on_own.wait_until(lambda: issued(url, member) == 3)  # the audit of the tokens came after all


@pytest.mark.parametrize(
    "proxy",
    [pytest.param(one, marks=() if one == "nginx" else pytest.mark.slow) for one in PROXIES],
)
def test_tokens_go_on_behind_a_proxy_too(
    on_own: Service,
    database: tuple[str, Path],
    asha: tuple[Member, dict[str, str], str],
    proxy: str,
    tmp_path: Path,
) -> None:
    """One that asks for /readyz each second would turn away from all nodes at once."""
    member, _, secret = asha
    front, node = free_port(), int(on_own.root.rpartition(":")[2])
    found = set()
    with (
        running_proxy(proxy, tmp_path, front, [node, node]) as running,
        httpx2.Client(base_url=f"https://127.0.0.1:{front}", verify=running.tls) as client,
        read_only(database[0]),
    ):
        on_own.wait_until(lambda: impaired(on_own) == READ_ONLY)
        until = time.monotonic() + 3
        while time.monotonic() < until:
            answer = client.post(
                "/iam/v1/entity/token/generate",
                data={"id": member.entity_id, "secret": secret},
                timeout=PATIENCE_S,
            )
            found.add(answer.status_code)
            time.sleep(0.2)

    assert found == {200}


def issued(url: str, member: Member) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT sum(count) FROM token_day WHERE entity_id = %s", [member.entity_id]
        ).fetchone()
    return row and row[0]


def test_a_standby_is_named_and_no_token_comes_from_it(
    on_own: Service, database: tuple[str, Path], asha: tuple[Member, dict[str, str], str]
) -> None:
    """What a standby says of secrets and suspensions may be outdated."""
    url, folder = database
    member, bearer, secret = asha
    (folder / "postgres" / "standby.signal").touch()
    os.kill(int((folder / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGINT)
    on_own.wait_until(lambda: error_text(ready(on_own)).startswith(STANDBY))

    assert error_text(member.entity_token(secret)).startswith(STANDBY)
    assert error_text(member.reset(bearer)).startswith(STANDBY)

    as_superuser(url, "SELECT pg_promote()")
    on_own.wait_until(lambda: ready(on_own).status_code == 200)
    assert member.entity_token(secret).status_code == 200
    assert '"standby"' in log(on_own)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path, 2) as small:
        yield small


def test_a_full_disk_is_named(
    on_own: Service,
    database: tuple[str, Path],
    asha: tuple[Member, dict[str, str], str],
    disk: Path,
) -> None:
    url, folder = database
    member, _, secret = asha
    writer = new_member(on_own)
    os.chown(disk, (folder / "postgres").stat().st_uid, -1)
    as_superuser(
        url,
        f"CREATE TABLESPACE small LOCATION '{disk}'",
        "ALTER TABLE service_fact SET TABLESPACE small",
        "ALTER TABLE mail_outbox SET TABLESPACE small",
    )
    filler = fill(disk)
    said = ""
    for _ in range(4):  # the last page of a table may have room for an email or two
        said = said or error_text(writer.reset(writer.bearer()))
        on_own.advance("PT6M")

    assert said.startswith(DISK_FULL)
    assert impaired(on_own) == DISK_FULL
    assert failures(on_own, "disk-full") > 0
    assert member.entity_token(secret).status_code == 200
    assert '"disk-full"' in log(on_own)

    filler.unlink()
    on_own.wait_until(lambda: ready(on_own).json() == {"status": "ready"})
    assert writer.reset(writer.bearer()).status_code == 200
