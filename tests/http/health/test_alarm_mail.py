"""Alarms by email as their readers get them: a storm in one digest, quiet hours, own time zone."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.support.metrics.health_network import HealthNetwork, a_network, at_fip
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Member, running_service

BANKS = 10
DOWN = 6
INDIA = ZoneInfo("Asia/Kolkata")
PREFERENCES = "/v1/user/alarm/preferences"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HealthNetwork]:
    with running_service(
        tmp_path_factory.mktemp("alarm-mail") / "data", MUDRA_HEALTH_STORM_ALARMS="5"
    ) as service:
        made = a_network(service, aas=3, fips=BANKS)
        made.windows(6)
        yield made


def choose(person: Operator | Member, **preferences: str) -> dict[str, Any]:
    headers = person.headers if isinstance(person, Operator) else person.bearer()
    answer = person.client.post(PREFERENCES, json=preferences, headers=headers)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert isinstance(found, dict)
    return found


def watcher(network: HealthNetwork, **preferences: str) -> Operator:
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
    return [one for one in mails if "from which severity on you get emails" in one["text"]]


def test_a_storm_is_one_email_to_who_reads_all_of_it(network: HealthNetwork) -> None:
    operator, deaf = watcher(network), new_operator(network.service, "health")
    hindi = in_hindi(network, watcher(network))
    down = network.fips[:DOWN]

    network.windows(3, *(at_fip(one.entity_id, failing=0.9) for one in down))
    network.settled()
    network.service.wait_until(lambda: len(alarms_to(network, operator)) >= 1, 60)
    (digest,) = alarms_to(network, operator)
    network.windows(5)
    network.settled()

    assert all(digest["text"].count(f"FIP {one.entity_id}") == 1 for one in down)
    assert f"{DOWN} open" in digest["subject"]
    (own,) = (one for one in network.mails_to(hindi.email) if f"{DOWN} जारी" in one["subject"])
    assert own["text"].count("कॉल विफल हो रहे हैं (") == DOWN
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
        "quietUntil": f"{local + timedelta(hours=3):%H:%M}",
    }
    asleep, awake = watcher(network, **night), watcher(network, **night, breaksQuiet="major")
    down, slow = network.fips[-2:]
    choose(down, **night, breaksQuiet="none")

    faults = at_fip(down.entity_id, failing=0.9), at_fip(slow.entity_id, slower=10)
    network.windows(3, *faults)
    network.settled()
    network.service.wait_until(lambda: len(alarms_to(network, asleep)) == 1, 60)
    assert [down.entity_id in alarms_to(network, one)[0]["text"] for one in (asleep, awake)] == [
        True,
        True,
    ]
    assert alarms_to(network, down) == []
    network.windows(4)
    network.settled()
    network.service.advance("PT3H")
    network.service.wait_until(lambda: len(alarms_to(network, down)) == 1, 60)

    (held,) = alarms_to(network, down)
    assert "recovered" in held["subject"]
    assert f"{local:%Y-%m-%d} " in held["text"]
    assert " IST (" in held["text"]
    assert slow.entity_id in alarms_to(network, asleep)[-1]["text"]


def test_preferences_are_the_same_on_the_page_in_the_api_and_by_command(
    network: HealthNetwork,
) -> None:
    member = network.fips[0]
    service = network.service
    service.cli("login", member.email, "--password-stdin", stdin=member.password)
    service.cli("alarms", "set", "--time-zone", "Asia/Kolkata", "--quiet", "22:00-07:00")
    browser = reader(service)
    assert browser.sign_in(member.email, member.password).status_code == 303

    page = browser.get("/console/account").text
    assert 'value="22:00"' in page
    assert 'value="Asia/Kolkata"' in page
    saved = browser.act(
        "/console/account", "/console/account/alarms",
        timeZone="Asia/Dubai", quietFrom="", quietUntil="", breaksQuiet="none", ofMembers="major",
    )  # fmt: skip
    assert saved.status_code == 303, saved.text
    shown = json.loads(service.cli("alarms", "show", "--json").stdout)

    assert shown == {
        "timeZone": "Asia/Dubai",
        "quietFrom": "",
        "quietUntil": "",
        "breaksQuiet": "none",
        "ofMembers": "major",
        "ofNetwork": "none",
        "channel": "email",
    }
    answer = member.client.get(PREFERENCES, headers=member.bearer()).json()
    assert answer.items() >= shown.items()
    events = service.cli("audit", "list", "--last", "50", "--json").stdout
    assert "user:alarms:change" in events


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"timeZone": "Mars/Olympus"}, "timeZone must be a time zone"),
        ({"timeZone": "../UTC"}, "timeZone must be a time zone"),
        ({"quietFrom": "22:00"}, "quietUntil must be given"),
        ({"quietFrom": "24:00", "quietUntil": "07:00"}, "quietFrom must be a time of day"),
        ({"ofMembers": "all"}, "ofMembers must be"),
        ({"channel": "pigeon"}, "channel must be email, webhook, both or none"),
    ],
)
def test_wrong_preferences_are_refused_by_name(
    network: HealthNetwork, wrong: dict[str, str], named: str
) -> None:
    member = network.fips[1]

    answer = member.client.post(PREFERENCES, json=wrong, headers=member.bearer())

    assert answer.status_code == 400
    assert named in answer.json()["errorMsg"]


def test_a_channel_without_a_webhook_is_refused(network: HealthNetwork) -> None:
    member = network.fips[1]

    answer = member.client.post(PREFERENCES, json={"channel": "webhook"}, headers=member.bearer())

    assert answer.status_code == 409
    assert "channel needs a webhook of your own" in answer.json()["errorMsg"]
