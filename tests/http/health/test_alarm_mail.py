"""Alarms by email as their readers get them: a storm in one digest, quiet hours, own time zone."""

import json
import re
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from tests.http.health.service_in_process import service_in_process
from tests.support.members import Member, new_member
from tests.support.metrics.health_network import CLOSE_AFTER, HealthNetwork, a_network, at_fip
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.webhook_sink import WebhookSink, webhook_sink

from mudra.bootstrap.dependencies import Dependencies

BANKS = 10
DOWN = 6
INDIA = ZoneInfo("Asia/Kolkata")
PREFERENCES = "/v1/user/alarm/preferences"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HealthNetwork]:
    with service_in_process(
        tmp_path_factory.mktemp("alarm-mail") / "data", MUDRA_HEALTH_STORM_ALARMS="5"
    ) as service:
        made = a_network(service, aas=3, fips=BANKS)
        made.windows(6)
        yield made


@pytest.fixture(autouse=True)
def early(network: HealthNetwork) -> None:
    network.early_in_a_window()


def choose(person: Operator | Member, **preferences: object) -> dict[str, Any]:
    headers = person.headers if isinstance(person, Operator) else person.bearer()
    answer = person.client.post(PREFERENCES, json=preferences, headers=headers)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert isinstance(found, dict)
    return found


def watcher(network: HealthNetwork, **preferences: object) -> Operator:
    made = new_operator(network.service, "health")
    choose(made, **{"ofNetwork": "minor", **preferences})
    return made


def in_hindi(network: HealthNetwork, person: Operator) -> Operator:
    browser = reader(network.service)
    assert browser.sign_in(person.email).status_code == 303
    browser.act("/console/account", "/console/account/language", language="hi")
    return person


def alarms_to(network: HealthNetwork, person: Operator | Member) -> list[dict[str, Any]]:
    mails = network.mails_to(person.email)
    return [one for one in mails if "the least severity on your account page" in one["text"]]


def test_a_storm_is_one_email_to_who_reads_all_of_it(network: HealthNetwork) -> None:
    operator, deaf = watcher(network), watcher(network, ofNetwork="none")
    hindi = in_hindi(network, watcher(network))
    down = network.fips[:DOWN]

    network.windows(3, *(at_fip(one.entity_id, failing=0.9) for one in down))
    network.settled()
    network.in_time(lambda: len(alarms_to(network, operator)) >= 1)
    (digest,) = alarms_to(network, operator)
    network.windows(CLOSE_AFTER)
    network.settled()

    assert all(digest["text"].count(f"ID: {one.entity_id}") == 1 for one in down)
    assert f"{DOWN} open" in digest["subject"]
    assert digest["subject"].endswith(f": {DOWN} FIPs at once")
    assert (
        len(set(re.findall(r"/console/operator/incidents/[0-9a-f-]{36}", digest["text"]))) == DOWN
    )
    (own,) = (one for one in network.mails_to(hindi.email) if f"{DOWN} जारी" in one["subject"])
    assert own["text"].count("90 % कॉल विफल हो रही हैं, ") == DOWN
    assert [len(alarms_to(network, one)) for one in down] == [2] * len(down)  # begin and end
    ends = alarms_to(network, operator)[1:]
    assert len(ends) == 1
    assert all(one.entity_id in ends[0]["text"] for one in down)
    assert alarms_to(network, deaf) == []


def test_quiet_hours_hold_alarms_back_until_their_end(network: HealthNetwork) -> None:
    local = network.aas[0].now().astimezone(INDIA)
    night = {
        "timeZone": "Asia/Kolkata",
        "quietFrom": f"{local - timedelta(hours=1):%H:%M}",
        "quietUntil": f"{local + timedelta(minutes=80):%H:%M}",
    }
    asleep, awake = watcher(network, **night), watcher(network, **night, breaksQuiet="major")
    down, slow = network.fips[-2:]
    choose(down, **night, breaksQuiet="none")

    faults = at_fip(down.entity_id, failing=0.9), at_fip(slow.entity_id, slower=10)
    network.windows(3, *faults)
    network.settled()
    network.in_time(lambda: len(alarms_to(network, asleep)) == 1)
    assert [down.entity_id in alarms_to(network, one)[0]["text"] for one in (asleep, awake)] == [
        True,
        True,
    ]
    assert alarms_to(network, down) == []
    network.windows(CLOSE_AFTER)
    network.settled()
    assert alarms_to(network, down) == []
    network.windows(3)  # until the quiet hours are over: silence would be an incident of its own
    network.in_time(lambda: len(alarms_to(network, down)) == 1)

    (held,) = alarms_to(network, down)
    assert "recovered" in held["subject"]
    assert f"{local:%d %b %Y}, " in held["text"]
    assert " IST" in held["text"]
    assert slow.entity_id in alarms_to(network, asleep)[-1]["text"]


