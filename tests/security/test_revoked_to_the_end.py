"""A revoked token stays revoked as long as anyone may accept it: beyond its `exp` by the leeway."""

from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from tests.support.nodes import Nodes, two_nodes
from tests.support.until import until

from mudra.storage.caching.cache_invalidation import revoked_key
from mudra.tokens.revocation.ended_token_store import ended_tokens
from mudra.tokens.revocation.node_revocations import RevokedTokens

LEEWAY_S = 60
CLOCK_TOLERANCE = timedelta(seconds=30)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """Two nodes, and tokens that were revoked and have expired since."""
    with two_nodes(tmp_path_factory.mktemp("revoked") / "data") as running:
        with psycopg.connect(running.conninfo) as connection:
            connection.execute(
                "INSERT INTO revoked_entity_token (jti, entity_id, revoked_at, expires_at)"
                " SELECT jti, 'A-FIP', now(), now() - ago * interval '1 second'"
                " FROM (VALUES ('just', 5), ('long', %s)) t (jti, ago)",
                [LEEWAY_S + CLOCK_TOLERANCE.total_seconds() + 5],
            )
        yield running


def test_the_list_has_a_token_until_its_leeway_is_over(nodes: Nodes) -> None:
    async def listed() -> list[str]:
        async with nodes.a.dependencies.database.transaction() as transaction:
            return list((await ended_tokens(transaction)).revoked)

    assert nodes.do(listed()) == ["just"]


def test_a_node_remembers_a_token_until_its_leeway_is_over(nodes: Nodes) -> None:
    of_a = nodes.a.dependencies
    revoked = RevokedTokens(of_a.database, of_a.invalidation)
    until(lambda: of_a.invalidation.is_valid(revoked_key("just")))

    assert nodes.do(revoked.is_revoked("just"))
