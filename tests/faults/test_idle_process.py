"""A process that no one asks costs next to nothing, and trusts nothing old when asked (17, l)."""

import time
from collections.abc import Iterator

import msgspec
import psycopg
import pytest
from tests.support.nodes import Node, Nodes, two_nodes
from tests.support.until import until

from mudra.bootstrap import dependencies
from mudra.storage.caching import cache_invalidation
from mudra.storage.caching.announcement import CHANNEL, Announcement
from mudra.storage.caching.cache_invalidation import entity_key
from mudra.storage.database import database
from mudra.tokens.authentication.secret_check import AuthenticatedEntity, SecretUnknown
from mudra.tokens.secrets.secret_service import SecretDetails

LIVE_S = 2
VALID_S = 1.0

RARELY_S = 0.1
"""Between two looks that take a connection of their own."""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with two_nodes(tmp_path_factory.mktemp("nodes") / "data") as running:
        yield running


@pytest.fixture
def idle(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    """A node that is idle half a second after it was last asked; distinguishes its connections."""
    monkeypatch.setattr(cache_invalidation, "IDLE_AFTER_S", 0.5)
    monkeypatch.setattr(database, "IDLE_S", 0.5)
    monkeypatch.setattr(dependencies, "IDLE_PROOF_S", 1.1)
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
    until(lambda: proof_age(nodes, idle) > 2.5, every_s=RARELY_S)
    assert isinstance(nodes.do(nodes.a.reset("F-idle-FIP")), SecretDetails)

    assert isinstance(nodes.do(idle.check("F-idle-FIP", old)), SecretUnknown)
    until(lambda: idle.dependencies.invalidation.is_valid(entity_key("F-idle-FIP")))
    assert isinstance(nodes.do(idle.check("F-idle-FIP", old)), SecretUnknown)


def test_an_idle_process_keeps_the_listening_connection_alone(nodes: Nodes, idle: Node) -> None:
    assert nodes.do(idle.dependencies.database.outage()) is None
    assert connections(nodes) == 2

    until(lambda: connections(nodes) == 1, every_s=RARELY_S)

    assert nodes.do(idle.dependencies.database.outage()) is None


def proven_at(nodes: Nodes, node: Node) -> object:
    with psycopg.connect(nodes.conninfo) as connection:
        return connection.execute(
            "SELECT proven_at FROM node WHERE node_id = %s",
            [node.dependencies.invalidation.node_id],
        ).fetchone()


def test_the_proof_of_an_idle_process_puts_it_on_no_list(nodes: Nodes, idle: Node) -> None:
    until(lambda: proof_age(nodes, idle) > LIVE_S, every_s=RARELY_S)
    before = proven_at(nodes, idle)

    until(lambda: proven_at(nodes, idle) != before, every_s=RARELY_S)

    assert proof_age(nodes, idle) >= LIVE_S


def test_a_process_in_use_answers_a_fence_without_another_connection(
    nodes: Nodes, idle: Node
) -> None:
    nodes.do(nodes.a.onboard("F-answers-FIP"))
    key = entity_key("F-answers-FIP")
    until(lambda: idle.dependencies.invalidation.is_valid(key))
    until(lambda: connections(nodes) == 1, every_s=RARELY_S)
    assert idle.dependencies.invalidation.is_valid(key)
    until(lambda: proof_age(nodes, idle) < VALID_S)

    started = time.monotonic()
    nodes.do(nodes.a.dependencies.invalidation.fence(key))

    assert time.monotonic() - started < VALID_S  # it was not waited out
    assert connections(nodes) == 1


def heard(connection: psycopg.Connection[tuple[object, ...]], enough: str) -> list[Announcement]:
    """What nodes announced to all, up to an announcement of this kind."""
    found = []
    for notice in connection.notifies(timeout=20):
        found.append(msgspec.json.decode(notice.payload, type=Announcement))
        if found[-1].kind == enough:
            break
    return found


def test_an_answer_to_a_fence_wakes_only_the_process_that_asked(nodes: Nodes) -> None:
    nodes.do(nodes.a.onboard("F-alone-FIP"))
    with psycopg.connect(nodes.conninfo, autocommit=True) as connection:
        connection.execute(f"LISTEN {CHANNEL}")
        assert isinstance(nodes.do(nodes.a.reset("F-alone-FIP")), SecretDetails)
        kinds = [one.kind for one in heard(connection, "changed")]

    assert kinds == ["fence", "changed"]


def test_a_fence_of_the_former_version_is_answered_where_that_listens(nodes: Nodes) -> None:
    asked = {"kind": "fence", "key": "entity:F-former-FIP", "sender": "former", "fence": "f1"}
    with psycopg.connect(nodes.conninfo, autocommit=True) as connection:
        connection.execute(f"LISTEN {CHANNEL}")
        connection.execute(
            "SELECT pg_notify(%s, %s)", [CHANNEL, msgspec.json.encode(asked).decode()]
        )
        answers = heard(connection, "acknowledge")

    assert (answers[-1].kind, answers[-1].fence) == ("acknowledge", "f1")
