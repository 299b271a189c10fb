"""The events of a webhook: kept with their bodies, sent again under their ID, forwarded."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.alarm_network import as_entity
from tests.support.members import Member, new_member
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.service import PASSWORD, Service
from tests.support.until import PATIENCE_S
from tests.support.webhook_sink import WebhookSink, webhook_sink

from mudra.metrics.payload.catalogue import WINDOW

MUDRA = str(Path(sys.executable).with_name("mudra"))
HOOKS = "/metrics/perf/v1/webhooks"
RESENDS = 20
UNKNOWN = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"


class Hook:
    """A member's webhook to a server of this machine."""

    def __init__(self, member: Member, sink: WebhookSink) -> None:
        self.member, self.headers = member, as_entity(member)
        answer = self.post(HOOKS, url=sink.url).json()
        self.id, self.key = answer["webhook"]["webhookId"], answer["secret"]
        self.path = f"{HOOKS}/{self.id}"

    def post(self, path: str, **body: str) -> Any:
        url = self.member.service.root + path
        return self.member.client.post(url, json=body, headers=self.headers)

    def events(self) -> list[dict[str, Any]]:
        url = f"{self.member.service.root}{self.path}/events"
        answer = self.member.client.get(url, headers=self.headers)
        assert answer.status_code == 200, answer.text
        return list(answer.json()["events"])

    def over(self) -> bool:
        return all(one["state"] != "waiting" for one in self.events())

    def resend(self, message_id: str) -> Any:
        return self.post(f"{self.path}/events/{message_id}/resend")


@pytest.fixture(scope="module")
def member(service: Service) -> Member:
    return new_member(service)


def test_an_event_is_kept_and_sent_again_under_its_id(service: Service, member: Member) -> None:
    with webhook_sink() as sink:
        hook = Hook(member, sink)
        hook.post(f"{hook.path}/test")
        service.wait_until(lambda: len(sink.posted) == 1 and hook.over())
        (before,) = hook.events()
        sink.answers = [500]
        first = hook.resend(before["messageId"])
        service.wait_until(lambda: len(sink.posted) == 2 and hook.events()[0]["problem"] != "")
        waiting = hook.events()[0]
        meanwhile = hook.resend(before["messageId"])
        service.advance("PT10M")
        service.wait_until(lambda: len(sink.posted) >= 3 and hook.over())
        (after,) = hook.events()

    assert (before["event"], before["state"], before["attempts"]) == (
        "webhook.test",
        "delivered",
        1,
    )
    assert before["body"].encode() == sink.posted[0].body
    assert first.status_code == 200
    assert (waiting["state"], meanwhile.status_code) == ("waiting", 404)
    assert {one.message_id for one in sink.posted} == {before["messageId"]}
    assert all(one.is_signed_by(hook.key) for one in sink.posted)
    assert (after["state"], after["attempts"]) == ("delivered", 3)
    audited = service.cli("audit", "list", "--event", "metrics:webhook:resend", "--json").stdout
    assert before["messageId"] in audited


def test_no_one_else_sends_it_again_and_an_hour_permits_twenty(
    service: Service, member: Member
) -> None:
    service.advance("PT1H")
    other = new_member(service)
    with webhook_sink() as sink:
        hook = Hook(member, sink)
        hook.post(f"{hook.path}/test")
        service.wait_until(lambda: bool(sink.posted) and hook.over())
        message_id = hook.events()[0]["messageId"]
        foreign = other.client.post(
            f"{service.root}{hook.path}/events/{message_id}/resend",
            json={},
            headers=as_entity(other),
        )
        unknown = hook.resend(UNKNOWN)
        statuses = []
        for _ in range(RESENDS + 1):
            statuses.append(hook.resend(message_id).status_code)
            service.wait_until(hook.over)

    assert (foreign.status_code, unknown.status_code) == (404, 404)
    assert statuses == [200] * RESENDS + [429]
    assert len(sink.posted) == RESENDS + 1


def test_the_page_shows_the_body_and_sends_it_again(service: Service) -> None:
    operator = new_operator(service, "health")
    browser, page = reader(service), "/console/operator/webhooks"
    browser.sign_in(operator.email)
    with webhook_sink() as sink:
        added = operator.post("/health/webhooks", url=sink.url).json()["webhook"]["webhookId"]
        operator.post(f"/health/webhooks/{added}/test")
        service.wait_until(lambda: bool(sink.posted))
        message_id = sink.posted[0].message_id
        service.wait_until(lambda: "Resend" in browser.get(f"{page}?of={added}").text)
        shown = browser.get(f"{page}?of={added}").text
        done = browser.act(page, f"{page}/{added}/events/{message_id}")
        service.wait_until(lambda: len(sink.posted) == 2)
    operator.post(f"/health/webhooks/{added}/remove")

    assert "&#34;type&#34;:&#34;webhook.test&#34;" in shown
    assert done.status_code == 303
    assert sink.posted[1].message_id == message_id


