"""Every number of an incident, wherever it is read, is that of an independent recount."""

import os
import random
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from tests.http.health.recount_in_words import (
    calls_on_the_page,
    failing,
    figures_of_subject,
    is_over,
    overview_of_member,
    state_of_incident,
    status_while_open,
)
from tests.http.health.recount_of_days import (
    badges_say,
    days_are_recounted,
    severity_is_right,
)
from tests.http.health.service_in_process import service_in_process
from tests.http.public_status import open_data, until_shown
from tests.support.depth import DEEP, examples
from tests.support.members import new_member
from tests.support.metrics.health_network import a_network
from tests.support.metrics.recounted import (
    SITUATIONS,
    Compared,
    Counts,
    RecountedNetwork,
    Situation,
    Truth,
    a_situation,
    found,
    instant,
    number,
    passes,
)
from tests.support.people.console import Reader, reader
from tests.support.webhook_sink import WebhookSink, webhook_sink

LATELY = 16_000
"""Cells that are kept: of more than a day."""
FEED_CODES = {"consent": "cns", "fi_request": "fireq", "fi_fetch": "fif"}
"""The types that the network is called by, by their names in the feed."""
_PLAYED = os.environ.get(SITUATIONS, f"0 {examples(1) if DEEP else 0}")
_FOUND_A_FAULT = (172,)
"""FI requests fail, then none, then they fail again: a whole FIP was blamed for one API.

These run with every change, as they always pass through more than one made at random.
"""


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


@pytest.fixture(scope="module")
def compared() -> Iterator[Compared]:
    """All numbers that were compared; the benchmark prints how many."""
    made = Compared()
    yield made
    print(f"\nnumbers compared {made.numbers.total()}, differing {len(made.differ)}")
    for where, number_of in sorted(made.numbers.items()):
        print(f"  {where:<36} {number_of}")


@pytest.fixture
def noc(network: RecountedNetwork) -> Reader:
    """Not signed in yet: hours pass until it is."""
    return reader(network.service)


@pytest.mark.deeper
@pytest.mark.parametrize("seed", sorted({*range(*map(int, _PLAYED.split())), *_FOUND_A_FAULT}))
def test_each_number_is_that_of_the_recount_in_a_random_situation(
    network: RecountedNetwork, noc: Reader, sink: WebhookSink, compared: Compared, seed: int
) -> None:
    situation = a_situation(network, random.Random(seed))
    heard, before = len(sink.posted), len(compared.differ)

    truth = passes(network, situation)

    assert noc.sign_in(network.noc.email).status_code == 303
    (incident,) = network.incidents(open="true")
    assert (incident["kind"], incident["entityId"], incident["peerId"], incident["type"]) == (
        situation.kind, situation.entity_id, situation.peer_id, situation.code
    )  # fmt: skip
    of_the_api(compared, incident, truth)
    on_pages(compared, noc, incident["incidentId"], truth)
    state_of_incident(compared, noc, incident["incidentId"], network, truth)
    calls_on_the_page(compared, noc, incident["incidentId"], network, situation, truth)
    figures_of_subject(compared, noc, network, situation, truth)
    overview_of_member(compared, network, situation, truth)
    in_messages(compared, network, sink, heard, truth)
    severity_is_right(compared, noc, incident["incidentId"], network, situation, truth)
    in_the_feed(compared, network, incident, situation, truth)
    if situation.kind.startswith("fip"):
        in_public(compared, network, situation.entity_id, truth)
        status_while_open(compared, network, situation, truth)
        days_are_recounted(compared, network, situation.entity_id, truth)
        badges_say(compared, network, situation.entity_id, "Disrupted")
    network.windows(1)
    network.settled()
    state_of_incident(compared, noc, incident["incidentId"], network, truth)
    network.windows(3)
    network.settled()
    assert network.incidents(open="true") == []
    is_over(compared, noc, network, situation)
    if situation.kind.startswith("fip"):
        badges_say(compared, network, situation.entity_id, "Disrupted earlier")
    del network.cells[:-LATELY]
    assert compared.differ[before:] == []


