"""A FIP of which somewhat more calls fail for good is degraded, then changed, and never an outage."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.http.health.service_in_process import service_in_process
from tests.http.public_status import open_data, until_shown
from tests.support.members import Member, new_member
from tests.support.metrics.health_network import Fault, HealthNetwork, a_network, at_fip
from tests.support.people.console import reader
from tests.support.webhook_sink import WebhookSink, webhook_sink

SHARE = 0.09
FOUND_WITHIN, IS_CHANGED_AFTER = 12, 48
"""Windows."""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HealthNetwork]:
    with service_in_process(tmp_path_factory.mktemp("deployment") / "data") as service:
        made = a_network(service, aas=3, fips=4)
        made.windows(12)
        made.settled()
        yield made


@pytest.fixture(scope="module")
def fiu(network: HealthNetwork) -> Member:
    return new_member(network.service, "FIU")


@pytest.fixture(scope="module")
def sink(network: HealthNetwork) -> Iterator[WebhookSink]:
    with webhook_sink() as made:
        assert network.noc.post("/health/webhooks", url=made.url).status_code == 200
        yield made


def consent_of(network: HealthNetwork, fiu: Member, fip_id: str) -> dict[str, Any]:
    """Its consents in the feed."""
    token = fiu.entity_token(fiu.secret()).json()["accessToken"]
    network.service.advance("PT1M")
    address = f"{network.service.root}/metrics/perf/v1/feed"
    found = network.service.client().get(address, headers={"Authorization": f"Bearer {token}"})
    return dict(found.json()["data"]["fips"][fip_id]["consent"])


def opened(network: HealthNetwork, fault: Fault) -> list[dict[str, Any]]:
    """The incidents, once the windows of an hour or two show any."""
    for _ in range(FOUND_WITHIN):
        network.windows(1, fault)
        network.settled()
        if found := network.incidents(open="true"):
            return found
    return []


def page_of(network: HealthNetwork, email: str, path: str) -> str:
    pages = reader(network.service)
    assert pages.sign_in(email).status_code == 303
    return pages.get(path).text


@pytest.mark.slow
def test_a_deployment_is_degraded_until_it_is_changed_for_every_reader(
    network: HealthNetwork, fiu: Member, sink: WebhookSink
) -> None:
    bank, client = network.fips[0].entity_id, network.service.client()
    admin, root = network.admins[bank], network.service.root
    deployed = at_fip(bank, failing=SHARE)

    (found,) = opened(network, deployed)
    assert (found["entityId"], found["severity"], found["state"]) == (bank, "major", "open")
    consent = consent_of(network, fiu, bank)
    assert (consent["status"], consent["reasons"]) == ("DEGRADED", ["failing"])
    may_be = "it is a rate that has changed, not an outage"
    own = f"/console/entity/{bank}/health/incidents/{found['incidentId']}"
    of_noc = f"/console/operator/incidents/{found['incidentId']}"
    for email, path in ((admin, own), (network.noc.email, of_noc)):
        assert may_be in page_of(network, email, path)
    (posted,) = [one.data["data"] for one in sink.posted]
    network.in_time(lambda: bool(network.mails_to(admin)))
    for text in (posted["text"], network.mails_to(admin)[-1]["text"]):
        assert may_be in text
    of_fiu = f"/console/entity/{fiu.entity_id}/health/incidents/{found['incidentId']}"
    assert "It is degraded, not down" in page_of(network, fiu.email, of_fiu)
    until_shown(
        network.service,
        lambda: [one["effect"] for one in open_data(network.service)["incidents"]] == ["degraded"],
    )
    assert "degraded" in client.get(f"{root}/status").text
    badge = client.get(f"{root}/status/fip/{bank}/badge.svg").text
    assert ["Degraded" in badge, "Disrupted" in badge] == [True, False]

    network.windows(IS_CHANGED_AFTER, deployed)
    network.settled()
    assert network.incidents(open="true") == []
    (ended,) = network.incidents(bank)
    assert ended["state"] == "changed"
    network.in_time(lambda: "changed for good" in network.mails_to(admin)[-1]["subject"])
    assert "not an outage" in network.mails_to(admin)[-1]["text"]
