"""Webhooks on the page, in the API and by command: tests, deliveries, new keys, people's own."""

import json
import re
from collections.abc import Iterator

import pytest
from tests.http.health.service_in_process import service_in_process
from tests.support.alarm_network import Network, as_entity
from tests.support.depth import in_turn
from tests.support.members import Member, new_member
from tests.support.metrics.health_network import CLOSE_AFTER, a_network
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, new_operator
from tests.support.webhook_sink import webhook_sink

PREFERENCES = "/v1/user/alarm/preferences"
OWN = "/v1/user/alarm/webhooks"
METRICS = "/metrics/perf/v1"
_SHOWN = re.compile(r"<h2><code>([^<]*)</code>")
_SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]+")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    with service_in_process(
        tmp_path_factory.mktemp("own-webhooks") / "data",
        MUDRA_HEALTH_ESCALATION_MINUTES="600",  # no one takes what breaks here
    ) as service:
        health = a_network(service, aas=3, fips=1)
        yield Network(service, health, health.noc)


@pytest.fixture(autouse=True)
def early(network: Network) -> None:
    network.health.early_in_a_window()


def headers_of(person: Operator | Member) -> dict[str, str]:
    return person.headers if isinstance(person, Operator) else person.bearer()


def choose(person: Operator | Member, **preferences: str) -> None:
    answer = person.client.post(PREFERENCES, json=preferences, headers=headers_of(person))
    assert answer.status_code == 200, answer.text


def own_hook(person: Operator | Member, url: str, **more: str) -> dict[str, str]:
    answer = person.client.post(OWN, json={"url": url, **more}, headers=headers_of(person))
    assert answer.status_code == 200, answer.text
    return {"secret": answer.json()["secret"], "id": answer.json()["webhook"]["webhookId"]}


def alarm_mails(network: Network, person: Operator | Member) -> list[str]:
    mails = network.health.mails_to(person.email)
    texts = [f"{one['subject']}\n{one['text']}" for one in mails]
    return [one for one in texts if "the least severity on your account page" in one]


def signed_in(network: Network, person: Operator | Member) -> Reader:
    browser = reader(network.service)
    assert browser.sign_in(person.email).status_code == 303
    return browser


@in_turn(3)
def test_each_person_chooses_email_or_their_own_webhook_both_or_neither(network: Network) -> None:
    service = network.service
    people = {name: new_operator(service, "health") for name in ("webhook", "both", "none")}
    bank = new_member(service, "FIP")
    with (
        webhook_sink() as only,
        webhook_sink() as also,
        webhook_sink() as never,
        webhook_sink() as chat,
    ):
        sinks = {"webhook": only, "both": also, "none": never}
        added = {name: own_hook(one, sinks[name].url) for name, one in people.items()}
        own_hook(bank, chat.url, format="slack")
        for name, one in people.items():
            choose(one, ofNetwork="minor", channel=name)
        choose(bank, channel="webhook", timeZone="Asia/Kolkata")

        network.report(bank.entity_id, 20)
        service.wait_until(lambda: only.posted and also.posted and chat.posted)
        network.report(bank.entity_id, 99, windows=CLOSE_AFTER)
        service.wait_until(lambda: len(only.posted) > 1 and len(chat.posted) > 1)

    opened, closed = ([one["over"] for one in it.data["data"]["alarms"]] for it in only.posted)
    assert (opened, closed) == ([False], [True])
    (alarm,) = only.posted[0].data["data"]["alarms"]
    assert alarm["title"].startswith("Kaveri Bank, consent: ")
    assert f"ID: {bank.entity_id}." in alarm["text"]
    assert alarm["link"].endswith(f"/console/operator/incidents/{alarm['incidentId']}")
    assert only.posted[0].data["type"] == "alarms"
    assert only.posted[0].is_signed_by(added["webhook"]["secret"])
    assert not only.posted[0].is_signed_by(added["both"]["secret"])
    assert never.posted == []
    shown = json.dumps(chat.posted[0].data)
    assert f"/console/entity/{bank.entity_id}/health/incidents/" in shown
    assert re.search(r" since \d\d:\d\d IST", shown)
    texts = {name: len(alarm_mails(network, one)) for name, one in people.items()}
    assert texts == {"webhook": 0, "both": 2, "none": 0}
    assert alarm_mails(network, bank) == []
    listed = json.dumps(network.noc.get("/health/webhooks").json())
    assert not any(one["id"] in listed for one in added.values()), "a person's own is theirs"


