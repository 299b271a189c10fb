"""The published keys outlive an absent database (quality F3)."""

import json
from pathlib import Path

import pytest
from tests.support.nodes import two_nodes

from mudra.jobs.key_rotation import maintain_keys
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.database.database import Database
from mudra.storage.tokens.node_keys import NodeKeys

NOWHERE = "postgresql://postgres@127.0.0.1:1/mudra"


def test_keys_once_read_are_published_on_and_a_node_that_read_none_says_so(tmp_path: Path) -> None:
    with two_nodes(tmp_path / "data") as nodes:
        dependencies = nodes.a.dependencies
        made = nodes.do(maintain_keys(dependencies.unit_of_work))
        gone = Database(NOWHERE, dependencies.invalidation, lambda: dependencies.clock.offset)
        keys = NodeKeys(
            dependencies.database,
            dependencies.encryption,
            dependencies.invalidation,
            dependencies.clock,
            "JWT",
        )
        fresh = NodeKeys(
            gone, dependencies.encryption, dependencies.invalidation, dependencies.clock, "JWT"
        )
        nodes.do(keys.ready())
        before = json.loads(nodes.do(keys.jwks()))

        keys._database = gone
        dependencies.invalidation.changed_here("keys")
        nodes.do(keys.ready())

        assert json.loads(nodes.do(keys.jwks())) == before
        assert {key["kid"] for key in before["keys"]} == {change.kid for change in made}
        with pytest.raises(DatabaseUnavailable):
            nodes.do(fresh.ready())
        nodes.do(gone.close())
