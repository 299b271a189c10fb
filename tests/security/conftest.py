"""Fixtures of the tests of single sign-on; other modules have services of their own."""

from collections.abc import Iterator

import pytest
from tests.support.identity_provider import Provider, provider, service_of
from tests.support.service import Service


@pytest.fixture(scope="module")
def idp() -> Iterator[Provider]:
    with provider() as made:
        yield made


@pytest.fixture(scope="module")
def served(idp: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose operators sign in by the provider alone."""
    with service_of(idp, tmp_path_factory.mktemp("sso")) as running:
        yield running