def of_the_api(compared: Compared, incident: dict[str, Any], truth: Truth) -> None:
    for name, true in (
        ("badWindows", truth.bad_windows),
        ("succeeded", truth.counts.good),
        ("judged", truth.counts.eligible),
        ("failures", truth.last.failed),
        ("calls", truth.last.eligible),
    ):
        compared.same(f"API: {name}", incident[name], true)
    compared.same("API: began", instant(incident["began"]), truth.began)
    compared.same("API: lastBad", instant(incident["lastBad"]), truth.last_bad)


def on_pages(compared: Compared, noc: Reader, incident_id: str, truth: Truth) -> None:
    page = noc.get(f"/console/operator/incidents/{incident_id}").text
    windows, share, calls = found(
        r"(\d+) bad windows? of ten minutes: ([\d.]+) % of ([\d,]+) calls failed", page
    )
    compared.same("page: bad windows", int(windows), truth.bad_windows)
    compared.same("page: calls", number(calls), truth.counts.eligible)
    compared.same("page: share", float(share), truth.counts.percent_failed)
    failed, last = found(r"Latest, at .{0,200}: ([\d,]+) of ([\d,]+) calls failed", page)
    compared.same("page: failed in the latest", number(failed), truth.last.failed)
    compared.same("page: calls in the latest", number(last), truth.last.eligible)
    (title,) = found(r"<h1[^>]*>[^<]*?([\d.]+) % of calls failing", page)
    compared.same("page: title", float(title), failing(truth.counts))
    of_page = found(r"<dd>([\d.,]+) <small>a minute", page)
    board = noc.get("/console/operator/board").text.replace("\n", " ")
    of_board = found(rf"{incident_id}.*?([\d.,]+) calls a minute", board)
    for where, (text,) in (("page", of_page), ("board", of_board)):
        rate = float(text.replace(",", ""))
        within = 0.051 if rate < 10 else 0.51
        compared.same(f"{where}: calls a minute", rate, truth.a_minute, within=within)
    (title,) = found(rf"{incident_id}[^>]*>[^<]*?([\d.]+) % of calls failing", board)
    compared.same("board: title", float(title), failing(truth.counts))


def in_messages(
    compared: Compared, network: RecountedNetwork, sink: WebhookSink, heard: int, truth: Truth
) -> None:
    """Those of the opening: it has the windows until then."""
    network.service.wait_until(lambda: len(sink.posted) > heard)
    posted = sink.posted[heard].data["data"]
    opened = posted["badWindows"]
    together, last = truth.until(opened)
    assert 1 <= opened <= truth.bad_windows
    compared.same("webhook: began", instant(posted["began"]), truth.began)
    last_bad = truth.by_window[opened - 1][0]
    compared.same("webhook: lastBad", instant(posted["lastBad"]), last_bad)
    (title,) = found(r"([\d.]+) % of calls failing", posted["title"])
    compared.same("webhook: title", float(title), failing(together))
    mails = [
        one for one in network.mails_to(network.noc.email) if posted["incidentId"] in one["text"]
    ]
    # The same incident has an email without numbers too, once no one takes it for long.
    mail = [one for one in mails if "Latest, at" in one["text"]][-1]
    (title,) = found(r"([\d.]+) % of calls failing", mail["subject"])
    compared.same("email: title", float(title), failing(together))
    for where, text in (("webhook", posted["text"]), ("email", mail["text"])):
        (windows,) = found(r"in (\d+) windows? of ten minutes", text)
        compared.same(f"{where}: bad windows", int(windows), opened)
        failed, calls = found(r"([\d,]+) of ([\d,]+) calls failed", text)
        compared.same(f"{where}: failed in the latest", number(failed), last.failed)
        compared.same(f"{where}: calls in the latest", number(calls), last.eligible)


