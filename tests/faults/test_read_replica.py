"""Reads on a replica: never older than the request, and on the primary when it is late or gone."""

import json
import re
import time
from collections.abc import Iterator

import httpx2
import pytest
from tests.faults.postgres.standby import Standby, standby
from tests.support.agent.agent_process import free_port
from tests.support.database.own_postgres import own_postgres
from tests.support.members import new_member
from tests.support.people.operators import Operator, new_operator
from tests.support.process import running_service
from tests.support.service import Service
from tests.support.until import PATIENCE_S

from mudra.storage.database.schema.roles import SERVICE, as_role

pytestmark = pytest.mark.slow
_READS = re.compile(r'^mudra_replica_reads_total\{.*place="([^"]+)".*\} (\S+)$', re.MULTILINE)
_LATE = "primary: replica late"
_GONE = "primary: replica out of reach"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Standby]]:
    home = tmp_path_factory.mktemp("replica")
    with (
        own_postgres(home / "database") as url,
        standby(url, home / "database", home / "standby") as second,
        running_service(
            home / "node",
            *("--workers", "2"),
            MUDRA_DATABASE_URL=as_role(url, SERVICE),
            MUDRA_DATABASE_REPLICA_URL=as_role(second.url, SERVICE),
            MUDRA_DATABASE_REPLICA_LAG_MS="1500",
            MUDRA_TELEMETRY_PORT=str(free_port()),
        ) as service,
    ):
        yield service, second


def figures(service: Service) -> str:
    """What Prometheus reads."""
    address = f"http://127.0.0.1:{service.environment['MUDRA_TELEMETRY_PORT']}/metrics"
    return httpx2.get(address).text


def reads(service: Service) -> dict[str, float]:
    """Count reads by where they went."""
    return {place: float(count) for place, count in _READS.findall(figures(service))}


def doctor(service: Service) -> dict[str, object]:
    """Return what the doctor says of the replica."""
    checks = json.loads(service.cli("doctor", "--json", check=False).stdout)
    found: dict[str, object] = next(one for one in checks if one["check"] == "replica")
    return found


def is_seen(operator: Operator, entity_id: str) -> bool:
    """Return whether a search of the audit shows that a member was onboarded."""
    found = operator.get("/audit", entityId=entity_id, event="entity:member:onboard")
    assert found.status_code == 200, found.text
    return len(found.json()["events"]) == 1


def test_prometheus_sees_who_follows(network: tuple[Service, Standby]) -> None:
    service, _ = network

    service.wait_until(lambda: "mudra_standbys 1.0" in figures(service))

    assert "mudra_standby_faults 0.0" in figures(service)


def test_a_read_on_the_replica_shows_what_was_just_written(
    network: tuple[Service, Standby],
) -> None:
    service, _ = network
    operator = new_operator(service, "audit", "health")
    before = reads(service).get("replica", 0)

    for _ in range(20):
        assert is_seen(operator, new_member(service).entity_id)
        assert operator.get("/health/matrix").status_code == 200
    assert httpx2.get(f"{service.root}/status").status_code == 200

    assert reads(service)["replica"] >= before + 20


def test_a_late_replica_is_left_alone_and_used_again(network: tuple[Service, Standby]) -> None:
    service, second = network
    operator = new_operator(service, "audit")

    second.pause()
    try:
        member = new_member(service)
        for _ in range(10):
            assert is_seen(operator, member.entity_id)
        assert reads(service)[_LATE] >= 1
    finally:
        second.resume()

    before = reads(service)["replica"]

    def is_used_again() -> bool:
        assert is_seen(operator, member.entity_id)
        return reads(service)["replica"] > before

    service.wait_until(is_used_again)
    service.wait_until(lambda: bool(doctor(service)["ok"]))
    assert "bytes behind" in str(doctor(service)["text"])


def test_a_frozen_replica_costs_one_read_a_moment_and_the_others_nothing(
    network: tuple[Service, Standby],
) -> None:
    service, second = network
    operator = new_operator(service, "audit")
    member = new_member(service)
    for _ in range(4):
        assert is_seen(operator, member.entity_id)

    second.freeze()
    try:
        seconds = []
        for _ in range(40):
            began = time.monotonic()
            assert is_seen(operator, member.entity_id)
            seconds.append(time.monotonic() - began)
            time.sleep(0.2)  # over the five seconds after which a replica is tried again
    finally:
        second.thaw()

    # The bound of this service is 1.5 s, and each of its two workers finds out for itself.
    late = [one for one in seconds if one > 1.5]
    assert len(late) <= 2, seconds
    assert max(seconds) < 2.8, seconds
    before = reads(service)["replica"]
    service.wait_until(
        lambda: is_seen(operator, member.entity_id) and reads(service)["replica"] > before
    )


def test_without_its_replica_the_service_goes_on(network: tuple[Service, Standby]) -> None:
    service, second = network
    operator = new_operator(service, "audit")
    member = new_member(service)

    second.process.kill()
    second.process.wait(PATIENCE_S)
    statuses = [operator.get("/audit", entityId=member.entity_id).status_code for _ in range(20)]

    # A read that was under way on it is refused; none was here.
    assert set(statuses) == {200}
    assert "cannot be reached: reads go to the primary" in str(doctor(service)["text"])
    assert reads(service)[_GONE] >= 1
    assert httpx2.get(f"{service.root}/readyz").status_code == 200
