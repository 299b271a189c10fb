"""The same story with one worker and with two."""

import pytest
from tests.support.members import Member, new_member
from tests.support.service import Service


@pytest.fixture(params=["service", "service_of_two"], ids=["one-worker", "two-workers"])
def each_service(request: pytest.FixtureRequest) -> Service:
    """A service of one worker, then one of two."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def each_member(each_service: Service) -> Member:
    """A member of its own, of each service."""
    return new_member(each_service)
