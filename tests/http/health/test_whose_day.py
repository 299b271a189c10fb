"""Public days and the feed show what is the FIP's own: no AA's outage, no maintenance, no heartbeat."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.http.health.service_in_process import service_in_process
from tests.http.public_status import open_data, until_shown
from tests.support.members import new_member
from tests.support.metrics.health_network import HealthNetwork, a_network, at_aa, at_fip


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HealthNetwork]:
    with service_in_process(tmp_path_factory.mktemp("whose") / "data") as service:
        made = a_network(service, aas=2, fips=4)
        made.windows(6)
        made.settled()
        yield made


def of_fip(network: HealthNetwork, fip_id: str) -> dict[str, Any]:
    """An institution in the open data, newer than a minute."""
    before = open_data(network.service)["as_of"]
    network.windows(1)
    network.settled()

    until_shown(network.service, lambda: open_data(network.service)["as_of"] > before)
    (found,) = [one for one in open_data(network.service)["fips"] if one["fip_id"] == fip_id]
    return found


def feed_of(network: HealthNetwork, fip_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The APIs of a FIP in the feed, and the planned maintenances."""
    fiu = new_member(network.service, "FIU")
    token = fiu.entity_token(fiu.secret()).json()["accessToken"]
    network.service.advance("PT1M")
    address = f"{network.service.root}/metrics/perf/v1/feed"
    found = network.service.client().get(address, headers={"Authorization": f"Bearer {token}"})
    return found.json()["data"]["fips"][fip_id], found.json()["maintenance"]


def test_an_aa_that_is_out_makes_no_fips_day_bad(network: HealthNetwork) -> None:
    bank, aa = network.fips[0].entity_id, network.aas[0].aa_id

    network.windows(5, at_aa(aa, failing=0.9))
    network.settled()
    assert [one["kind"] for one in network.incidents(open="true")] == ["aa-calls"]
    network.windows(3)
    network.settled()

    found = of_fip(network, bank)
    assert {one["state"] for one in found["days"][-2:]} <= {"good", "no-data", "too-few"}
    assert found["last_24_hours"] == "good"
    shown = [one for one in found["apis"] if one["requests"]]
    assert {one["status"] for one in shown} == {"GOOD"}
    # Its first window is in it: the cause was not known yet.
    assert all(one["success_percentage"] > 90 for one in shown)


def test_a_fip_in_maintenance_is_unsure_in_the_feed_and_no_day_of_it_is_bad(
    network: HealthNetwork,
) -> None:
    bank = network.fips[1].entity_id
    ends = network.service.advance("PT0S") + timedelta(hours=1)
    answer = network.noc.post(
        "/health/silences", entityId=bank, maintenance=True, reason="disks", ends=ends.isoformat()
    )
    assert answer.status_code == 200, answer.text

    network.windows(4, at_fip(bank, failing=1.0))
    network.settled()
    apis, maintenance = feed_of(network, bank)

    assert {(one["status"], *one["reasons"]) for one in apis.values()} == {
        ("UNSURE", "maintenance")
    }
    assert maintenance[bank]["ends"][:16] == ends.isoformat()[:16]
    network.windows(5)
    found = of_fip(network, bank)
    assert found["last_24_hours"] == "good"
    assert "bad" not in {one["state"] for one in found["days"]}


def test_a_fip_whose_heartbeats_alone_fail_is_unsure_and_not_public(network: HealthNetwork) -> None:
    bank = network.fips[0].entity_id
    quiet = at_fip(bank, uncalled=True)

    network.windows(4, quiet, at_fip(bank, "hbt", failing=1.0))
    network.settled()
    (found,) = network.incidents(open="true")
    apis, _ = feed_of(network, bank)

    assert (found["kind"], found["entityId"], found["calls"]) == ("fip", bank, 200)
    assert {(one["status"], *one["reasons"]) for one in apis.values()} == {("UNSURE", "heartbeats")}
    assert apis["consent"]["causes"][0]["entity_id"] == bank
    assert [one for one in open_data(network.service)["incidents"] if one["fip_id"] == bank] == []

    network.windows(2, at_fip(bank, failing=1.0))  # a customer has tried
    network.settled()
    apis, _ = feed_of(network, bank)
    assert apis["consent"]["status"] == "BAD"
    until_shown(
        network.service,
        lambda: bank in {one["fip_id"] for one in open_data(network.service)["incidents"]},
    )
    network.windows(3)
    network.settled()


def test_slow_calls_are_degraded_and_refused_ones_too_and_the_public_reads_why(
    network: HealthNetwork,
) -> None:
    slow, refusing = (one.entity_id for one in network.fips[2:4])
    client, root = network.service.client(), network.service.root

    network.windows(3, at_fip(slow, slower=4), at_fip(refusing, refused=0.6))
    network.settled()
    of_slow, _ = feed_of(network, slow)
    of_refusing, _ = feed_of(network, refusing)

    assert of_slow["consent"]["status"] == of_refusing["consent"]["status"] == "DEGRADED"
    assert "slow" in of_slow["consent"]["reasons"]
    assert of_refusing["consent"]["reasons"] == ["refusing"]

    degraded = "2 of 4 institutions degraded"
    until_shown(network.service, lambda: degraded in client.get(f"{root}/status").text)
    page, atom = (client.get(f"{root}/status{end}").text for end in ("", "/feed.atom"))
    for why in ("calls slow", "requests refused (4xx)"):
        assert re.search(f"<p>{re.escape(why[0].upper() + why[1:])} for [34]0 min", page)
        assert f": all APIs {why}</title>" in atom
    badges = [client.get(f"{root}/status{one}/badge.svg").text for one in ("", f"/fip/{slow}")]
    assert ["Operational" in badges[0], "Degraded" in badges[1]] == [True, True]
