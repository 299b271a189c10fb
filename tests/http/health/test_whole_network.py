"""A cause that is the whole network, as the public status shows it."""

from collections.abc import Iterator

import pytest
from tests.http.health.service_in_process import service_in_process
from tests.http.public_status import open_data, until_shown
from tests.support.metrics.health_network import (
    CLOSE_AFTER,
    Fault,
    HealthNetwork,
    a_network,
    at_fip,
)

MANY, FEW, FEWER = 2000, 100, 15
"""Calls of an AA to each API: the sums of a day are good while few of them fail."""
DOWN = Fault(lambda *_: True, failing=0.9)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HealthNetwork]:
    with service_in_process(tmp_path_factory.mktemp("whole") / "data") as service:
        made = a_network(service, aas=4, fips=6)
        made.calls = MANY
        made.windows(6)
        yield made


def test_a_fault_of_the_whole_network_is_no_operational_network(network: HealthNetwork) -> None:
    service = network.service

    def page() -> str:
        text = service.client().get(f"{service.root}/status").text
        return text.split("<h1>")[1].split("</h1>")[0]

    until_shown(service, lambda: "operational" in page())
    network.early_in_a_window()
    network.calls = FEW
    network.windows(3, DOWN)
    network.settled()
    assert [one["kind"] for one in network.incidents(open="true")] == ["network"]

    until_shown(service, lambda: page() == "6 of 6 institutions disrupted")
    snapshot = open_data(service)
    assert snapshot["network_since"] is not None
    badge = service.client().get(f"{service.root}/status/badge.svg").text
    assert "6 of 6 disrupted" in badge
    bank = network.fips[0].entity_id
    own = service.client().get(f"{service.root}/status/fip/{bank}/badge.svg").text
    assert "Disrupted" in own

    network.calls = MANY
    network.windows(CLOSE_AFTER + 1)
    network.settled()
    assert network.incidents(open="true") == []
    until_shown(service, lambda: "operational" in page())
    snapshot = open_data(service)
    assert snapshot["network_since"] is None
    for one in snapshot["fips"]:  # it was none of theirs; midnight may have passed
        assert {day["state"] for day in one["days"][-2:]} <= {"good", "no-data", "too-few"}


def test_a_traffic_that_falls_a_hundredfold_at_once_is_no_incident(network: HealthNetwork) -> None:
    network.early_in_a_window()
    before = network.incidents()
    network.windows(2)

    network.calls = FEWER
    network.windows(4)
    network.settled()

    print([one for one in network.incidents() if one not in before])
    assert network.incidents() == before
    network.calls = MANY


def test_a_fip_that_fails_while_all_are_slow_is_not_the_network(network: HealthNetwork) -> None:
    network.early_in_a_window()
    bank, slow = network.fips[0].entity_id, Fault(lambda *_: True, slower=6)

    network.windows(3, slow, at_fip(bank, failing=0.7))
    network.settled()

    found = {one["kind"]: one for one in network.incidents(open="true")}
    assert found.keys() == {"network", "fip"}
    assert (found["fip"]["entityId"], found["fip"]["symptoms"]) == (bank, ["failures"])
    assert "failures" not in found["network"]["symptoms"]
    network.windows(CLOSE_AFTER + 1)
    network.settled()
    assert network.incidents(open="true") == []
