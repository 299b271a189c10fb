"""Two nodes over one database, for properties of the whole."""

from collections.abc import Iterator

import pytest
from tests.support.nodes import Nodes, two_nodes


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """Two nodes over one embedded server; each test uses entities of its own."""
    with two_nodes(tmp_path_factory.mktemp("nodes") / "data") as running:
        yield running
