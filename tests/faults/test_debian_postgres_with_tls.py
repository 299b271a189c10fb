"""Metrics apart in two servers of Debian's PostgreSQL 15, reached by TLS with `verify-full`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.support.database.own_postgres import as_superuser
from tests.support.database.postgres_versions import DEBIAN, postgres_of, with_tls
from tests.support.forked_command import run_mudra
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.people.operators import new_operator
from tests.support.service import Service, new_member, running_service
from tests.support.smtp_sink import make_certificate

from mudra.metrics.payload.catalogue import WINDOW

pytestmark = pytest.mark.slow
_ACCEPTED = "SELECT count(*) FROM audit_event WHERE event = 'metrics:report:accept'"
_RECEIPTS = "SELECT count(*) FROM metrics_receipt"
_IN_THE_CLEAR = (
    "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)"
    " WHERE usename LIKE 'mudra_%' AND NOT ssl"
)


@dataclass
class Server:
    """A PostgreSQL 15: its superuser's address by the socket, and the certificate to trust."""

    socket: str
    authority: Path

    def database(self, name: str) -> str:
        """Make a database with its roles; gives the superuser's address."""
        as_superuser(self.socket, f"CREATE DATABASE {name}")
        there = self.socket.replace("/postgres?", f"/{name}?")
        done = run_mudra(
            *("database", "prepare"),
            MUDRA_DATABASE_URL=self.address("mudra_service", name),
            MUDRA_DATABASE_OWNER_URL=self.address("mudra_owner", name),
            MUDRA_DATABASE_ADMIN_URL=there,
        )
        assert done.returncode == 0, done.stderr
        return there

    def address(self, role: str, name: str, authority: Path | None = None) -> str:
        """The address of a role by TCP."""
        port = conninfo_to_dict(self.socket)["port"]
        return (
            f"postgresql://{role}:pass@localhost:{port}/{name}"
            f"?sslmode=verify-full&sslrootcert={authority or self.authority}"
        )


@dataclass
class Apart:
    """Both servers, and a service whose metrics are in the second one."""

    first: Server
    second: Server
    service: Service
    home: Path


def settings(first: Server, second: Server, name: str) -> dict[str, str]:
    return {
        "MUDRA_DATABASE_URL": first.address("mudra_service", name),
        "MUDRA_DATABASE_OWNER_URL": first.address("mudra_owner", name),
        "MUDRA_METRICS_DATABASE_URL": second.address("mudra_service", name),
        "MUDRA_METRICS_DATABASE_OWNER_URL": second.address("mudra_owner", name),
    }


def count(url: str, query: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    return int(row[0]) if row else 0


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apart]:
    homes = [tmp_path_factory.mktemp(name) for name in ("first", "second")]
    trusted, options = zip(*(with_tls(DEBIAN, home) for home in homes), strict=True)
    for home in homes:
        home.chmod(0o755)
    with (
        postgres_of(DEBIAN, homes[0], *options[0]) as one,
        postgres_of(DEBIAN, homes[1], *options[1]) as other,
    ):
        first, second = Server(one, trusted[0]), Server(other, trusted[1])
        first.database("mudra")
        second.database("mudra")
        home = tmp_path_factory.mktemp("node")
        addresses = settings(first, second, "mudra")
        with running_service(home / "data", **addresses) as service:
            yield Apart(first, second, service, home)


def test_a_push_is_in_the_second_and_its_event_in_the_first(apart: Apart) -> None:
    one, other = (s.socket.replace("/postgres?", "/mudra?") for s in (apart.first, apart.second))
    aa, operator = pushing_aa(apart.service), new_operator(apart.service)
    window = aa.last_window()
    for payload in (aa.requests(window), aa.notifications(window)):
        assert aa.push(payload).status_code == 200

    apart.service.wait_until(lambda: count(one, _ACCEPTED) == 2, 90)
    assert (count(one, _RECEIPTS), count(other, _RECEIPTS)) == (0, 2)
    within = {"from": window.isoformat(), "to": (window + WINDOW).isoformat()}
    shown = operator.get("/health/aas", aaId=aa.aa_id, **within)
    assert any(api["requests"] for row in shown.json()["rows"] for api in row["apis"])
    member = new_member(apart.service)
    assert member.entity_token(member.secret()).status_code == 200


def test_every_session_is_encrypted_and_the_doctor_finds_all_well(apart: Apart) -> None:
    for server in (apart.first, apart.second):
        assert count(server.socket, _IN_THE_CLEAR) == 0
    said = json.loads(apart.service.cli("doctor", "--json", check=False).stdout)
    found = {one["check"]: one for one in said}

    assert found["metrics database"]["ok"], found
    assert found["certificates"]["ok"], found
    ports = [conninfo_to_dict(one.socket)["port"] for one in (apart.first, apart.second)]
    wanted = ", ".join(f"localhost:{port} for 29 days" for port in ports)
    assert wanted in found["certificates"]["text"]


def test_a_server_that_no_trusted_authority_knows_is_refused(apart: Apart, tmp_path: Path) -> None:
    wrong = apart.first.address("mudra_service", "mudra", make_certificate(tmp_path).cert)

    done = run_mudra("member", "list", MUDRA_DATABASE_URL=wrong, MUDRA_DATA_DIR=str(tmp_path))

    assert done.returncode == 5
    assert "check MUDRA_DATABASE_URL" in done.stderr
    assert "Traceback" not in done.stderr


def test_both_are_backed_up_and_restored(apart: Apart, tmp_path: Path) -> None:
    node, key = tmp_path / "node", tmp_path / "backup.key"
    public = apart.service.cli("backup", "key", str(key)).stdout.strip()
    to = ("--to", str(tmp_path), "--recipient", public)
    made = json.loads(apart.service.cli("backup", "create", "--json", *to).stdout)
    one, other = apart.first.database("restored"), apart.second.database("restored")
    node.mkdir(mode=0o700)
    (node / "master.key").write_bytes((apart.service.data_dir / "master.key").read_bytes())
    done = run_mudra(
        *("restore", made["file"], made["metrics"]["file"], "--identity", str(key)),
        MUDRA_DATA_DIR=str(node),
        **settings(apart.first, apart.second, "restored"),
    )

    assert done.returncode == 0, done.stderr
    assert (count(one, _RECEIPTS), count(other, _RECEIPTS)) == (0, 2)
    assert count(one, _ACCEPTED) == 2
