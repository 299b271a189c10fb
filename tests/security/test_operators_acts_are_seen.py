"""An operator who makes themselves an admin is seen, and a contact mails no crowd (0072)."""

import re
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from tests.security.people.admin_calls import accept, address, ask, invited
from tests.support.error_body import assert_error
from tests.support.mailbox import latest_link, mails, subjects
from tests.support.members import Member, new_member, set_password
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.people.second_factor import user_id
from tests.support.service import Service

REFUSED = "The contact&#39;s email is changed at most 3 times in 24 hours"


@pytest.fixture
def staff(service: Service) -> Operator:
    return new_operator(service, "members")


def act(staff: Operator, member: Member, what: str, **body: object) -> None:
    answer = staff.post(f"/members/{what}", entityId=member.entity_id, **body)
    assert answer.status_code == 200, answer.text


def contact(
    member: Member, email: str, headers: dict[str, str] | None = None, phone: str = ""
) -> httpx2.Response:
    """Set the contact as an admin."""
    return member.client.post(
        "/v1/entity/contact/set",
        json={"entityId": member.entity_id, "email": email, "phone": phone},
        headers=headers or member.bearer(),
    )


def notices_to(service: Service, to: str) -> list[str]:
    """Subjects of what an operator changed."""
    return [one for one in subjects(service, to) if "the operator" in one or "another" in one]


def with_contact(member: Member, staff: Operator) -> str:
    team = address("team")
    act(staff, member, "contact", email=team)
    return team


def test_an_operators_own_mailbox_as_admin_is_seen_at_once(
    service: Service, staff: Operator
) -> None:
    """Added, it reads the secret, and is removed: each is seen by who was there before."""
    member = new_member(service)
    second = address()
    accept(member, invited(member, second), second)
    team, own = with_contact(member, staff), address("own")

    act(staff, member, "admins/add", email=own)
    for to in (member.email, second, team):
        message = mails(service, to)[-1]
        assert "the operator added an admin" in message["subject"]
        assert member.entity_id in message["text"]
        assert own in message["text"]
    assert not notices_to(service, own)
    act(staff, member, "admins/add", email=own)  # is one already
    act(staff, member, "admins/remove", email=own)

    for to in (member.email, second, team, own):
        assert notices_to(service, to)[-1].startswith(f"the operator removed {own}")
        assert sum("the operator added" in one for one in notices_to(service, to)) == (to != own)


def test_who_was_disabled_or_removed_before_is_notified(service: Service, staff: Operator) -> None:
    disabled, removed = new_member(service), new_member(service)
    who = user_id(service, disabled.email)
    assert staff.post(f"/users/{who}/disable").status_code == 200
    act(staff, disabled, "admins/add", email=address("own"))
    act(staff, removed, "admins/remove", email=removed.email)

    assert notices_to(service, disabled.email)[-1].startswith("the operator added")
    assert notices_to(service, removed.email)[-1].startswith("the operator removed")


def test_a_reader_whom_an_operator_removes_and_the_admins_are_notified(
    service: Service, staff: Operator
) -> None:
    member, email = new_member(service), address()
    accept(member, invited(member, email, "reader"), email)
    act(staff, member, "admins/remove", email=email)

    for to in (member.email, email):
        assert notices_to(service, to)[-1].startswith(f"the operator removed {email}")


def test_one_email_says_that_an_operator_replaced_an_admin(
    service: Service, staff: Operator
) -> None:
    member, own = new_member(service), address("own")
    team = with_contact(member, staff)
    act(staff, member, "admins/handover", leaving=member.email, email=own)

    for to in (member.email, team):
        assert notices_to(service, to)[-1] == "the operator replaced an admin"
        text = mails(service, to)[-1]["text"]
        assert f"in place of {member.email}" in text
        assert member.entity_id in text
        assert not any("added" in one or "removed" in one for one in notices_to(service, to))
    assert not notices_to(service, own)
    assert set_password(service.client(), latest_link(service, own)).status_code == 200


def test_a_new_address_of_an_admin_is_made_known_to_the_others_of_each_member(
    service: Service, staff: Operator
) -> None:
    one, other, moved = new_member(service), new_member(service), address("moved")
    team = with_contact(one, staff)
    act(staff, other, "admins/add", email=one.email)
    who = user_id(service, one.email)
    assert staff.post(f"/users/{who}/email", email=moved).status_code == 200

    for to, entity_id in ((team, one.entity_id), (other.email, other.entity_id)):
        assert notices_to(service, to)[-1] == "an admin got another address"
        text = mails(service, to)[-1]["text"]
        assert f"from {one.email} to {moved}" in text
        assert entity_id in text
    for to in (one.email, moved):
        assert "your account's email address was changed" in subjects(service, to)
        assert not any("got another address" in one for one in subjects(service, to))


