"""A node whose clock is wrong takes itself out, says why, and comes back."""

from collections.abc import Iterator

import httpx2
import pytest
from tests.support.agent.agent_process import free_port
from tests.support.database.own_postgres import own_postgres
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.process import running_service
from tests.support.service import Service
from tests.support.set_clock import SetClock

RIGHT, SECONDS, HOUR = 0, 5, 3600


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> SetClock:
    return SetClock(tmp_path_factory.mktemp("clock") / "seconds")


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory, clock: SetClock) -> Iterator[Service]:
    """A service whose machine's clock a test sets, on a database of right time."""
    folder = tmp_path_factory.mktemp("far")
    with (
        own_postgres(folder / "database") as url,
        running_service(
            folder / "data",
            sandbox=False,
            MUDRA_DATABASE_URL=url,
            MUDRA_TELEMETRY_PORT=str(free_port()),
            **clock.variables,
        ) as running,
    ):
        yield running


def ready(service: Service) -> httpx2.Response:
    return httpx2.get(f"{service.root}/readyz", verify=NO_TLS)


def test_a_node_an_hour_ahead_issues_no_token_and_says_why(far: Service, clock: SetClock) -> None:
    member: Member = new_member(far)
    secret = member.secret()
    assert (member.entity_token(secret).status_code, ready(far).status_code) == (200, 200)

    clock.set(HOUR)
    far.wait_until(lambda: ready(far).status_code == 503)
    token = member.entity_token(secret)
    read = member.read({"Authorization": "Bearer x"})

    for refused in (token, read, ready(far)):
        assert refused.status_code == 503
        assert refused.json()["errorMsg"].startswith("the clock of this node is 3600 s ahead of")
        assert int(refused.headers["retry-after"]) >= 1
    assert httpx2.get(f"{far.root}/livez", verify=NO_TLS).status_code == 200

    clock.set(RIGHT)
    far.wait_until(lambda: ready(far).status_code == 200)
    assert member.entity_token(secret).status_code == 200


def test_a_node_seconds_ahead_goes_on_and_its_metric_shows_it(
    far: Service, clock: SetClock
) -> None:
    clock.set(SECONDS)
    try:
        far.wait_until(lambda: 4.5 < ahead(far) < 5.5)
        assert ready(far).status_code == 200
    finally:
        clock.set(RIGHT)
    far.wait_until(lambda: abs(ahead(far)) < 1)


def ahead(service: Service) -> float:
    address = f"http://127.0.0.1:{service.environment['MUDRA_TELEMETRY_PORT']}/metrics"
    text = httpx2.get(address, verify=NO_TLS).text
    (line,) = (line for line in text.splitlines() if line.startswith("mudra_clock_ahead_seconds"))
    return float(line.rpartition(" ")[2])
