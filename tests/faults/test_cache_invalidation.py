"""A node uses its cache only while it is sure to receive changes."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator

import psycopg
import pytest
from tests.support.nodes import Node, Nodes, two_nodes
from tests.support.until import until

from mudra.bootstrap.dependencies import build_dependencies
from mudra.storage.caching.cache_invalidation import entity_key
from mudra.tokens.authentication.secret_check import AuthenticatedEntity, SecretUnknown
from mudra.tokens.secrets.secret_service import SecretDetails

VALID_S = 1.0
FENCE_S = 10.0


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """Two nodes over one embedded server."""
    with two_nodes(tmp_path_factory.mktemp("nodes") / "data") as running:
        yield running


def listeners(nodes: Nodes) -> set[int]:
    """The server's processes that serve listening connections."""
    with psycopg.connect(nodes.conninfo, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE query LIKE 'INSERT INTO node%'"
        )
        return {row[0] for row in rows}


@pytest.fixture
def third(nodes: Nodes) -> Iterator[tuple[Node, int]]:
    """One more node, and the server's process behind its listening connection."""
    before = listeners(nodes)
    with nodes.one_more("third") as node:
        (pid,) = listeners(nodes) - before
        yield node, pid


def test_a_node_whose_connection_is_silent_uses_no_cache_after_1_s(
    nodes: Nodes, third: tuple[Node, int]
) -> None:
    node, pid = third
    old = nodes.do(nodes.a.onboard("F-silent-FIP"))

    def kept() -> bool:  # a busy machine may be late with its proof
        assert isinstance(nodes.do(node.check("F-silent-FIP", old)), AuthenticatedEntity)
        return node.cache.get_cached("F-silent-FIP") is not None

    until(kept)
    key = entity_key("F-silent-FIP")

    os.kill(pid, signal.SIGSTOP)  # as a network that swallows everything
    try:
        stopped = seen_valid_at = time.monotonic()

        def is_over() -> bool:
            nonlocal seen_valid_at
            looked_at = time.monotonic()  # a look that a busy machine delays is no later for it
            if node.dependencies.invalidation.is_valid(key):
                seen_valid_at = looked_at
                return False
            return True

        until(is_over, every_s=0.01)
        reset = nodes.do(nodes.a.reset("F-silent-FIP"))

        assert seen_valid_at - stopped < VALID_S + 0.1
        assert isinstance(reset, SecretDetails)
        verdict = nodes.do(node.check("F-silent-FIP", old))
        assert isinstance(verdict, SecretUnknown)  # read from the database
    finally:
        os.kill(pid, signal.SIGCONT)
    until(lambda: node.dependencies.invalidation.is_valid(key))


def test_a_reset_waits_for_the_cache_of_a_silent_node_to_become_invalid(
    nodes: Nodes, third: tuple[Node, int]
) -> None:
    node, pid = third
    old = nodes.do(nodes.a.onboard("F-just-FIP"))
    assert isinstance(nodes.do(node.check("F-just-FIP", old)), AuthenticatedEntity)

    os.kill(pid, signal.SIGSTOP)
    try:
        started = time.monotonic()
        assert isinstance(nodes.do(nodes.a.reset("F-just-FIP")), SecretDetails)
        took_s = time.monotonic() - started

        assert isinstance(nodes.do(node.check("F-just-FIP", old)), SecretUnknown)
        assert took_s < FENCE_S / 2
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_node_whose_connection_is_cut_uses_no_cache_until_it_listens_again(
    nodes: Nodes, third: tuple[Node, int]
) -> None:
    node, pid = third
    key = entity_key("F-cut-FIP")
    old = nodes.do(nodes.a.onboard("F-cut-FIP"))
    assert isinstance(nodes.do(node.check("F-cut-FIP", old)), AuthenticatedEntity)

    os.kill(pid, signal.SIGTERM)
    until(lambda: not node.dependencies.invalidation.is_valid(key), within_s=FENCE_S, every_s=0.01)
    until(lambda: node.dependencies.invalidation.is_valid(key))

    assert node.cache.get_cached("F-cut-FIP") is None  # anything may have changed meanwhile


