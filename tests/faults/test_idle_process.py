"""A process that no one asks costs next to nothing, and trusts nothing old when asked (17, l)."""

from collections.abc import Iterator

import psycopg
import pytest
from tests.support.nodes import Node, Nodes, two_nodes
from tests.support.until import until

from mudra.storage.caching import cache_invalidation
from mudra.storage.caching.cache_invalidation import entity_key
from mudra.storage.database import database
from mudra.tokens.authentication.secret_check import AuthenticatedEntity, SecretUnknown
from mudra.tokens.secrets.secret_service import SecretDetails


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with two_nodes(tmp_path_factory.mktemp("nodes") / "data") as running:
        yield running


@pytest.fixture
def idle(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    """A node that is idle half a second after it was last asked; distinguishes its connections."""
    monkeypatch.setattr(cache_invalidation, "IDLE_AFTER_S", 0.5)
    monkeypatch.setattr(database, "IDLE_S", 0.5)
    with nodes.one_more("idle", sandbox=False) as node:
        yield node


def proof_age(nodes: Nodes, node: Node) -> float:
    with psycopg.connect(nodes.conninfo) as connection:
        row = connection.execute(
            "SELECT extract(epoch FROM clock_timestamp() - proven_at)::float FROM node"
            " WHERE node_id = %s",
            [node.dependencies.invalidation.node_id],
        ).fetchone()
    assert row is not None
    return row[0]


def connections(nodes: Nodes) -> int:
    with psycopg.connect(nodes.conninfo) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'idle'"
        ).fetchone()
    assert row is not None
    return row[0]


def test_an_idle_process_is_waited_for_by_no_one_and_accepts_no_old_secret(
    nodes: Nodes, idle: Node
) -> None:
    old = nodes.do(nodes.a.onboard("F-idle-FIP"))

    def kept() -> bool:
        assert isinstance(nodes.do(idle.check("F-idle-FIP", old)), AuthenticatedEntity)
        return idle.cache.get_cached("F-idle-FIP") is not None

    until(kept)
    until(lambda: proof_age(nodes, idle) > 2.5)
    assert isinstance(nodes.do(nodes.a.reset("F-idle-FIP")), SecretDetails)

    assert isinstance(nodes.do(idle.check("F-idle-FIP", old)), SecretUnknown)
    until(lambda: idle.dependencies.invalidation.is_valid(entity_key("F-idle-FIP")))
    assert isinstance(nodes.do(idle.check("F-idle-FIP", old)), SecretUnknown)


def test_an_idle_process_keeps_the_listening_connection_alone(nodes: Nodes, idle: Node) -> None:
    assert nodes.do(idle.dependencies.database.outage()) is None
    assert connections(nodes) == 2

    until(lambda: connections(nodes) == 1)

    assert nodes.do(idle.dependencies.database.outage()) is None
