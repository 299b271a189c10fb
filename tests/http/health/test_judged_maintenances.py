"""What is judged about a member that announces a maintenance of its own, and what is not."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.support.alarm_network import Network, as_entity
from tests.support.metrics.health_network import a_network
from tests.support.service import new_member, running_service

from mudra.metrics.payload.catalogue import WINDOW

METRICS = "/metrics/perf/v1"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    data_dir = tmp_path_factory.mktemp("judged-maintenances") / "data"
    with running_service(data_dir, keeps_store=True) as service:
        health = a_network(service, aas=3, fips=1)
        yield Network(service, health, health.noc)


@pytest.fixture(autouse=True)
def early(network: Network) -> None:
    network.health.early_in_a_window()


def test_a_member_announces_its_maintenance_and_only_what_outlives_it_opens(
    network: Network,
) -> None:
    member = new_member(network.service, "FIP")
    bank, headers = member.entity_id, as_entity(member)
    own = f"{network.service.root}{METRICS}/maintenance"
    now = network.health.aas[0].now()
    ends = {"ends": (now + 5 * WINDOW).isoformat(), "reason": "new disks"}
    too_long = {"ends": (now + timedelta(hours=25)).isoformat(), "reason": "all week"}
    assert member.client.post(own, json=too_long, headers=headers).status_code == 400

    answer = member.client.post(own, json=ends, headers=headers)
    assert answer.status_code == 200, answer.text
    silence = answer.json()["silence"]
    assert (silence["entityId"], silence["maintenance"]) == (bank, True)

    def page() -> str:
        return member.client.get(f"{network.service.root}/status/fip/{bank}").text

    network.report(bank, 99, windows=1)  # it has begun before, and is judged
    network.report(bank, 0, windows=3)
    network.health.settled()
    network.service.wait_until(lambda: "Planned maintenance" in page(), 60)
    assert network.open_incidents(bank) == []
    assert network.noc.get("/incidents", entityId=bank).json()["incidents"] == []
    other = as_entity(new_member(network.service, "FIP"))
    assert member.client.get(own, headers=other).json()["silences"] == []
    end = f"{own}/{silence['silenceId']}/end"
    assert member.client.post(end, json={}, headers=other).status_code == 404

    assert member.client.post(end, json={}, headers=headers).status_code == 200
    network.report(bank, 0, windows=4)
    network.service.wait_until(lambda: network.open_incidents(bank), 60)
    (incident,) = network.open_incidents(bank)
    assert incident["began"] > silence["begins"]


def test_a_window_that_was_bad_before_the_announcement_is_judged(network: Network) -> None:
    member = new_member(network.service, "FIP")
    bank, headers = member.entity_id, as_entity(member)
    own = f"{network.service.root}{METRICS}/maintenance"
    network.good(bank)
    for _ in range(2):
        now = network.health.aas[0].now()
        order = {"ends": (now + 2 * WINDOW).isoformat(), "reason": "new disks"}
        made = member.client.post(own, json=order, headers=headers).json()["silence"]
        end = f"{own}/{made['silenceId']}/end"
        assert member.client.post(end, json={}, headers=headers).status_code == 200
        network.report(bank, 0, windows=1)

    network.service.wait_until(lambda: network.open_incidents(bank), 60)
