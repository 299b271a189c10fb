"""A notice about capacity is sent once, and once more when it is over: webhooks and the audit."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.http.comparison.conftest import forward
from tests.http.comparison.daily_calls import Calls, report_idle_windows
from tests.http.health.service_in_process import service_in_process
from tests.support.members import new_member
from tests.support.metrics.health_network import reporting
from tests.support.people.operators import new_operator
from tests.support.service import Service
from tests.support.webhook_sink import WebhookSink, webhook_sink

from mudra.comparison.capacity import look_for_notices

WEEKS = 5


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service_in_process(tmp_path_factory.mktemp("capacity") / "data") as running:
        running.judges = False
        yield running


def look(service: Service) -> int:
    found = service.in_store(lambda parts: look_for_notices(parts.transaction))
    service.advance("PT1S")  # messages are posted
    return found


def a_growing_network(service: Service) -> Calls:
    """A tenth more calls in each of five weeks, all of them handled well."""
    gateway, bank = new_member(service, "AA"), new_member(service, "FIP")
    found = Calls(
        new_operator(service, "health", "audit"), gateway, reporting(gateway), bank.entity_id
    )
    for week in range(WEEKS):
        found.report_week(lambda _, week=week: round(200 * 1.1**week))
        forward(service, "P7D" if week < WEEKS - 1 else "P1D")
    report_idle_windows(found)
    return found


def of_kind(sink: WebhookSink, name: str) -> list[dict[str, Any]]:
    posted = (one.data for one in sink.posted if one.path.endswith(f"/{name}"))
    return [one for one in posted if str(one["type"]).startswith("capacity.")]


def test_a_notice_is_sent_once_and_its_end_once(service: Service) -> None:
    network = a_growing_network(service)
    noc, fip_id, aa_id = network.noc, network.fip_id, network.gateway.entity_id
    with webhook_sink() as sink:
        hooks = {"network": {}, "fip": {"entityId": fip_id}, "aa": {"entityId": aa_id}}
        for name, whose in hooks.items():
            made = noc.post("/health/webhooks", url=f"{sink.url}/{name}", **whose)
            assert made.status_code == 200, made.text
        shown = network.asked()["notice"]
        first, again = look(service), look(service)

        # Two weeks with a third of the calls: so many were handled well before.
        for days in ("P6D", "P7D"):
            forward(service, days)
            network.aa = network.renewed()
            network.report_week(lambda _: 100)
        forward(service, "P1D")
        report_idle_windows(network)
        over = look(service)

    assert (first, again, over) == (3, 0, 3)
    announced, ended = of_kind(sink, "network")[:3], of_kind(sink, "network")[3:]
    assert {one["type"] for one in announced} == {"capacity.notice"}
    assert {one["type"] for one in ended} == {"capacity.over"}
    assert {one["data"]["entityId"] for one in announced} == {"", fip_id, aa_id}
    assert [one["data"] for one in of_kind(sink, "fip")] == [
        one["data"] for one in (*announced, *ended) if one["data"]["entityId"] == fip_id
    ]
    assert {one["data"]["entityId"] for one in of_kind(sink, "aa")} == {aa_id}
    (of_network,) = (one["data"] for one in announced if not one["data"]["entityId"])
    assert shown is not None
    assert of_network["day"] == shown["expected"]["day"]
    assert of_network["atMost"] == shown["expected"]["high"] > of_network["handled"]
    assert (of_network["handledDay"], of_network["handled"]) == (
        shown["handledDay"],
        shown["handled"],
    )
    noted = [one["event"] for one in noc.get("/audit", limit=50).json()["events"]]
    assert noted.count("metrics:capacity:notice") == noted.count("metrics:capacity:over") == 3
