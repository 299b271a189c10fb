"""The sandbox in which documents are followed: one for all of them."""

from collections.abc import Iterator

import pytest
from tests.support.process import running_service
from tests.support.service import Service


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A sandbox with the demonstration network, as `make run` starts it, without its traffic."""
    folder = tmp_path_factory.mktemp("docs") / "data"
    with running_service(folder, "--demo", "--no-traffic", keeps_store=True) as service:
        yield service
