"""PgBouncer in transaction mode in front of the database."""

import concurrent.futures
import contextlib
import json
import os
import re
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psycopg
import pytest
from tests.faults.postgres.versions import DEBIAN, postgres_of, programs_of, with_tls
from tests.support.agent.agent_process import free_port
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.http_clients import NO_TLS
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.programs import program
from tests.support.service import Service
from tests.support.smtp_sink import make_certificate
from tests.support.until import PATIENCE_S, until

from mudra.storage.database.embedded.account import Account, choose_accounts
from mudra.storage.database.embedded.cluster import CLUSTER
from mudra.storage.database.embedded.programs import programs
from mudra.storage.database.schema.roles import SERVICE

CALLERS = 16
ROUNDS = 12
SESSIONS = 4
EXAMPLE = Path("deploy/pgbouncer/pgbouncer.ini")


@contextlib.contextmanager
def pgbouncer(
    folder: Path, url: str, account: Account, password: str = "", authority: Path | None = None
) -> Iterator[int]:
    """Run the example with so few sessions that they are mixed up; gives its port.

    `account` is the server's own user: no other may use its socket, and PgBouncer refuses to be root.
    Without an authority the way to the server is a socket, or not encrypted.
    """
    port = free_port()
    address = psycopg.conninfo.conninfo_to_dict(url)
    (folder / "users").write_text(f'"{SERVICE}" "{password}"\n')
    settings = EXAMPLE.read_text()
    for theirs, ours in (
        ("/etc/pgbouncer/db-ca.pem", str(authority)),
        ("verify-full", "verify-full" if authority else "disable"),
        ("host=db.example port=5432", f"host={address['host']} port={address['port']}"),
        ("listen_port = 6432", f"listen_port = {port}"),
        ("scram-sha-256", "trust"),
        ("/etc/pgbouncer/userlist.txt", f"{folder}/users"),
        ("default_pool_size = 20", f"default_pool_size = {SESSIONS}"),
    ):
        assert theirs in settings
        settings = settings.replace(theirs, ours)
    (folder / "pgbouncer.ini").write_text(settings)
    if os.geteuid() == 0:
        for path in (folder, *folder.iterdir()):
            os.chown(path, account.uid, account.uid)
    process = subprocess.Popen(
        [*account.prefix, program("pgbouncer"), "-q", str(folder / "pgbouncer.ini")]
    )

    def answers() -> bool:
        assert process.poll() is None, "PgBouncer has ended"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        return False

    try:
        until(answers)
        yield port
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    program("pgbouncer")
    home = tmp_path_factory.mktemp("bouncer")
    folder, database = home / "pgbouncer", home / "database"
    folder.mkdir()
    account = choose_accounts(home, database / CLUSTER, programs()).server
    with own_postgres(database) as url, pgbouncer(folder, url, account) as port:
        pooled = f"postgresql://{SERVICE}@127.0.0.1:{port}/mudra"
        with running_service(
            home / "node",
            *("--workers", "2"),
            MUDRA_DATABASE_URL=pooled,
            MUDRA_DATABASE_DIRECT_URL=re.sub("//[^@/]*@", f"//{SERVICE}@", url),
        ) as running:
            yield running


@pytest.mark.slow
def test_many_callers_at_once_share_few_sessions_and_none_fails(service: Service) -> None:
    """Reads and writes, each in a transaction that any of four sessions may get."""
    members = [new_member(service) for _ in range(CALLERS)]
    headers = [member.bearer() for member in members]
    secrets = [member.read(h).json()["secret"] for member, h in zip(members, headers, strict=True)]

    def call(number: int) -> list[int]:
        member, found = members[number], []
        for _ in range(ROUNDS):
            answers = (
                member.read(headers[number]),
                member.entity_token(secrets[number]),
                member.client.get(f"{service.root}/readyz"),
                member.client.post("/v1/entity/token/generate", data={"id": "X", "secret": "y"}),
            )
            found += [answer.status_code for answer in answers]
        found.append(member.reset(headers[number]).status_code)
        return found

    with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
        statuses = Counter(one for found in pool.map(call, range(CALLERS)) for one in found)

    assert statuses == {200: CALLERS * (3 * ROUNDS + 1), 401: CALLERS * ROUNDS}


def test_a_reset_ends_the_secret_on_both_workers_at_once(service: Service) -> None:
    """LISTEN works, on the direct connection: no worker goes on with what it remembers."""
    member = new_member(service)
    old = member.secret()
    used = [member.entity_token(old).status_code for _ in range(20)]

    new = member.reset().json()["secret"]

    # A connection each, so that both workers are asked.
    statuses = Counter()
    for secret in (old, new) * 10:
        answer = httpx2.post(
            f"{service.issuer}/v1/entity/token/generate",
            data={"id": member.entity_id, "secret": secret},
            verify=NO_TLS,
        )
        statuses[answer.status_code, secret == new] += 1
    assert set(used) == {200}
    assert statuses == {(200, True): 10, (401, False): 10}


@pytest.mark.slow
def test_jobs_run_once_and_the_doctor_recommends_sizes(service: Service) -> None:
    service.advance("PT11M")
    # On a machine with much else to do a connection takes over the second that it may.
    service.wait_until(lambda: "connections" in doctor(service))
    found = doctor(service)

    assert found["connections"]["ok"]
    assert "default_pool_size 20" in str(found["connections"]["text"])
    with psycopg.connect(service.environment["MUDRA_DATABASE_DIRECT_URL"]) as connection:
        failed = connection.execute("SELECT name, error FROM job_run WHERE failures > 0").fetchall()
    assert failed == []


@pytest.mark.slow
def test_the_way_to_the_server_is_encrypted_and_the_server_is_checked(tmp_path: Path) -> None:
    """The example's own settings, with a server that takes no other connection."""
    program("pgbouncer")
    trusted, options = with_tls(DEBIAN, tmp_path)
    tmp_path.chmod(0o755)
    account = choose_accounts(tmp_path, tmp_path / "none", programs_of(DEBIAN)).initdb
    strange, folder = tmp_path / "strange", tmp_path / "pgbouncer"
    strange.mkdir()
    folder.mkdir()
    (stranger := folder / "stranger.pem").write_text(
        Path(make_certificate(strange).cert).read_text()
    )
    with postgres_of(DEBIAN, tmp_path, *options) as superuser:
        as_superuser(
            superuser, f"CREATE ROLE {SERVICE} LOGIN PASSWORD 'pass'", "CREATE DATABASE mudra"
        )
        url = f"postgresql://127.0.0.1:{psycopg.conninfo.conninfo_to_dict(superuser)['port']}/mudra"
        with pgbouncer(folder, url, account, "pass", trusted) as port:
            row = asked(port)
        with (
            pgbouncer(folder, url, account, "pass", stranger) as port,
            pytest.raises(psycopg.OperationalError),
        ):
            asked(port)

    assert row == (True,)


def asked(port: int) -> object:
    """Whether the connection of PgBouncer to the server is encrypted."""
    with psycopg.connect(
        f"postgresql://{SERVICE}@127.0.0.1:{port}/mudra", connect_timeout=20
    ) as connection:
        return connection.execute(
            "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        ).fetchone()


def doctor(service: Service) -> dict[str, dict[str, object]]:
    said = json.loads(service.cli("doctor", "--json", check=False).stdout)
    return {one["check"]: one for one in said}