def test_onboarding_sends_no_further_email(service: Service, staff: Operator) -> None:
    first, team = address(), address("team")
    entity_id = f"T-{first[5:15]}-FIP"
    file = f"entityId,type,name,adminEmail,contactEmail\n{entity_id},FIP,Bank,{first},{team}\n"
    answer = staff.post("/members/import", csv=file)
    assert answer.status_code == 200, answer.text

    assert len(mails(service, first)) == 1
    assert not mails(service, team)


def test_a_changed_contact_is_made_known_to_admins_and_both_contacts(
    service: Service, staff: Operator
) -> None:
    member, first, second = new_member(service), address("team"), address("team")
    assert contact(member, first).status_code == 200
    assert contact(member, first, phone="+91 80 4000 1234").status_code == 200  # the same address
    act(staff, member, "contact", email=second)
    assert contact(member, "").status_code == 200

    about = "the backup contact was changed"
    assert [subjects(service, to).count(about) for to in (member.email, first, second)] == [3, 2, 2]
    texts = [one["text"] for one in mails(service, member.email) if about in one["subject"]]
    assert f"{member.email} changed the backup contact" in texts[0]
    assert "the operator of the network changed" in texts[1]
    assert f"{first} gets them no more" in texts[1]
    assert "its admins alone" in texts[2]
    assert all(member.entity_id in one for one in texts)


def test_admins_name_three_contacts_a_day_also_at_once(service: Service, staff: Operator) -> None:
    member, others = new_member(service), [address("stranger") for _ in range(8)]
    headers = member.bearer()
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda to: contact(member, to, headers), others))
    codes = [one.status_code for one in answers]
    assert set(codes) <= {200, 429, 503}
    for to in others:  # those who found the service busy come again
        codes += [contact(member, to, headers).status_code] if codes.count(200) < 3 else []

    refused = contact(member, address("stranger"), headers)
    assert codes.count(200) == 3
    assert_error(refused, 429, "TooManyAttempts", "Retry-After")
    assert 86_000 < int(refused.headers["Retry-After"]) <= 86_400
    assert "email is changed at most 3 times" in refused.json()["errorMsg"]
    assert "leave it empty, or ask the operator" in refused.json()["errorMsg"]
    assert sum(bool(mails(service, to)) for to in others) == 3
    # The ways out: none at all, the operator, and tomorrow.
    assert contact(member, "", headers).status_code == 200
    act(staff, member, "contact", email=others[0])
    assert contact(member, others[0], headers, "+91 80 4000 1234").status_code == 200
    assert contact(member, address("stranger"), headers).status_code == 429
    auditor = new_operator(service, "audit")
    found = auditor.get("/audit", entityId=member.entity_id, event="entity:contact:change")
    reasons = [one["reason"] for one in found.json()["events"] if one["outcome"] == "refused"]
    assert set(reasons) == {"too-many-contacts"}
    service.advance("PT24H1S")
    assert contact(member, address("stranger")).status_code == 200


def test_an_operator_sets_contacts_without_that_limit(service: Service, staff: Operator) -> None:
    member = new_member(service)
    for _ in range(5):
        act(staff, member, "contact", email=address("team"))

    assert contact(member, address("team")).status_code == 200


def test_the_page_of_people_refuses_a_fourth_contact_at_its_form(service: Service) -> None:
    member = new_member(service)
    browser, page = reader(service), f"/console/entity/{member.entity_id}/people"
    assert browser.sign_in(member.email).status_code == 303
    for _ in range(3):
        done = browser.act(page, f"{page}/contact", email=address("team"))
        assert done.headers["location"] == f"{page}?told=contact"
    fourth = address("team")
    refused = browser.act(page, f"{page}/contact", email=fourth)

    assert refused.status_code == 429
    (form,) = (one for one in refused.text.split("<form ") if '/people/contact"' in one)
    assert f"{REFUSED}: leave it empty, or ask the operator of the network" in form
    assert f'value="{fourth}"' in form
    assert re.search(r"try again in 1,?440 minutes", form), form[:900]
    assert not mails(service, fourth)
    chosen = browser.act("/console/account", "/console/account/language", language="hi")
    assert chosen.status_code == 303
    hindi = browser.act(page, f"{page}/contact", email=fourth)
    assert "संपर्क का ईमेल पता 24 घंटों में" in hindi.text
    assert browser.act(page, f"{page}/contact", email="").status_code == 303


def test_the_operators_page_of_a_member_sets_contacts_and_notifies(service: Service) -> None:
    member, staff = new_member(service), new_operator(service, "members")
    browser, page = reader(service), f"/console/operator/members/{member.entity_id}"
    assert browser.sign_in(staff.email).status_code == 303
    for _ in range(4):
        done = browser.act(page, f"{page}/contact", email=address("team"))
        assert done.status_code == 303, done.text
    added = browser.act(page, f"{page}/admins", email=address("own"))

    assert added.status_code == 303
    own = ask(member, "list").json()["admins"][-1]["email"]
    assert own in mails(service, member.email)[-1]["text"]
