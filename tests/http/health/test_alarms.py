"""Alarms as their readers live them: webhooks, silences, acknowledgement."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

import httpx
import msgspec
import pytest
from tests.support.console import reader
from tests.support.metrics_push import PushingAa, pushing_aa
from tests.support.operators import Operator, new_operator
from tests.support.service import Member, Service, new_member, running_service
from tests.support.webhook_sink import webhook_sink

from mudra.metrics.payload.catalogue import WINDOW, Position, RequestType
from mudra.metrics.payload.report import RequestBlock, RequestFip

METRICS = "/metrics/perf/v1"


@dataclass
class Network:
    """A service of its own, an AA that reports, and somebody of the NOC."""

    service: Service
    aa: PushingAa
    noc: Operator

    def report(self, fip_id: str, share: int, windows: int = 2) -> None:
        """Let the last closed windows hold 100 consents each, of which `share` succeeded."""
        self.service.advance("PT1H")  # windows of its own for each report
        for ago in range(windows):
            counts = [0] * len(Position)
            counts[Position.TOTAL], counts[Position.OK_200] = 100, share
            counts[Position.INTERNAL_500] = 100 - share
            block = RequestBlock(RequestType.CONSENT.value, (90, 200, 300, 400), tuple(counts))
            payload = msgspec.structs.replace(
                self.aa.requests(self.aa.last_window() - ago * WINDOW),
                fips=(RequestFip(fip_id, (block,)),),
            )
            assert self.aa.push(payload).status_code == 200
        self.service.advance("PT1S")  # wakes the watch

    def open_incidents(self, fip_id: str) -> list[dict[str, Any]]:
        answer = self.noc.get("/incidents", entityId=fip_id, open="true")
        assert answer.status_code == 200, answer.text
        return answer.json()["incidents"]

    def hook(self, url: str, **members: str) -> dict[str, Any]:
        answer = self.noc.post("/health/webhooks", url=url, **members)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("alarms") / "data") as service:
        yield Network(service, pushing_aa(service), new_operator(service, "health"))


@pytest.fixture(scope="module")
def fip(network) -> Member:
    return new_member(network.service, "FIP")


def fip_id() -> str:
    return f"BANK-{uuid.uuid4().hex[:8]}"


def as_entity(member: Member) -> dict[str, str]:
    token = member.entity_token(member.secret()).json()["accessToken"]
    return {"Authorization": f"Bearer {token}"}


def test_those_concerned_are_told_of_beginning_and_end_and_can_check_who_tells(network, fip):
    other = new_member(network.service, "FIP")
    with webhook_sink() as noc, webhook_sink() as own, webhook_sink() as others:
        of_all = network.hook(noc.url)
        added = {}
        for member, sink in ((fip, own), (other, others)):
            answer = member.client.post(
                f"{network.service.root}{METRICS}/webhooks",
                json={"url": sink.url},
                headers=as_entity(member),
            )
            assert answer.status_code == 200, answer.text
            added[member.entity_id] = answer.json()

        network.report(fip.entity_id, 20)
        network.service.wait_until(lambda: own.posted and noc.about(fip.entity_id), 60)
        network.report(fip.entity_id, 99, windows=3)
        network.service.wait_until(lambda: len(own.posted) > 1, 60)

        opened, closed = own.posted
        assert (opened.data["type"], closed.data["type"]) == ("incident.opened", "incident.closed")
        told = opened.data["data"]
        assert (told["kind"], told["type"], told["state"]) == ("fip-api", "cns", "open")
        assert "20.0 % success" in told["title"]
        assert opened.is_signed_by(added[fip.entity_id]["secret"])
        assert not opened.is_signed_by(of_all["secret"])
        assert noc.about(fip.entity_id)[0].is_signed_by(of_all["secret"])
        assert others.posted == []
        shown = network.noc.get("/health/webhooks").json()["webhooks"]
        assert {one["webhookId"] for one in shown} >= {of_all["webhook"]["webhookId"]}
        assert "secret" not in json.dumps(shown)
        gone = network.noc.post(f"/health/webhooks/{of_all['webhook']['webhookId']}/remove")
        assert gone.status_code == 200


def test_what_is_not_taken_comes_again_under_the_same_id_and_no_redirect_is_followed(network):
    bank = new_member(network.service, "FIP").entity_id
    with webhook_sink() as sink, webhook_sink() as elsewhere:
        sink.answers, sink.location = [302, 500], elsewhere.url
        webhook_id = network.hook(sink.url, entityId=bank)["webhook"]["webhookId"]

        def mine():
            listed = network.noc.get("/health/webhooks").json()["webhooks"]
            return next(one for one in listed if one["webhookId"] == webhook_id)

        network.report(bank, 20)
        for tries, problem in enumerate(("answered 302", "answered 500"), 1):
            network.service.wait_until(lambda n=tries: len(sink.posted) == n, 60)
            network.service.wait_until(lambda words=problem: words in mine()["problem"], 60)
            assert mine()["waiting"] == 1
            network.service.advance("PT2M")
        network.service.wait_until(lambda: not mine()["waiting"], 60)

        assert [one.message_id for one in sink.posted] == [sink.posted[0].message_id] * 3
        assert elsewhere.posted == []
        assert mine()["problem"] == ""
        assert mine()["deliveredAt"]
        network.noc.post(f"/health/webhooks/{webhook_id}/remove")


def test_a_silence_wakes_nobody_and_what_goes_on_is_told_at_its_end(network):
    quiet, loud = new_member(network.service, "FIP").entity_id, fip_id()
    with webhook_sink() as sink:
        webhook_id = network.hook(sink.url)["webhook"]["webhookId"]
        silence = json.loads(
            network.service.cli(
                *("health", "silence", "--entity", quiet, "--type", "cns", "--for", "PT12H"),
                *("--reason", "planned work", "--json"),
            ).stdout
        )
        network.report(quiet, 20)
        network.report(loud, 20)
        network.service.wait_until(lambda: sink.about(loud), 60)
        (incident,) = network.open_incidents(quiet)
        assert sink.about(quiet) == []
        assert quiet in network.service.cli("health", "silences", "--json").output

        ended = network.noc.post(f"/health/silences/{silence['silenceId']}/end")
        assert ended.status_code == 200, ended.text
        network.service.advance("PT1S")
        network.service.wait_until(lambda: sink.about(quiet), 60)

        assert sink.events(quiet) == ["incident.opened"]
        assert sink.about(quiet)[0].data["data"]["incidentId"] == incident["incidentId"]
        assert network.noc.get("/health/silences").json()["silences"] == []
        past = network.noc.get("/health/silences", past="true").json()["silences"]
        mine = [one for one in past if one["silenceId"] == silence["silenceId"]]
        assert [one["reason"] for one in mine] == ["planned work"]
        network.noc.post(f"/health/webhooks/{webhook_id}/remove")
    events = network.service.cli("audit", "list", "--last", "500", "--json").stdout
    for event in ("silence:begin", "silence:end", "webhook:add", "webhook:remove"):
        assert f"metrics:{event}" in events


def test_somebody_looks_after_an_incident_by_command_and_is_named(network):
    bank = fip_id()
    network.report(bank, 20)
    network.service.wait_until(lambda: network.open_incidents(bank), 60)
    incident_id = network.open_incidents(bank)[0]["incidentId"]

    page = f"/console/operator/incidents/{incident_id}"
    desk = reader(network.service)
    desk.sign_in(network.noc.email)
    assert "Assign to me" in desk.get(page).text

    network.service.cli("health", "acknowledge", incident_id)

    shown = network.noc.get(f"/incidents/{incident_id}").json()["incident"]
    assert shown["acknowledgedBy"].startswith("operator:")
    assert shown["acknowledgedBy"] in network.service.cli("health", "incidents", "--json").stdout
    unknown = network.service.cli("health", "acknowledge", str(uuid.uuid4()), check=False)
    assert (unknown.exit_code, "no incident of this ID" in unknown.output) == (1, True)
    first = shown["acknowledgedBy"]
    behind = desk.act(page, f"{page}/acknowledge", instead_of="")
    assert (behind.status_code, first.removeprefix("operator:") in behind.text) == (409, True)
    assert "nothing was changed" in behind.text
    assert "Take over" in desk.get(page).text
    assert desk.act(page, f"{page}/acknowledge", instead_of=first).status_code == 303
    taken = network.noc.get(f"/incidents/{incident_id}").json()["incident"]["acknowledgedBy"]
    assert taken == f"operator:{network.noc.email}"
    assert desk.act(page, f"{page}/acknowledge", instead_of=first).status_code == 303, "sent twice"
    assert "Take over" not in desk.get(page).text


def test_a_silence_is_begun_and_ended_on_the_page_of_incidents(network, fip):
    browser, page = reader(network.service), "/console/operator/incidents"
    browser.sign_in(network.noc.email)
    form = {"entity_id": fip.entity_id, "type": "fif", "hours": "4", "reason": "page-made work"}

    begun = browser.act(page, "/console/operator/silences", **form)

    assert (begun.status_code, begun.headers["location"]) == (303, f"{page}?told=silenced")
    assert "page-made work" in browser.get(page).text
    (silence,) = network.noc.get("/health/silences").json()["silences"]
    assert (silence["entityId"], silence["type"]) == (fip.entity_id, "fif")
    ended = browser.act(page, f"/console/operator/silences/{silence['silenceId']}/end")
    assert ended.status_code == 303
    assert "page-made work" not in browser.get(page).text
    for wrong in ({"hours": "5"}, {"entity_id": "NOBODY"}, {"reason": " "}):
        answer = browser.act(page, "/console/operator/silences", **{**form, **wrong})
        assert answer.status_code in {400, 404}, wrong


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"ends": "2020-01-01T00:00:00Z", "reason": "x"}, "ends must be later"),
        ({"ends": "2199-01-01T00:00:00Z", "reason": "x"}, "at most 30 days"),
        ({"ends": "9999-12-31T23:59:59-10:00", "reason": "x"}, "at most 30 days"),
        ({"ends": "tomorrow", "reason": "x"}, "ends must be an ISO 8601 instant"),
        ({"reason": "x"}, "ends is missing"),
        ({"ends": "2030-01-01T00:00:00Z", "reason": ""}, "reason must be a text"),
        ({"ends": "2030-01-01T00:00:00Z", "reason": "a\nb"}, "reason must be one line"),
        ({"ends": "2030-01-01T00:00:00Z", "reason": "x", "type": "sfireqnot"}, "type must be"),
        ({"ends": "2030-01-01T00:00:00Z", "reason": "x", "entityId": "NOBODY"}, "no member"),
    ],
)
def test_a_silence_that_cannot_be_is_refused_with_what_is_allowed(network, members, named):
    if members.get("ends", "").startswith("2030"):
        now = network.aa.now()
        members = {**members, "ends": (now + WINDOW).isoformat()}

    answer = network.noc.post("/health/silences", **members)

    assert answer.status_code in {400, 404}, answer.text
    assert named in answer.json()["errorMsg"]


def test_no_more_webhooks_than_a_member_may_have_and_none_of_anothers(network, fip):
    headers, root = as_entity(fip), network.service.root + METRICS + "/webhooks"
    listed = fip.client.get(root, headers=headers).json()["webhooks"]
    for place in range(len(listed), 5):
        body = {"url": f"http://127.0.0.1:9/{place}"}
        assert fip.client.post(root, json=body, headers=headers).status_code == 200

    answer = fip.client.post(root, json={"url": "http://127.0.0.1:9/"}, headers=headers)

    assert (answer.status_code, answer.json()["errorCode"]) == (409, "Conflict")
    other = network.aa
    one = fip.client.get(root, headers=headers).json()["webhooks"][0]["webhookId"]
    taken = httpx.post(f"{root}/{one}/remove", json={}, headers=other.bearer, timeout=30)
    assert taken.status_code == 404
    assert fip.client.post(f"{root}/{one}/remove", json={}, headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://alarms.network.example/x", "scheme http"),
        ("https://10.1.2.3/x", "private"),
        ("https://[::ffff:169.254.169.254]/x", "private"),
        ("https://localhost/x", "local host"),
        ("https://user:word@alarms.network.example/x", "password"),
    ],
)
def test_outside_of_the_sandbox_only_public_https_is_taken(network, url, problem):
    refused = network.service.cli("health", "webhook", url, check=False)

    assert refused.exit_code == 1
    assert problem in refused.output
