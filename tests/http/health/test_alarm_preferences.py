"""What people choose of their alarms: the same on the page, in the API and by command."""

import json

import pytest
from tests.support.members import Member, new_member
from tests.support.people.console import reader
from tests.support.service import Service

PREFERENCES = "/v1/user/alarm/preferences"


@pytest.fixture(scope="module")
def choosing(service: Service) -> Member:
    """Of whom nothing that is wrong changes anything."""
    return new_member(service, "FIP")


def test_preferences_are_the_same_on_the_page_in_the_api_and_by_command(
    member: Member,
) -> None:
    service = member.service
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
        levelReports="yes", **{"api.fif": "on"},
    )  # fmt: skip
    assert saved.status_code == 303, saved.text
    shown = json.loads(service.cli("alarms", "show", "--json").stdout)

    assert shown == {
        "timeZone": "Asia/Dubai",
        "quietFrom": "",
        "quietUntil": "",
        "breaksQuiet": "none",
        "ofMembers": "major",
        "ofNetwork": "major",
        "levelReports": True,
        "channel": "email",
        "apis": ["fif"],
    }
    answer = member.client.get(PREFERENCES, headers=member.bearer()).json()
    assert answer.items() >= shown.items()
    events = service.cli("audit", "list", "--last", "50", "--json").stdout
    assert "user:alarms:change" in events


def test_a_call_changes_what_it_names_and_keeps_the_rest(member: Member) -> None:
    everything = {
        "timeZone": "Asia/Dubai", "quietFrom": "22:00", "quietUntil": "07:00", "breaksQuiet": "none",
        "ofMembers": "major", "ofNetwork": "none", "channel": "none", "apis": ["fif"],
        "levelReports": True,
    }  # fmt: skip
    asked = {"headers": member.bearer()}
    assert member.client.post(PREFERENCES, json=everything, **asked).status_code == 200

    changed = member.client.post(PREFERENCES, json={"ofMembers": "minor"}, **asked)

    assert changed.status_code == 200, changed.text
    assert changed.json().items() >= {**everything, "ofMembers": "minor"}.items()


def test_only_a_fiu_follows_and_only_fips(service: Service) -> None:
    fiu, bank = new_member(service, "FIU"), new_member(service, "FIP")
    for member, fip_id, problem in (
        (fiu, fiu.entity_id, "must be FIPs of this network"),
        (bank, bank.entity_id, "may be followed by a FIU only"),
    ):
        browser = reader(service)
        assert browser.sign_in(member.email).status_code == 303
        page = f"/console/entity/{member.entity_id}/health"
        refused = browser.act(page, f"{page}/follow", follow=fip_id)
        assert refused.status_code == 409
        assert problem in refused.text


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"timeZone": "Mars/Olympus"}, "timeZone must be a time zone"),
        ({"timeZone": "../UTC"}, "timeZone must be a time zone"),
        ({"quietFrom": "22:00"}, "quietUntil must be given"),
        ({"quietFrom": "24:00", "quietUntil": "07:00"}, "quietFrom must be a time of day"),
        ({"ofMembers": "all"}, "ofMembers must be"),
        ({"channel": "pigeon"}, "channel must be email, webhook, both or none"),
        ({"apis": ["fetch"]}, "apis must be some of adisc"),
    ],
)
def test_wrong_preferences_are_refused_by_name(
    choosing: Member, wrong: dict[str, str], named: str
) -> None:
    answer = choosing.client.post(PREFERENCES, json=wrong, headers=choosing.bearer())

    assert answer.status_code == 400
    assert named in answer.json()["errorMsg"]


def test_a_channel_without_a_webhook_is_refused(choosing: Member) -> None:
    sent = {"channel": "webhook"}
    answer = choosing.client.post(PREFERENCES, json=sent, headers=choosing.bearer())

    assert answer.status_code == 409
    assert "channel needs a webhook of your own" in answer.json()["errorMsg"]
