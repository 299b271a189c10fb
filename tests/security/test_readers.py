"""A reader of a member sees its pages and changes nothing (decision 0131)."""

import httpx2
import pytest
from tests.security.people.admin_calls import accept, address, ask, confirm, invited
from tests.support.mailbox import latest_link, mails
from tests.support.members import Member, new_member, set_password
from tests.support.people.console import Reader, reader
from tests.support.people.operators import new_operator
from tests.support.service import PASSWORD, Service

from mudra.console.framework.navigation import MEMBER_ITEMS, member_path

FORMS = (
    *("secret/show", "secret/reset", "secret/retire", "addresses", "webhooks", "webhooks/x/test"),
    *("health/follow", "registration/check", "registration/submit", "faults"),
    *("people/add", "people/remove", "people/hand-over", "people/invite-again", "people/contact"),
)


def reading(member: Member, role: str = "reader") -> Member:
    """Someone who accepted an invitation with a new account."""
    email = address("noc")
    return accept(member, invited(member, email, role), email)


def signed_in(who: Member) -> Reader:
    browser = reader(who.service)
    assert browser.sign_in(who.email).status_code == 303
    return browser


@pytest.fixture(scope="module")
def resident(service: Service) -> Member:
    return new_member(service, "FIU")


@pytest.fixture(scope="module")
def noc(resident: Member) -> Member:
    return reading(resident)


def test_the_invitation_says_what_a_reader_is(resident: Member) -> None:
    email = address("noc")
    answer = ask(resident, "add", email=email, role="reader").json()
    assert (answer["admins"][-1]["role"], answer["admins"][-1]["state"]) == ("reader", "invited")
    message = mails(resident.service, email)[-1]
    assert "to be a reader of" in message["subject"]
    assert "never see its secret" in message["text"]
    page = httpx2.get(latest_link(resident.service, email)).text
    assert "to be a reader of" in page
    assert "mudra secret read" not in page


def test_a_reader_is_offered_the_pages_that_open_and_no_other(noc: Member) -> None:
    browser = signed_in(noc)
    home = browser.get(browser.get("/console").headers["location"])
    assert "read-only" in home.text
    assert ">Add one<" not in home.text  # of the people: that is for an admin
    for item in (one for one in MEMBER_ITEMS if not one.types):  # of a FIU
        path = member_path(noc.entity_id, item.word)
        seen = browser.get(path)
        assert seen.status_code == (200 if item.readers else 403), path
        assert (f'href="{path}"' in home.text) == item.readers, path
        if item.readers:
            # Of this entity: the frame's own forms, such as sign out, are about the person.
            assert f'action="{member_path(noc.entity_id)}' not in seen.text, path


@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_the_entity_takes_anything_of_a_reader(noc: Member, form: str) -> None:
    browser = signed_in(noc)
    page = member_path(noc.entity_id)
    refused = browser.act(page, f"{page}/{form}", email=noc.email, password=PASSWORD, role="admin")

    assert refused.status_code in {403, 404}
    assert form == "webhooks/x/test" or refused.status_code == 403


def test_the_secret_and_changes_are_refused_and_what_is_read_is_not(
    resident: Member, noc: Member
) -> None:
    assert noc.read().status_code == 401
    assert noc.reset().status_code == 401
    for path in ("add", "remove", "handover", "invite-again"):
        assert ask(noc, path, email=address("noc")).status_code == 401
    listed = {one["email"]: one["role"] for one in ask(noc, "list").json()["admins"]}
    assert (listed[resident.email], listed[noc.email]) == ("admin", "reader")
    query = {"entityId": noc.entity_id}
    for path in ("attention", "activity", "secret/use"):
        answer = noc.client.get(f"/v1/entity/{path}", params=query, headers=noc.bearer())
        assert answer.status_code == 200, path
        assert resident.secret() not in answer.text


def test_a_reader_is_neither_the_last_admin_nor_an_operator(service: Service) -> None:
    member = new_member(service)
    noc = reading(member)
    assert ask(member, "remove", email=member.email).status_code == 409
    operator = new_operator(service)
    made = operator.post("/operators", email=noc.email, scopes=["health"])
    assert made.status_code == 409
    other = new_operator(service, "keys")
    assert ask(member, "add", email=other.email, role="reader").status_code == 200
    assert confirm(member, latest_link(service, other.email)).status_code == 409


def test_an_operator_adds_no_reader(service: Service) -> None:
    member, operator = new_member(service), new_operator(service, "members")
    body = {"entityId": member.entity_id, "email": address("noc"), "role": "reader"}
    assert operator.post("/members/admins/add", **body).status_code == 400


def test_a_reader_who_is_removed_sees_nothing_from_then_on(service: Service) -> None:
    member = new_member(service)
    noc = reading(member)
    browser, page = signed_in(noc), member_path(member.entity_id)
    assert browser.get(page).status_code == 200
    ask(member, "add", email=noc.email)  # and invited to be an admin

    gone = ask(member, "remove", email=noc.email)

    assert [one["email"] for one in gone.json()["admins"]] == [member.email]
    assert browser.get(page).status_code == 403
    assert confirm(noc, latest_link(service, noc.email)).status_code == 401


def test_a_reader_becomes_an_admin_and_an_admin_no_reader(service: Service) -> None:
    member = new_member(service)
    noc = reading(member)
    assert ask(member, "add", email=noc.email).status_code == 200
    assert confirm(noc, latest_link(service, noc.email)).status_code == 200
    assert noc.read().status_code == 200

    same = ask(member, "add", email=noc.email, role="reader").json()["admins"]

    assert [(one["email"], one["role"]) for one in same] == [
        (member.email, "admin"),
        (noc.email, "admin"),
    ]


@pytest.mark.parametrize("role", ["reader", "admin"])
def test_an_invitation_in_the_other_role_takes_the_place_of_one_that_waits(
    resident: Member, role: str
) -> None:
    email, before = address("noc"), {"reader": "admin", "admin": "reader"}[role]
    assert ask(resident, "add", email=email, role=before).status_code == 200
    earlier = latest_link(resident.service, email)

    again = ask(resident, "add", email=email, role=role).json()["admins"]

    assert [one["role"] for one in again if one["email"] == email] == [role]
    client = resident.service.client()
    assert set_password(client, earlier).status_code == 401
    assert set_password(client, latest_link(resident.service, email)).status_code == 200
    who = Member(resident.service, resident.entity_id, email, PASSWORD, client)
    assert who.read().status_code == {"reader": 401, "admin": 200}[role]


def test_people_invites_a_reader_and_shows_the_role(service: Service) -> None:
    member, email = new_member(service), address("noc")
    browser, page = signed_in(member), member_path(member.entity_id, "people")
    added = browser.act(page, f"{page}/add", email=email, name="Night Desk", role="reader")
    assert added.headers["location"].endswith("?told=added")
    shown = browser.get(page).text
    assert "Night Desk" in shown
    assert "reader" in shown.partition("Night Desk")[2][:200]
    assert f"{page}/invite-again" in shown