def in_the_feed(
    compared: Compared,
    network: RecountedNetwork,
    incident: dict[str, Any],
    situation: Situation,
    truth: Truth,
) -> None:
    fiu = new_member(network.service, "FIU")
    token = fiu.entity_token(fiu.secret()).json()["accessToken"]
    root = network.service.root
    headers = {"Authorization": f"Bearer {token}"}

    def feed() -> dict[str, Any]:
        read = network.service.client().get(f"{root}/metrics/perf/v1/feed", headers=headers)
        answer: dict[str, Any] = read.json()
        return answer

    def causes() -> list[dict[str, Any]]:
        return [one for fip in feed()["data"]["fips"].values()
                for api in fip.values() for one in api["causes"]]  # fmt: skip

    network.service.advance("PT1M")
    network.service.wait_until(lambda: bool(causes()))
    for one in causes():
        assert (one["kind"], one["entity_id"]) == (incident["kind"], incident["entityId"])
        compared.same("feed: since", instant(one["since"]), truth.began)
    if not situation.kind.startswith("fip"):
        return  # calls of a path or an AA with a cause are no FIP's own
    answer = feed()
    hour = answer["time_range"]
    began, ended = instant(hour["start_time"]), instant(hour["end_time"])
    for fip_id, apis in answer["data"]["fips"].items():
        for name, code in FEED_CODES.items():
            state, of = apis[name], (fip_id, code)
            latest = _calls(network, of, instant(state["evidence_from"]), ended)
            compared.same("feed: calls", state["calls"], latest.eligible)
            compared.same("feed: failed", state["failed"], latest.failed)
            last_hour = _calls(network, of, began, ended).percent(2)
            compared.same("feed: success", state["success_percentage"], last_hour)


def _calls(
    network: RecountedNetwork, of: tuple[str, str], begin: datetime, end: datetime
) -> Counts:
    return network.count(lambda one: (one.fip_id, one.code) == of and begin <= one.window < end)


def in_public(compared: Compared, network: RecountedNetwork, fip_id: str, truth: Truth) -> None:
    client, root = network.service.client(), network.service.root

    def of_fip() -> list[dict[str, Any]]:
        incidents = open_data(network.service)["incidents"]
        return [one for one in incidents if one["fip_id"] == fip_id and not one["ended"]]

    until_shown(network.service, lambda: bool(of_fip()))
    (one,) = of_fip()
    share = truth.counts.percent(1) if truth.counts.eligible >= 100 else None
    compared.same("open data: bad windows", one["bad_windows"], truth.bad_windows)
    compared.same("open data: success", one["success_percentage"], share)
    compared.same("open data: began", instant(one["began"]), truth.began)
    compared.same("open data: last bad", instant(one["last_bad"]), truth.last_bad)
    page = client.get(f"{root}/status/fip/{fip_id}").text
    if share is not None:
        failed = re.findall(r"([\d.]+) % of the calls failed in", page)[0]  # the latest is first
        compared.same("public page: share", float(failed), truth.counts.percent_failed)
    days_are_the_same(compared, network, fip_id, page)
    atom = client.get(f"{root}/status/fip/{fip_id}/feed.atom").text
    counted = "" if share is None else r" ([\d.]+) % of the calls succeeded\."
    summary = re.findall(rf"<summary>Calls failing since [^.]+\.{counted}</summary>", atom)[0]
    if share is not None:
        compared.same("public feed: success", float(summary), share)


def days_are_the_same(
    compared: Compared, network: RecountedNetwork, fip_id: str, page: str
) -> None:
    """The history of 90 days on the page is that of the open data."""
    (of_fip,) = [one for one in open_data(network.service)["fips"] if one["fip_id"] == fip_id]
    shown = re.findall(r"<td[^>]*>(?:<[^>]*>)*([\d,]+)", page)
    for day in of_fip["days"]:
        if day["requests"] is not None:
            true = f"{day['requests']:,}"
            compared.same("public page: calls of a day", true if true in shown else "", true)
