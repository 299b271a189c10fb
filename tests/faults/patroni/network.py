"""A network on three machines of Patroni: two nodes of Mudra, prepared by the how-to's own steps."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from tests.faults.patroni.cluster import SUPERUSER, Cluster, haproxy, patroni_cluster
from tests.faults.patroni.load import Entities, entities
from tests.support.agent.agent_process import free_port
from tests.support.process import running_service
from tests.support.service import Service

SERVICE = ("mudra_service", "change-this-4")
OWNER = ("mudra_owner", "change-this-5")
BY_HOSTS, BY_HAPROXY = 0, 1
"""The two nodes, by how they find the primary."""


@dataclass
class PatroniNetwork:
    """The cluster, the nodes, and entities to act on."""

    cluster: Cluster
    nodes: list[Service]
    known: Entities

    def connection(self) -> psycopg.Connection[tuple[object, ...]]:
        """Connect to the primary as the superuser."""
        return psycopg.connect(self.cluster.url(*SUPERUSER), connect_timeout=5, autocommit=True)

    def said(self, node: int) -> str:
        """The log of a node."""
        return (self.cluster.home / f"node{node}.log").read_text()


@contextlib.contextmanager
def patroni_network(home: Path, count: int, **settings: str) -> Iterator[PatroniNetwork]:
    """Run cluster, HAProxy and two nodes of two workers until the end of the block."""
    home.chmod(0o755)
    with (
        patroni_cluster(home) as cluster,
        haproxy(cluster) as place,
        contextlib.ExitStack() as stack,
    ):
        with cluster.primary().connection() as connection:
            connection.execute("CREATE DATABASE mudra")
        common = {
            "MUDRA_DATABASE_OWNER_URL": cluster.url(*OWNER),
            "MUDRA_DATABASE_ADMIN_URL": cluster.url(*SUPERUSER),
            "MUDRA_REGISTRY_WRITES_PER_HOUR": "100000",
            "MUDRA_ENTITY_TOKEN_RATE": "100000+100000",
            **settings,
        }
        # The how-to has verify-full and 127.0.0.1, where HAProxy is not in this test.
        tls = f"sslmode=verify-ca&sslrootcert={cluster.authority}"
        addresses = [
            cluster.url(*SERVICE),
            f"postgresql://{SERVICE[0]}:{SERVICE[1]}@{place}/mudra?{tls}",
        ]
        _prepare(home, common | {"MUDRA_DATABASE_URL": addresses[0]})
        del common["MUDRA_DATABASE_ADMIN_URL"]
        ports = [free_port(), free_port()]
        common["MUDRA_BASE_URL"] = f"http://127.0.0.1:{ports[0]}/iam"
        nodes: list[Service] = []
        for number, url in enumerate(addresses):
            folder = home / f"node{number}"
            if nodes:
                common["MUDRA_MASTER_KEY"] = (home / "node0" / "master.key").read_text()
            node = stack.enter_context(
                running_service(
                    folder,
                    *("--workers", "2"),
                    port=ports[number],
                    sandbox=False,
                    MUDRA_DATABASE_URL=url,
                    **common,
                )
            )
            node.issuer = f"http://127.0.0.1:{ports[number]}/iam"
            _keep_log(node, home / f"node{number}.log")
            nodes.append(node)
        yield PatroniNetwork(cluster, nodes, entities(nodes[0], count))


def _prepare(home: Path, variables: dict[str, str]) -> None:
    from typer.testing import CliRunner  # noqa: PLC0415

    from mudra.bootstrap.command_line import app  # noqa: PLC0415

    environment = variables | {"MUDRA_DATA_DIR": str(home / "node0")}
    done = CliRunner().invoke(app, ["database", "prepare"], env=environment)
    assert done.exit_code == 0, done.output


def _keep_log(node: Service, path: Path) -> None:
    """What it writes must go somewhere, and is read when a test is red."""

    def copy() -> None:
        assert node.process.stdout is not None
        with path.open("w") as log, contextlib.suppress(ValueError):
            for line in node.process.stdout:
                log.write(line)
                log.flush()

    threading.Thread(target=copy, daemon=True).start()
