"""Members whose admins sign in once: these tests are about what comes after it."""

import pytest
from tests.support.people.signed_in import signed_in
from tests.support.service import Member, Service, new_member


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