def test_the_page_begins_with_what_fails_and_says_when_it_was_tried(service: Service) -> None:
    operator, bank = new_operator(service, "health"), new_member(service, "FIP").entity_id
    browser, page = reader(service), "/console/operator/webhooks"
    browser.sign_in(operator.email)
    with webhook_sink() as sink, webhook_sink() as other:
        sink.answers = [500]
        works, fails = (
            operator.post("/health/webhooks", url=one.url, entityId=bank).json()["webhook"]
            for one in (other, sink)
        )
        operator.post(f"/health/webhooks/{fails['webhookId']}/test")
        service.wait_until(lambda: "answered 500" in browser.get(page).text)
        shown = browser.get(page).text
    for one in (works, fails):
        operator.post(f"/health/webhooks/{one['webhookId']}/remove")

    first, second = (shown.index(f'id="{one["webhookId"]}"') for one in (fails, works))
    assert first < second
    assert "Last try <time" in shown[first:second]
    assert f'/console/operator/members/{bank}">' in shown[first:second]


def test_listen_forwards_new_events_signed_with_a_key_of_its_own(service: Service) -> None:
    member = new_member(service)
    service.cli("login", member.email, "--password-stdin", stdin=f"{member.password}\n")
    with webhook_sink() as sink, webhook_sink() as mine:
        hook = Hook(member, sink)
        hook.post(f"{hook.path}/test")
        service.wait_until(lambda: bool(sink.posted) and hook.over())
        known = sink.posted[0].message_id
        words = ("--entity", member.entity_id, "--webhook", hook.id, "--count", "2")
        with subprocess.Popen(
            [MUDRA, "webhook", "listen", "--forward-to", mine.url, *words],
            env=os.environ | service.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as listening:
            assert listening.stderr is not None
            try:
                shown = [listening.stderr.readline() for _ in range(3)]
                assert hook.resend(known).status_code == 200
                service.wait_until(lambda: len(mine.posted) == 1 and hook.over())
                assert "webhook" in hook.post(f"{hook.path}/test").json()
                out, _ = listening.communicate(timeout=PATIENCE_S)
            finally:
                listening.kill()  # it listens without end: else a failure here would never end

    key = shown[1].strip()
    assert listening.returncode == 0
    assert [one.is_signed_by(key) for one in mine.posted] == [True, True]
    assert mine.posted[0].message_id == known
    assert mine.posted[1].message_id not in {known, ""}
    assert key != hook.key
    assert out.count("answered 204") == 2


def test_listen_says_which_webhook_it_needs(service: Service, member: Member) -> None:
    service.cli("login", member.email, "--password-stdin", stdin=f"{member.password}\n")
    words = ("webhook", "listen", "--forward-to")

    none = service.cli(*words, "http://127.0.0.1:9/", "--own", check=False)
    no_url = service.cli(*words, "ftp://x", "--entity", member.entity_id, check=False)

    assert (none.exit_code, no_url.exit_code) == (2, 2)
    assert "add one first" in none.output
    assert "--forward-to must be an http or https URL" in no_url.output


def test_the_networks_webhook_is_meant_though_members_have_some(
    service: Service, member: Member
) -> None:
    boss = new_operator(service, "health")
    service.cli("login", boss.email, "--password-stdin", stdin=PASSWORD)
    with webhook_sink() as sink:
        Hook(member, sink)
        hooks = [boss.post("/health/webhooks", url=f"{sink.url}/{n}").json() for n in range(2)]
        first, second = (one["webhook"]["webhookId"] for one in hooks)
        two = service.cli("webhook", "events", check=False)
        named = service.cli("webhook", "events", "--webhook", second)
        boss.post(f"/health/webhooks/{second}/remove")
        one = service.cli("webhook", "events")

    assert (two.exit_code, f"--webhook {first}, --webhook {second}" in two.stderr) == (2, True)
    assert (named.exit_code, one.exit_code) == (0, 0)


def test_a_member_gets_no_operators_name(service: Service) -> None:
    boss, own, aa = new_operator(service, "health"), new_member(service), pushing_aa(service)
    ends = (datetime.fromtimestamp(service.wall(), UTC) + timedelta(hours=2)).isoformat()
    planned = {"entityId": own.entity_id, "ends": ends, "reason": "disks", "maintenance": True}
    assert boss.post("/health/silences", **planned).status_code == 200
    assert aa.push(aa.requests(fips=1)).status_code == 200
    end = aa.last_window() + WINDOW
    made = {"start": (end - 6 * WINDOW).isoformat(), "end": end.isoformat()}
    assert boss.post("/levels/reports", entityId=own.entity_id, **made).status_code == 200
    with webhook_sink() as sink:
        assert boss.post("/health/webhooks", url=sink.url, entityId=own.entity_id).is_success
        texts = [
            own.client.get(f"{service.root}/metrics/perf/v1/{path}", headers=as_entity(own)).text
            for path in ("webhooks", "maintenance", "levels/reports")
        ]

    assert ['"madeBy":"the operator"' in text for text in texts] == [True] * 3
    assert [boss.email in text for text in texts] == [False] * 3
