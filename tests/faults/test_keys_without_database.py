"""The published keys outlive an absent database, but not a change that is known."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.support.nodes import CALLER, Node, Nodes, two_nodes
from tests.support.until import until

from mudra.audit.event import EventName
from mudra.identity.accounts.people_store import People
from mudra.jobs.key_rotation import maintain_keys
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.caching import announcement
from mudra.storage.caching.cache_invalidation import KEYS_CHANGED
from mudra.storage.database.database import Database
from mudra.tokens.claims import TokenKind
from mudra.tokens.signing_keys.node_keys import NodeKeys
from mudra.tokens.signing_keys.signing_key_service import SigningKeyService

KEY_CHANGE_S = 60.0

NOWHERE = "postgresql://postgres@127.0.0.1:1/mudra"


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with two_nodes(tmp_path_factory.mktemp("nodes") / "data") as running:
        running.do(maintain_keys(running.a.dependencies.transaction))
        yield running


def keys_of(node: Node) -> NodeKeys:
    found = node.dependencies
    return NodeKeys(found.database, found.invalidation, found.clock, "JWT")


def nowhere(node: Node) -> Database:
    """The database of a node that reaches it no more."""
    found = node.dependencies
    return Database(NOWHERE, found.invalidation, lambda: found.clock.offset)


def kids(nodes: Nodes, keys: NodeKeys) -> set[str]:
    return {key["kid"] for key in json.loads(nodes.do(keys.jwks()))["keys"]}


async def drop_what_signs(nodes: Nodes) -> set[str]:
    async with nodes.a.dependencies.transaction(within_s=KEY_CHANGE_S) as tx:
        now = await People(tx).now()
        done = await tx.service(SigningKeyService).rotate(
            frozenset(TokenKind), CALLER, now, emergency=True
        )
    return {one.kid for one in done if one.event is EventName.KEYS_SIGNING_DROP}


def test_keys_once_read_are_published_on_and_a_node_that_read_none_says_so(tmp_path: Path) -> None:
    with two_nodes(tmp_path / "data") as nodes:
        made = nodes.do(maintain_keys(nodes.a.dependencies.transaction))
        keys, fresh, gone = keys_of(nodes.a), keys_of(nodes.a), nowhere(nodes.a)
        nodes.do(keys.ready())
        before = kids(nodes, keys)

        keys._database = fresh._database = gone
        nodes.a.dependencies.invalidation.changed_here("*")  # as when the connection is new
        nodes.do(keys.ready())

        assert kids(nodes, keys) == before == {change.kid for change in made}
        with pytest.raises(DatabaseUnavailable):
            nodes.do(fresh.ready())
        nodes.do(gone.close())


def test_a_node_that_knows_of_a_drop_and_cannot_read_it_has_no_keys(nodes: Nodes) -> None:
    keys, gone = keys_of(nodes.b), nowhere(nodes.b)
    nodes.do(keys.ready())
    before = kids(nodes, keys)
    reached, keys._database = keys._database, gone

    dropped = nodes.do(drop_what_signs(nodes))
    until(lambda: keys._cache.last("") is None)

    assert len(dropped & before) == 2
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable):
            nodes.do(keys.ready())
        with pytest.raises(DatabaseUnavailable):
            nodes.do(keys.jwks())
    keys._database = reached
    assert not kids(nodes, keys) & dropped
    keys._database = gone
    nodes.b.dependencies.invalidation.changed_here("*")
    assert not kids(nodes, keys) & dropped  # what was read is published on
    nodes.do(gone.close())


def test_what_was_read_before_a_change_could_commit_is_not_used_without_a_database(
    nodes: Nodes,
) -> None:
    keys, gone = keys_of(nodes.b), nowhere(nodes.b)
    nodes.do(keys.ready())

    nodes.do(nodes.a.dependencies.invalidation.fence(KEYS_CHANGED))
    nodes.do(keys.ready())  # reads what is there before the commit
    keys._database = gone

    with pytest.raises(DatabaseUnavailable):
        nodes.do(keys.ready())
    nodes.do(gone.close())


def test_tokens_without_a_database_rest_on_no_key_that_may_have_been_dropped(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcement, "FENCE_S", 2.0)
    with nodes.one_more("trading", tokens_without_database_s=60) as trading:
        invalidation, keys = trading.dependencies.invalidation, keys_of(trading)
        nodes.do(keys.ready())
        until(lambda: invalidation.is_valid("entity:any"))
        nodes.do(nodes.a.dependencies.invalidation.fence(KEYS_CHANGED))
        nodes.do(keys.ready())
        with psycopg.connect(nodes.conninfo) as connection:
            asked = "SELECT pid FROM pg_stat_activity WHERE application_name = 'trading'"
            pids = [pid for (pid,) in connection.execute(asked)]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)  # as a network that swallows everything
        try:
            until(lambda: not invalidation.is_valid("entity:any"))
            until(lambda: not invalidation.is_fenced(KEYS_CHANGED))
            until(lambda: invalidation.is_usable_for_tokens(KEYS_CHANGED))
            assert not keys.is_ready()
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
        until(lambda: invalidation.is_valid("entity:any"))
        nodes.do(keys.ready())
        assert keys.is_ready()
