"""A service in this process for tests of what AAs report and what is shown of it."""

from collections.abc import Iterator

import pytest
from tests.http.health.service_in_process import service_in_process
from tests.support.service import Service


@pytest.fixture(scope="module")
def health_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One for each file: what others report is judged with each window of a service."""
    with service_in_process(tmp_path_factory.mktemp("health") / "data") as running:
        yield running
