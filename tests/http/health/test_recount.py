"""Every number of an incident, wherever it is read, is that of an independent recount."""

import os
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.http.health.service_in_process import service_in_process
from tests.http.public_status import open_data, until_shown
from tests.support.depth import examples
from tests.support.members import new_member
from tests.support.metrics.health_network import a_network
from tests.support.metrics.recounted import (
    RecountedNetwork,
    Truth,
    a_situation,
    found,
    instant,
    number,
    passes,
)
from tests.support.people.console import Reader, reader
from tests.support.webhook_sink import WebhookSink, webhook_sink

SITUATIONS = "MUDRA_TEST_SITUATIONS"
"""The variable by which bench/truth_recount asks for more of them; the first is a path."""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecountedNetwork]:
    with service_in_process(tmp_path_factory.mktemp("recount") / "data") as service:
        made = RecountedNetwork.of(a_network(service, aas=4, fips=5))
        made.windows(6)
        made.settled()
        yield made


@pytest.fixture(scope="module")
def sink(network: RecountedNetwork) -> Iterator[WebhookSink]:
    with webhook_sink() as made:
        assert network.noc.post("/health/webhooks", url=made.url).status_code == 200
        yield made


@pytest.fixture
def noc(network: RecountedNetwork) -> Reader:
    """Not signed in yet: hours pass until it is."""
    return reader(network.service)


@pytest.mark.deeper
@pytest.mark.parametrize("seed", range(int(os.environ.get(SITUATIONS, examples(1)))))
def test_each_number_is_that_of_the_recount_in_a_random_situation(
    network: RecountedNetwork, noc: Reader, sink: WebhookSink, seed: int
) -> None:
    situation = a_situation(network, random.Random(seed))
    heard = len(sink.posted)

    truth = passes(network, situation)

    assert noc.sign_in(network.noc.email).status_code == 303
    (incident,) = network.incidents(open="true")
    assert (incident["kind"], incident["entityId"], incident["peerId"], incident["type"]) == (
        situation.kind, situation.entity_id, situation.peer_id, situation.code
    )  # fmt: skip
    of_the_api(incident, truth)
    on_pages(noc, incident["incidentId"], truth)
    in_messages(network, sink, heard, truth)
    in_the_feed(network, incident, truth)
    if situation.kind.startswith("fip"):
        in_public(network, situation.entity_id, truth)
    network.windows(4)
    network.settled()
    assert network.incidents(open="true") == []
    network.cells.clear()


def of_the_api(incident: dict[str, Any], truth: Truth) -> None:
    assert (instant(incident["began"]), instant(incident["lastBad"])) == (
        truth.began, truth.last_bad
    )  # fmt: skip
    assert incident["badWindows"] == truth.bad_windows
    assert (incident["succeeded"], incident["judged"]) == (truth.counts.good, truth.counts.eligible)
    assert (incident["failures"], incident["calls"]) == (truth.last.failed, truth.last.eligible)


def on_pages(noc: Reader, incident_id: str, truth: Truth) -> None:
    page = noc.get(f"/console/operator/incidents/{incident_id}").text
    windows, share, calls = found(
        r"(\d+) bad windows? of ten minutes: ([\d.]+) % of ([\d,]+) calls failed", page
    )
    assert (int(windows), number(calls)) == (truth.bad_windows, truth.counts.eligible)
    assert float(share) == pytest.approx(100 - truth.counts.percent(1), abs=0.051)
    last = found(r"Latest, at .{0,200}: ([\d,]+) of ([\d,]+) calls failed", page)
    assert tuple(map(number, last)) == (truth.last.failed, truth.last.eligible)
    of_page = found(r"<dd>([\d.,]+) <small>a minute", page)
    board = noc.get("/console/operator/board").text
    of_board = found(rf"{incident_id}.*?([\d.,]+) calls a minute", board.replace("\n", " "))
    for (text,) in (of_page, of_board):
        rate = float(text.replace(",", ""))
        assert rate == pytest.approx(truth.a_minute, abs=0.051 if rate < 10 else 0.51)


def in_messages(network: RecountedNetwork, sink: WebhookSink, heard: int, truth: Truth) -> None:
    """Those of the opening: it has the windows until then."""
    network.service.wait_until(lambda: len(sink.posted) > heard)
    posted = sink.posted[heard].data["data"]
    opened = posted["badWindows"]
    assert instant(posted["began"]) == truth.began
    assert 1 <= opened <= truth.bad_windows
    mails = [one["text"] for one in network.mails_to(network.noc.email)]
    # The same incident has an email without numbers too, once no one takes it for long.
    mail = [one for one in mails if posted["incidentId"] in one and "Latest, at" in one][-1]
    for text in (posted["text"], mail):
        assert f"{opened} window" in text
        failed, calls = found(r"([\d,]+) of ([\d,]+) calls failed", text)
        assert 0 < number(failed) <= number(calls)


def in_the_feed(network: RecountedNetwork, incident: dict[str, Any], truth: Truth) -> None:
    fiu = new_member(network.service, "FIU")
    token = fiu.entity_token(fiu.secret()).json()["accessToken"]
    root = network.service.root
    headers = {"Authorization": f"Bearer {token}"}

    def causes() -> list[dict[str, Any]]:
        fips = network.service.client().get(f"{root}/metrics/perf/v1/feed", headers=headers).json()
        return [one for fip in fips["data"]["fips"].values() for api in fip.values()
                for one in api["causes"]]  # fmt: skip

    network.service.advance("PT1M")
    network.service.wait_until(lambda: bool(causes()))
    for one in causes():
        assert (one["kind"], one["entity_id"]) == (incident["kind"], incident["entityId"])
        assert instant(one["since"]) == truth.began


def in_public(network: RecountedNetwork, fip_id: str, truth: Truth) -> None:
    client, root = network.service.client(), network.service.root

    def of_fip() -> list[dict[str, Any]]:
        incidents = open_data(network.service)["incidents"]
        return [one for one in incidents if one["fip_id"] == fip_id and not one["ended"]]

    until_shown(network.service, lambda: bool(of_fip()))
    (one,) = of_fip()
    share = truth.counts.percent(1) if truth.counts.eligible >= 100 else None
    assert (one["bad_windows"], one["success_percentage"]) == (truth.bad_windows, share)
    assert (instant(one["began"]), instant(one["last_bad"])) == (truth.began, truth.last_bad)
    page = client.get(f"{root}/status/fip/{fip_id}").text
    failed = found(r"([\d.]+) % of the calls failed in", page)[0] if share is not None else ""
    assert share is None or float(failed) == pytest.approx(100 - share, abs=0.051)
    assert "Disrupted" in client.get(f"{root}/status/fip/{fip_id}/badge.svg").text
    atom = client.get(f"{root}/status/fip/{fip_id}/feed.atom").text
    counted = "" if share is None else rf" {share} % of the calls succeeded\."
    assert re.search(rf"<summary>Calls failing since [^.]+\.{counted}</summary>", atom)
