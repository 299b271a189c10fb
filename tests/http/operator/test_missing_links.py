"""An operator's act invites who has no password and no link that still works, and says so."""

import uuid
from collections.abc import Callable

import httpx2
import pytest
from tests.support.mailbox import latest_link, mails
from tests.support.members import Member, new_member, onboard, set_password
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

PAGE = "/console/operator/onboard"
Join = Callable[[Operator, Member, str], httpx2.Response]


@pytest.fixture(scope="module")
def chief(service: Service) -> Operator:
    return new_operator(service)


@pytest.fixture
def other(service: Service) -> Member:
    """Another member, which has an admin."""
    return new_member(service)


def new_member_of(email: str) -> dict[str, str]:
    entity_id = f"X-{uuid.uuid4().hex[:10]}"
    return {"entityId": entity_id, "type": "FIP", "name": "Kaveri Bank", "adminEmail": email}


def add(chief: Operator, other: Member, email: str) -> httpx2.Response:
    return chief.post("/members/admins/add", entityId=other.entity_id, email=email)


def onboard_another(chief: Operator, _: Member, email: str) -> httpx2.Response:
    return chief.post("/members", **new_member_of(email))


@pytest.mark.parametrize("join", [add, onboard_another])
def test_who_is_invited_and_whose_link_ended_gets_another(
    service: Service, chief: Operator, other: Member, join: Join
) -> None:
    _, email = onboard(service)
    service.advance("PT24H")
    sent = len(mails(service, email))

    joined = join(chief, other, email)

    assert joined.status_code in {200, 201}
    assert len(mails(service, email)) == sent + 1
    assert set_password(service.client(), latest_link(service, email)).status_code == 200


def test_an_operator_whose_link_ended_gets_another_with_the_scopes(
    service: Service, chief: Operator
) -> None:
    email = f"op-{uuid.uuid4().hex[:10]}@network.example"
    operator = {"email": email, "scopes": ["health"]}
    assert chief.post("/operators", **operator).json()["invited"] is True
    again = chief.post("/operators", **operator)
    service.advance("PT24H")
    sent = len(mails(service, email))

    ended = chief.post("/operators", **operator)

    assert [again.json()["invited"], ended.json()["invited"]] == [False, True]
    assert len(mails(service, email)) == sent + 1
    link = latest_link(service, email)
    assert set_password(service.client(), link).status_code == 200
    assert chief.post("/operators", **operator).json()["invited"] is False


def test_who_loses_the_role_of_an_operator_gets_no_link(service: Service, chief: Operator) -> None:
    email = f"op-{uuid.uuid4().hex[:10]}@network.example"
    assert chief.post("/operators", email=email, scopes=["health"]).status_code == 200
    service.advance("PT24H")
    sent = len(mails(service, email))

    assert chief.post("/operators", email=email, scopes=[]).json()["invited"] is False
    assert len(mails(service, email)) == sent


@pytest.mark.parametrize("join", [add, onboard_another])
def test_a_link_that_still_works_is_not_replaced(
    service: Service, chief: Operator, other: Member, join: Join
) -> None:
    _, email = onboard(service)
    link, sent = latest_link(service, email), len(mails(service, email))

    joined = join(chief, other, email)

    assert joined.status_code in {200, 201}
    assert len(mails(service, email)) == sent
    assert set_password(service.client(), link).status_code == 200


def test_the_page_says_that_no_email_was_sent_where_none_was(
    service: Service, chief: Operator, member: Member
) -> None:
    browser = reader(service)
    browser.sign_in(chief.email)

    invited = browser.act(PAGE, PAGE, **new_member_of(f"new-{member.email}"))
    uninvited = browser.act(PAGE, PAGE, **new_member_of(member.email))

    assert "was invited by email" in browser.get(invited.headers["location"]).text
    assert "no email was sent" in browser.get(uninvited.headers["location"]).text
