"""The store of sums that the tests of a file share."""

import pytest
from tests.storage.metrics.summed_store import one_store


@pytest.fixture(scope="module")
def in_store(conninfo):
    """Acts on the store: a test empties it first where others may have left something."""
    with one_store(conninfo) as act_on_it:
        yield act_on_it