def test_a_reset_whose_transaction_fails_leaves_the_old_secret_in_force(nodes: Nodes) -> None:
    old = nodes.do(nodes.a.onboard("F-rolled-FIP"))

    async def reset_then_fail() -> None:
        async with nodes.a.dependencies.database.transaction() as transaction:
            await transaction.changing(entity_key("F-rolled-FIP"), must_not_be_missed=True)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        nodes.do(reset_then_fail())

    for node in (nodes.a, nodes.b):
        assert isinstance(nodes.do(node.check("F-rolled-FIP", old)), AuthenticatedEntity)


def test_of_two_changes_of_one_key_the_first_commit_ends_its_own_fence_alone(nodes: Nodes) -> None:
    """As a reset and an update of the same member's entry, which lock different rows."""
    key, other = entity_key("F-twice-FIP"), entity_key("F-other-FIP")
    database = nodes.a.dependencies.database
    here, elsewhere = (node.dependencies.invalidation for node in (nodes.a, nodes.b))
    announced: list[str] = []
    elsewhere.on_change(announced.append)
    until(lambda: here.is_valid(key) and elsewhere.is_valid(key))

    async def commit_one_of_two() -> list[bool]:
        async with database.transaction(within_s=30) as slow:
            await slow.changing(key, must_not_be_missed=True)
            async with database.transaction() as quick:
                await quick.changing(key, must_not_be_missed=True)
            await asyncio.to_thread(until, lambda: announced.count(key) == 3)  # the commit, too
            return [node.is_valid(one) for node in (here, elsewhere) for one in (key, other)]

    assert nodes.do(commit_one_of_two()) == [False, True, False, True]
    until(lambda: here.is_valid(key) and elsewhere.is_valid(key), within_s=FENCE_S / 2)


def test_a_node_that_joins_during_a_change_uses_no_cache_until_that_must_be_over(
    nodes: Nodes,
) -> None:
    key = entity_key("F-joins-FIP")
    nodes.do(nodes.a.onboard("F-joins-FIP"))
    dependencies = nodes.a.dependencies
    joining = Node(
        build_dependencies(dependencies.settings, nodes.conninfo, dependencies.encryption)
    )

    async def joins_while_fenced() -> bool:
        async with dependencies.database.transaction() as transaction:
            await transaction.changing(key, must_not_be_missed=True)
            await joining.dependencies.invalidation.start()
            return joining.dependencies.invalidation.is_valid(key)

    try:
        assert not nodes.do(joins_while_fenced())
        until(lambda: joining.dependencies.invalidation.is_valid(key))
    finally:
        nodes.do(joining.dependencies.invalidation.stop())
        nodes.do(joining.dependencies.database.close())


def test_a_foreign_notification_makes_nodes_read_again_and_keep_listening(nodes: Nodes) -> None:
    old = nodes.do(nodes.a.onboard("F-foreign-FIP"))

    def kept() -> bool:
        assert isinstance(nodes.do(nodes.b.check("F-foreign-FIP", old)), AuthenticatedEntity)
        return nodes.b.cache.get_cached("F-foreign-FIP") is not None

    until(kept)
    with psycopg.connect(nodes.conninfo, autocommit=True) as connection:
        connection.execute("SELECT pg_notify('mudra_changes', 'hello')")
    until(lambda: nodes.b.cache.get_cached("F-foreign-FIP") is None)

    until(kept)
    assert isinstance(nodes.do(nodes.a.reset("F-foreign-FIP")), SecretDetails)
    assert isinstance(nodes.do(nodes.b.check("F-foreign-FIP", old)), SecretUnknown)


def test_no_one_waits_for_a_node_that_has_left_even_if_it_never_sent_anything(nodes: Nodes) -> None:
    """Commands are such nodes: they read, and go."""
    dependencies = nodes.a.dependencies
    node = Node(build_dependencies(dependencies.settings, nodes.conninfo, dependencies.encryption))
    nodes.do(node.dependencies.invalidation.start())

    def listed() -> bool:
        with psycopg.connect(nodes.conninfo, autocommit=True) as connection:
            asked = "SELECT 1 FROM node WHERE node_id = %s"
            return bool(
                connection.execute(asked, [node.dependencies.invalidation.node_id]).fetchone()
            )

    before = listed()
    nodes.do(node.dependencies.invalidation.stop())
    nodes.do(node.dependencies.database.close())

    assert before
    assert not listed()