@pytest.mark.slow
def test_while_the_own_webhook_fails_alarms_come_by_email_too(network: Network) -> None:
    service = network.service
    operator, bank = new_operator(service, "health"), new_member(service, "FIP").entity_id
    with webhook_sink() as sink:
        sink.answers = [500] * 100  # each move of the clock is a time for another try
        own_hook(operator, sink.url)
        choose(operator, ofNetwork="minor", channel="webhook")

        network.report(bank, 20)
        service.wait_until(lambda: sink.posted)
        service.wait_until(lambda: problem_of(operator))
        assert alarm_mails(network, operator) == []
        network.report(bank, 99, windows=CLOSE_AFTER)
        service.wait_until(lambda: alarm_mails(network, operator))

    assert "recovered" in alarm_mails(network, operator)[0]


def problem_of(person: Operator | Member) -> str:
    found = person.client.get(OWN, headers=headers_of(person)).json()["webhooks"]
    assert isinstance(found[0]["problem"], str)
    return found[0]["problem"]


def test_a_person_has_one_webhook_and_no_one_else_reaches_it(network: Network) -> None:
    mine, other = new_member(network.service, "FIP"), new_member(network.service, "FIP")
    with webhook_sink() as sink:
        added = own_hook(mine, sink.url)
        second = mine.client.post(OWN, json={"url": sink.url}, headers=mine.bearer())
        act = f"{OWN}/{added['id']}"

        assert second.status_code == 409
        for path in ("remove", "test", "rotate"):
            for caller in (other, network.noc):
                answer = caller.client.post(f"{act}/{path}", json={}, headers=headers_of(caller))
                assert answer.status_code == 404, path
        answer = network.noc.post(f"/health/webhooks/{added['id']}/remove")
        assert answer.status_code == 404
        own = f"{network.service.root}{METRICS}/webhooks/{added['id']}/remove"
        assert mine.client.post(own, json={}, headers=as_entity(mine)).status_code == 404
        assert mine.client.post(f"{act}/remove", json={}, headers=mine.bearer()).status_code == 200
    bad = mine.client.post(OWN, json={"url": "ftp://x.example"}, headers=mine.bearer())
    assert bad.status_code == 400


def test_a_member_and_a_person_have_the_same_page(network: Network) -> None:
    member = new_member(network.service, "FIP")
    browser = signed_in(network, member)
    paths = (f"/console/entity/{member.entity_id}/webhooks", "/console/account/webhooks")
    with webhook_sink() as sink:
        address = f"{sink.url}/known-to-few"
        of_member, of_person = (
            browser.act(path, path, url=address, format="slack") for path in paths
        )
    assert (of_member.status_code, of_person.status_code) == (200, 200)
    assert _SHOWN.findall(of_member.text) == [address]
    assert _SHOWN.findall(of_person.text) == [sink.url.removesuffix("/alarms") + "/…"]
    assert "known-to-few" not in of_person.text, "who knows the address of a chat can post to it"

    own = member.client.get(OWN, headers=member.bearer()).json()["webhooks"]
    its = member.client.get(
        f"{network.service.root}{METRICS}/webhooks", headers=as_entity(member)
    ).json()["webhooks"]
    assert [one["format"] for one in own] == ["slack"]
    assert [one["format"] for one in its] == ["standard"], "a member's are never of a chat"
    account = browser.get("/console/account").text
    assert "to your webhook" in account
    assert browser.get(
        f"/console/entity/{new_member(network.service).entity_id}/webhooks"
    ).status_code in {401, 403, 404}


