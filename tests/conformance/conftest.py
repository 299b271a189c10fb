"""The service that is fuzzed: apart from others, whose members and limits it would use up."""

from collections.abc import Iterator

import pytest
from tests.support.process import running_service
from tests.support.service import Service


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of its own: thousands of refused sign-ins would throttle others' tests.

    Each file has one: what is sent to it at random moves its clock too.
    """
    data_dir = tmp_path_factory.mktemp("fuzzed") / "data"
    with running_service(
        data_dir, keeps_store=True, MUDRA_REGISTRY_WRITES_PER_HOUR="100000"
    ) as running:
        yield running
