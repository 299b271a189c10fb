"""A server of Debian's PostgreSQL 15, reached by TLS with `verify-full`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.faults.postgres.versions import DEBIAN, postgres_of, with_tls
from tests.support.database.own_postgres import as_superuser
from tests.support.forked_command import run_mudra
from tests.support.members import new_member
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.people.operators import new_operator
from tests.support.process import running_service
from tests.support.service import Service
from tests.support.smtp_sink import make_certificate

from mudra.metrics.payload.catalogue import WINDOW

pytestmark = pytest.mark.slow
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
class Network:
    """The server, and a service that uses it."""

    server: Server
    service: Service


def settings(server: Server, name: str) -> dict[str, str]:
    return {
        "MUDRA_DATABASE_URL": server.address("mudra_service", name),
        "MUDRA_DATABASE_OWNER_URL": server.address("mudra_owner", name),
    }


def count(url: str, query: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    return int(row[0]) if row else 0


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    home = tmp_path_factory.mktemp("server")
    trusted, options = with_tls(DEBIAN, home)
    home.chmod(0o755)
    with postgres_of(DEBIAN, home, *options) as socket:
        server = Server(socket, trusted)
        server.database("mudra")
        data = tmp_path_factory.mktemp("node") / "data"
        with running_service(data, **settings(server, "mudra")) as service:
            yield Network(server, service)


def test_what_was_pushed_is_shown_and_tokens_are_issued(network: Network) -> None:
    aa, operator = pushing_aa(network.service), new_operator(network.service)
    window = aa.last_window()
    for payload in (aa.requests(window), aa.notifications(window)):
        assert aa.push(payload).status_code == 200

    within = {"from": window.isoformat(), "to": (window + WINDOW).isoformat()}
    shown = operator.get("/health/aas", aaId=aa.aa_id, **within)
    assert any(api["requests"] for row in shown.json()["rows"] for api in row["apis"])
    member = new_member(network.service)
    assert member.entity_token(member.secret()).status_code == 200


def test_every_session_is_encrypted_and_the_doctor_finds_all_well(network: Network) -> None:
    assert count(network.server.socket, _IN_THE_CLEAR) == 0
    said = json.loads(network.service.cli("doctor", "--json", check=False).stdout)
    found = {one["check"]: one for one in said}

    assert found["certificates"]["ok"], found
    port = conninfo_to_dict(network.server.socket)["port"]
    assert f"localhost:{port} for 29 days" in found["certificates"]["text"]


def test_a_server_that_no_trusted_authority_knows_is_refused(
    network: Network, tmp_path: Path
) -> None:
    wrong = network.server.address("mudra_service", "mudra", make_certificate(tmp_path).cert)

    done = run_mudra("member", "list", MUDRA_DATABASE_URL=wrong, MUDRA_DATA_DIR=str(tmp_path))

    assert done.returncode == 5
    assert "check MUDRA_DATABASE_URL" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_is_backed_up_and_restored(network: Network, tmp_path: Path) -> None:
    node, key = tmp_path / "node", tmp_path / "backup.key"
    aa = pushing_aa(network.service)
    assert aa.push(aa.requests(aa.last_window())).status_code == 200
    public = network.service.cli("backup", "key", str(key)).stdout.strip()
    to = ("--to", str(tmp_path), "--recipient", public)
    made = json.loads(network.service.cli("backup", "create", "--json", *to).stdout)
    url = network.server.database("restored")
    node.mkdir(mode=0o700)
    (node / "master.key").write_bytes((network.service.data_dir / "master.key").read_bytes())
    done = run_mudra(
        *("restore", made["file"], "--identity", str(key)),
        MUDRA_DATA_DIR=str(node),
        **settings(network.server, "restored"),
    )

    assert done.returncode == 0, done.stderr
    there = network.server.socket.replace("/postgres?", "/mudra?")
    assert count(url, _RECEIPTS) == count(there, _RECEIPTS) > 0