def test_chats_get_what_they_read_and_their_address_is_shown_to_no_one(network: Network) -> None:
    bank = new_member(network.service, "FIP").entity_id
    with webhook_sink() as slack, webhook_sink() as teams:
        made = [
            network.hook(sink.url, format=name)["webhook"]
            for sink, name in ((slack, "slack"), (teams, "teams"))
        ]
        network.report(bank, 20)
        network.service.wait_until(lambda: slack.posted and teams.posted)
        for one in made:
            network.noc.post(f"/health/webhooks/{one['webhookId']}/remove")

    (found,) = [one.data for one in slack.posted if bank in one.data["text"]]
    assert "80 % of calls failing" in found["text"]
    assert {part["type"] for part in found["blocks"]} == {"header", "section", "context", "actions"}
    page = found["blocks"][-1]["elements"][0]["url"]
    assert page.startswith(f"{network.service.root}/console/operator/incidents/")
    (card,) = [one.data["attachments"][0] for one in teams.posted if bank in one.body.decode()]
    assert card["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert bank in card["content"]["body"][0]["inlines"][0]["text"]
    assert card["content"]["actions"][0]["url"] == page
    assert [one["format"] for one in made] == ["slack", "teams"]
    assert all("/alarms" not in one["url"] for one in made)


def test_what_is_not_taken_comes_again_under_the_same_id_and_no_redirect_is_followed(
    network: Network,
) -> None:
    bank = new_member(network.service, "FIP").entity_id
    with webhook_sink() as sink, webhook_sink() as elsewhere:
        sink.answers, sink.location = [302, 500], elsewhere.url
        webhook_id = network.hook(sink.url, entityId=bank)["webhook"]["webhookId"]

        def mine() -> dict[str, str]:
            listed = network.noc.get("/health/webhooks").json()["webhooks"]
            return next(one for one in listed if one["webhookId"] == webhook_id)

        network.report(bank, 20)
        for tries, problem in enumerate(("answered 302", "answered 500"), 1):
            network.service.wait_until(lambda n=tries: len(sink.posted) == n)
            network.service.wait_until(lambda words=problem: words in mine()["problem"])
            assert mine()["waiting"] == 1
            network.service.advance("PT2M")
        network.service.wait_until(lambda: not mine()["waiting"])

        assert [one.message_id for one in sink.posted] == [sink.posted[0].message_id] * 3
        assert elsewhere.posted == []
        assert mine()["problem"] == ""
        assert mine()["deliveredAt"]
        network.noc.post(f"/health/webhooks/{webhook_id}/remove")


def test_the_page_adds_tests_rotates_and_removes(network: Network) -> None:
    browser, path = signed_in(network, network.noc), "/console/operator/webhooks"
    with webhook_sink() as sink:
        refused = browser.act(path, path, url="ftp://nowhere.example", format="standard")
        assert refused.status_code == 400
        assert 'value="ftp://nowhere.example"' in refused.text
        bank = new_member(network.service, "FIP").entity_id
        page = browser.act(path, path, url=sink.url, format="standard", entityId=bank)
        assert page.status_code == 200
        (first,) = set(_SECRET.findall(page.text))
        assert first not in browser.get(path).text
        again = browser.act(path, path, url=sink.url, format="standard", entityId=bank)
        assert again.status_code == 409  # each alarm would come twice
        assert "gets the same messages already" in again.text
        shown = network.noc.get("/health/webhooks").json()["webhooks"]
        webhook_id = next(one["webhookId"] for one in shown if one["url"] == sink.url)

        def tested(number: int) -> str:
            sent = browser.act(path, f"{path}/{webhook_id}/test")
            assert sent.status_code == 303, sent.text
            network.service.wait_until(lambda: len(sink.posted) == number)
            network.service.wait_until(lambda: mine()["waiting"] == 0)
            return browser.get(sent.headers["location"]).text

        def mine() -> dict[str, int]:
            listed = network.noc.get("/health/webhooks").json()["webhooks"]
            found = next(one for one in listed if one["webhookId"] == webhook_id)
            assert isinstance(found, dict)
            return found

        assert "delivered" in tested(1)
        assert sink.posted[0].data["type"] == "webhook.test"
        second = set(_SECRET.findall(browser.act(path, f"{path}/{webhook_id}/rotate").text)).pop()
        sink.answers = [503]
        sent = browser.act(path, f"{path}/{webhook_id}/test")
        assert sent.status_code == 303
        network.service.wait_until(lambda: mine()["problem"])
        assert f"{path}#{webhook_id}" in browser.get("/console/operator/board?kind=webhook").text
        again = browser.act(path, f"{path}/{webhook_id}/test")
        assert again.status_code == 409, "one test at a time"
        page_text = browser.get(sent.headers["location"]).text
        network.service.advance("PT2M")
        network.service.wait_until(lambda: mine()["waiting"] == 0)
        network.service.advance("PT25H")  # this test is the last: the AAs' tokens end
        assert browser.sign_in(network.noc.email).status_code == 303
        tested(4)

    assert webhook_id not in browser.get("/console/operator/board?kind=webhook").text
    assert "the receiver answered 503" in page_text
    assert second != first
    assert [one.is_signed_by(first) for one in sink.posted] == [True, True, True, False]
    assert [one.is_signed_by(second) for one in sink.posted] == [False, True, True, True]
    by_command = json.loads(
        network.service.cli("health", "deliveries", webhook_id, "--json").stdout
    )
    assert [one["delivered"] for one in by_command] == [True, True, False, True]
    assert browser.act(path, f"{path}/{webhook_id}/remove").status_code == 303
    assert webhook_id not in browser.get(path).text
