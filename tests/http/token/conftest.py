"""Members whose admins sign in once, since these tests are about what comes after it, and keys."""

from collections.abc import Iterator

import pytest
from tests.http.token.signed_in import signed_in
from tests.support.members import Member, new_member
from tests.support.process import running_service
from tests.support.service import Service


@pytest.fixture
def member(service: Service) -> Member:
    """A member of its own for a test."""
    return signed_in(new_member(service))


@pytest.fixture
def each_member(each_service: Service) -> Member:
    """A member of its own, of each service."""
    return signed_in(new_member(each_service))


@pytest.fixture(scope="module")
def unharmed(service: Service) -> Member:
    """A member that each test of a module leaves as it is."""
    return signed_in(new_member(service))


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose keys no other test uses: dropping one ends all its tokens."""
    with running_service(
        tmp_path_factory.mktemp("keys") / "data", "--workers", "2", keeps_store=True
    ) as running:
        yield running
