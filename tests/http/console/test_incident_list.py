"""The list of incidents: taking and assigning many at once, calls, and similar ones."""

import re
from datetime import timedelta

import pytest
from tests.http.console.stored_incidents import end_incident, open_incident
from tests.support.members import new_member
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

ASSIGN = "/console/operator/incidents/assign"
LIST = "/console/operator/incidents"
PHONE = "+91 80 4000 1234"


@pytest.fixture(scope="module")
def operator(service: Service) -> Operator:
    return new_operator(service, "health")


@pytest.fixture
def browser(service: Service, operator: Operator) -> Reader:
    made = reader(service)
    assert made.sign_in(operator.email).status_code == 303
    return made


@pytest.fixture(scope="module")
def bank(service: Service) -> str:
    member = new_member(service, "FIP")
    service.cli("admin", "contact", member.entity_id, "", "--phone", PHONE)
    return member.entity_id


def tick(incident_id: str) -> str:
    return f"incidents.tick.{incident_id}"


def owner_of(operator: Operator, incident_id: str) -> str:
    answer = operator.get(f"/incidents/{incident_id}")
    assert answer.status_code == 200, answer.text
    owner = answer.json()["incident"]["acknowledgedBy"] or ""
    assert isinstance(owner, str)
    return owner.removeprefix("operator:")


def acts_on(operator: Operator, incident_id: str) -> list[str]:
    return [one["act"] for one in operator.get(f"/incidents/{incident_id}").json()["acts"]]


def test_many_are_taken_at_once_and_no_owner_is_replaced(
    service: Service, browser: Reader, operator: Operator, bank: str
) -> None:
    other = new_operator(service, "health")
    one, owned, over = (open_incident(service, f"{bank}.{n}") for n in range(3))
    assert other.post(f"/incidents/{owned}/acknowledge").status_code == 200
    end_incident(service, over)
    ticks = {tick(each): "yes" for each in (one, owned, over)}

    answer = browser.act(LIST, ASSIGN, back="open", **ticks)
    again = browser.act(LIST, ASSIGN, back="open", **ticks)

    assert answer.status_code == 303
    shown = browser.get(answer.headers["location"].removeprefix(browser.root)).text
    assert "1 incident assigned. 2 were left as they are" in shown
    assert "told=assigned-0-3" in again.headers["location"]
    assert owner_of(operator, one) == operator.email
    assert owner_of(operator, owned) == other.email
    assert owner_of(operator, over) == ""
    assert acts_on(operator, one) == ["assign"]


def test_the_board_and_the_list_take_one_by_its_button_and_call_its_member(
    service: Service, browser: Reader, operator: Operator, bank: str
) -> None:
    incident_id = open_incident(service, bank)
    board = browser.get("/console/operator/board").text
    listed = browser.get(f"{LIST}?incidents.q={bank}").text
    other = new_operator(service, "health")

    answer = browser.act(LIST, ASSIGN, back="board", incident=incident_id, owner=other.email)

    assert incident_id in board
    assert 'href="tel:+918040001234"' in board
    assert f'<a href="tel:+918040001234">{PHONE}</a>' in listed
    assert answer.headers["location"].endswith("/operator/board?told=assigned-1-0")
    assert owner_of(operator, incident_id) == other.email


def test_open_ones_come_first_the_worst_before_others_with_the_calls_they_affect(
    service: Service, browser: Reader
) -> None:
    bank = new_member(service, "FIP").entity_id
    over, slow, few, many = (
        open_incident(service, f"{bank}.{name}", timedelta(hours=hours), **cause)
        for name, hours, cause in (
            ("over", 1, {}),
            ("slow", 2, {"symptoms": ["slow"]}),
            ("few", 3, {"failures": 100}),
            ("many", 4, {"failures": 70_005}),
        )
    )
    end_incident(service, over)

    page = browser.get(f"{LIST}?incidents.q={bank}").text

    found = re.findall(r'href="/console/operator/incidents/([0-9a-f-]{36})"', page)
    assert found == [many, few, slow, over]
    assert "Affected / min" in page
    assert ">7,000<" in page


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "choose incidents"),
        ({"incident": "1 OR 1"}, "must be the id of an incident"),
        ({f"incidents.tick.{n}": "yes" for n in range(101)}, "at most 100"),
        ({"incident": "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d", "owner": "me@x.example"}, "owner"),
    ],
    ids=["none", "no-id", "too-many", "no-operator"],
)
def test_a_choice_that_cannot_be_carried_out_says_why(
    browser: Reader, fields: dict[str, str], problem: str
) -> None:
    answer = browser.act(LIST, ASSIGN, **fields)

    assert answer.status_code == 400
    assert problem in answer.text.lower()


def test_an_incident_shows_similar_ones_of_its_member_with_what_was_written(
    service: Service, browser: Reader, operator: Operator
) -> None:
    own, foreign = new_member(service, "FIP").entity_id, new_member(service, "FIP").entity_id
    earlier = open_incident(service, own, timedelta(days=2))
    text = "A certificate had expired; <b>renewed</b>."
    operator.post(f"/incidents/{earlier}/acts", act="post-mortem", text=text)
    operator.post(f"/incidents/{earlier}/acts", act="comment", text="thanks")
    end_incident(service, earlier)
    elsewhere = open_incident(service, foreign)
    now = open_incident(service, own)

    page = browser.get(f"/console/operator/incidents/{now}").text

    similar = page.partition('id="similar"')[2].partition("</section>")[0]
    assert earlier in similar
    assert "A certificate had expired; &lt;b&gt;renewed&lt;/b&gt;." in similar
    assert elsewhere not in page


def test_open_ones_alone_can_be_ticked_and_each_says_how_long(
    service: Service, browser: Reader, operator: Operator, bank: str
) -> None:
    name = f"{bank}.ticked"
    goes_on, over = (
        open_incident(service, f"{name}{n}", ago=timedelta(minutes=40)) for n in range(2)
    )
    end_incident(service, over)

    page = browser.get(f"{LIST}?incidents.q={name}").text
    still_open = operator.get("/incidents", open="true").json()["incidents"]

    assert f'name="{tick(goes_on)}"' in page
    assert f'name="{tick(over)}"' not in page
    assert len(re.findall(r'data-label="Duration"[^>]*>4\d min<', page)) == 2
    assert f">Open ({len(still_open)})</a>" in page