def test_operators_hear_of_what_breaks_and_of_what_no_one_takes(network: HealthNetwork) -> None:
    """Without having asked; those who chose other APIs or nothing, and other scopes, do not."""
    usual, members = (new_operator(network.service, one) for one in ("health", "members"))
    fetches, consents = (watcher(network, apis=apis) for apis in (["fif", "fireq"], ["cns"]))
    deaf = watcher(network, ofNetwork="none")
    bank = network.fips[DOWN].entity_id  # that was not bad before: it would be the same incident
    fault = at_fip(bank, "fif", failing=0.9)

    network.windows(3, fault)
    network.settled()
    network.in_time(lambda: len(alarms_to(network, usual)) == 1)
    assert unowned(network, usual) == []
    network.windows(3, fault)
    network.in_time(lambda: len(unowned(network, usual)) == 1)
    assert in_notifications(network, usual) == [["no owner"]]
    network.windows(CLOSE_AFTER)
    network.settled()
    assert in_notifications(network, usual) == [["over after 1 h"], []]

    opened = alarms_to(network, usual)[0]["text"]
    (page,) = re.findall(r"\S+/console/operator/incidents/\S+", opened)
    assert bank in opened
    assert "Affected: " in opened
    (escalated,) = unowned(network, usual)
    assert escalated["subject"].startswith("[")
    assert page in escalated["text"]
    assert "because you get alarms of the network" in escalated["text"]
    assert [len(unowned(network, one)) for one in (fetches, consents, deaf)] == [1, 0, 0]
    assert len(alarms_to(network, fetches)) == 2
    assert [network.mails_to(one.email)[1:] for one in (consents, deaf, members)] == [[], [], []]


def in_notifications(network: HealthNetwork, person: Operator) -> list[list[str]]:
    """How its incident is now, as the page of each alarm to this person says it."""
    browser = reader(network.service)
    assert browser.sign_in(person.email).status_code == 303
    states = re.compile("no owner|taken|over after [0-9a-z ]+")
    pages = [
        browser.get(f"/console/account/notifications/{one['id']}").text
        for one in alarms_to(network, person)
    ]
    return [states.findall(one.partition("</h1>")[0].partition("<h1")[2]) for one in pages]


def unowned(network: HealthNetwork, person: Operator) -> list[dict[str, Any]]:
    mails = network.mails_to(person.email)
    return [one for one in mails if "No one has acknowledged" in one["text"]]


@pytest.mark.slow
def test_a_fiu_gets_alarms_about_the_fips_that_it_follows(network: HealthNetwork) -> None:
    fiu, other = new_member(network.service, "FIU"), new_member(network.service, "FIU")
    bank, spared = network.fips[0].entity_id, network.fips[1].entity_id
    browser = reader(network.service)
    assert browser.sign_in(fiu.email).status_code == 303
    page = f"/console/entity/{fiu.entity_id}/health"
    for one in (bank, spared):
        assert browser.act(page, f"{page}/follow", follow=one).status_code == 303
    assert browser.act(page, f"{page}/follow", unfollow=spared).status_code == 303

    network.windows(3, at_fip(bank, failing=0.9), at_fip(spared, failing=0.9))
    network.settled()
    network.in_time(lambda: bool(alarms_to(network, fiu)))
    followed, left_out = (network.incidents(one)[-1]["incidentId"] for one in (bank, spared))
    shown, everything = browser.get(page).text, browser.get(f"{page}?rows=all").text
    network.windows(CLOSE_AFTER)
    network.settled()
    network.in_time(lambda: len(alarms_to(network, fiu)) == 2)

    opened, over = alarms_to(network, fiu)
    assert bank in opened["text"]
    assert spared not in opened["text"]
    assert f"you are an admin of {fiu.entity_id}" in opened["text"]
    assert "recovered" in over["subject"]
    assert alarms_to(network, other) == []
    assert f"/health/incidents/{followed}" in incidents_on(shown)
    assert f"/health/incidents/{left_out}" not in incidents_on(shown)
    assert f"/health/incidents/{left_out}" in incidents_on(everything)
    events = network.service.cli("audit", "list", "--event", "metrics:fips:follow", "--json").stdout
    assert events.count(fiu.entity_id) == 3


