"""The same story with two workers; with one too in `make test-slow`."""

import pytest
from tests.support.depth import with_every_change
from tests.support.members import Member, new_member
from tests.support.service import Service


@pytest.fixture(
    params=with_every_change(["service_of_two"], ["service", "service_of_two"]),
    ids=["one-worker", "two-workers"],
)
def each_service(request: pytest.FixtureRequest) -> Service:
    """A service of two workers; deep, one of one before."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def each_member(each_service: Service) -> Member:
    """A member of its own, of each service."""
    return new_member(each_service)
