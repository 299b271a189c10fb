"""Services that several modules share, one after the other (tests/support/order.py)."""

from collections.abc import Iterator

import pytest
from tests.security.identity_provider import Provider, provider, service_of
from tests.support.agent.agent_process import free_port
from tests.support.passkeys import named_service
from tests.support.process import running_service
from tests.support.service import Service

PROXY = "127.99.0.1"


@pytest.fixture(scope="session")
def idp() -> Iterator[Provider]:
    with provider() as made:
        yield made


@pytest.fixture(scope="session")
def served(idp: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose operators sign in by the provider alone."""
    with service_of(idp, tmp_path_factory.mktemp("sso")) as running:
        yield running


@pytest.fixture(scope="session")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a host name, as passkeys need, whose admins of members need a second factor."""
    folder = tmp_path_factory.mktemp("named") / "data"
    with named_service(folder, MUDRA_SECOND_FACTOR="members") as running:
        yield running


@pytest.fixture(scope="session")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the limits that it has outside of tests and of the sandbox.

    Its operators decide by two, an account signs in sixty times an hour, and it trusts a proxy.
    No account of a test is another one's, and no address.
    """
    with running_service(
        tmp_path_factory.mktemp("strict") / "data",
        keeps_store=True,
        MUDRA_REGISTRY_ONE_OPERATOR="false",
        MUDRA_SIGN_IN_HOURLY="60",
        MUDRA_TELEMETRY_PORT=str(free_port()),
        MUDRA_TRUSTED_PROXIES=f"{PROXY}/32",
    ) as running:
        yield running