def incidents_on(page: str) -> str:
    """The incidents of a health page."""
    return page.partition('id="fault"')[2].partition("</section>")[0]


def proven_webhook(network: HealthNetwork, fip_id: str, sink: WebhookSink) -> tuple[str, str, str]:
    """A subscription by webhook that has begun: its email address, link and key."""
    browser, email = reader(network.service), f"{uuid.uuid4().hex}@reader.example"
    network.in_time(lambda: browser.get(f"/status/fip/{fip_id}").status_code == 200)
    asked = browser.post("/status/subscribe", {"email": email, "fip": fip_id, "url": sink.url})
    assert asked.status_code == 202
    network.in_time(lambda: bool(network.mails_to(email)))
    (link,) = re.findall(r"/status/subscription/\S+", network.mails_to(email)[0]["text"])
    (key,) = re.findall(r"whsec_[A-Za-z0-9+/=]{44}", browser.post(f"{link}/confirm", {}).text)
    sink.answers = [200]
    sink.answer = lambda posted: json.dumps(
        {"challenge": posted.data["data"].get("challenge")}
    ).encode()
    browser.post(f"{link}/challenge", {})
    network.in_time(lambda: "You are subscribed" in browser.get(link).text)
    sink.posted.clear()
    return email, link, key


def test_a_webhook_of_the_public_gets_the_news_until_it_says_that_it_is_gone(
    network: HealthNetwork,
) -> None:
    bank = network.fips[4].entity_id
    with webhook_sink() as sink, webhook_sink() as leaves:
        email, link, key = proven_webhook(network, bank, sink)
        gone, ended, _ = proven_webhook(network, bank, leaves)
        leaves.answers = [410]
        network.windows(3, at_fip(bank, failing=0.9))
        network.settled()
        network.in_time(lambda: len(sink.posted) == 1 and len(network.mails_to(gone)) == 2)
        network.windows(CLOSE_AFTER)
        network.settled()
        network.in_time(lambda: len(sink.posted) == 2)

    bad, good = sink.posted
    assert [bad.data["type"], good.data["type"]] == ["status.disrupted", "status.operational"]
    assert all(one.is_signed_by(key) and one.data["data"]["fipId"] == bank for one in sink.posted)
    assert bad.data["data"]["ended"] is None
    assert good.data["data"]["ended"]
    assert bad.data["data"]["incidentId"] == good.data["data"]["incidentId"]
    assert len(network.mails_to(email)) == 1
    assert "has ended" in network.mails_to(gone)[1]["subject"]
    assert reader(network.service).get(ended).status_code == 410
    assert reader(network.service).get(link).status_code == 200
    assert len(leaves.posted) == 1


async def given_up_again(dependencies: Dependencies) -> None:
    """Another message was given up, three days after the first failure."""
    async with dependencies.database.transaction() as transaction:
        later = "UPDATE health_webhook SET gave_up_at = failing_since + interval '3 days'"
        await transaction.connection.execute(sa.text(later))


@pytest.mark.slow
def test_a_webhook_of_the_public_that_takes_nothing_is_warned_of_and_ends_after_three_days(
    network: HealthNetwork,
) -> None:
    bank = network.fips[5].entity_id
    with webhook_sink() as sink:
        email, link, _ = proven_webhook(network, bank, sink)
        sink.answers = [500] * 100
        network.windows(3, at_fip(bank, failing=0.9))
        network.settled()
        network.in_time(lambda: bool(sink.posted))
        network.service.advance("PT25H")  # of a whole day without reports no window is judged
        network.in_time(lambda: len(network.mails_to(email)) == 2)
        assert reader(network.service).get(link).status_code == 200
        network.service.in_store(given_up_again)
        network.in_time(lambda: len(network.mails_to(email)) == 3)

    _, warned, ended = network.mails_to(email)
    assert "takes no messages" in warned["subject"]
    assert link in warned["text"]
    assert "has ended" in ended["subject"]
    assert link not in ended["text"]
    assert sink.url not in warned["text"] + ended["text"]
    assert reader(network.service).get(link).status_code == 410
