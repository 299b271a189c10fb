"""A suspended member sees why, since when and what to do; a new one how far it has come."""

import pytest
from tests.http.token.bound_member import member_with_entry
from tests.support.mailbox import mails, subjects
from tests.support.members import Member, new_member
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

from mudra.console.framework.navigation import MEMBER_ITEMS, member_path


@pytest.fixture(scope="module")
def operator(service: Service) -> Operator:
    return new_operator(service)


def signed_in(member: Member) -> Reader:
    browser = reader(member.service)
    assert browser.sign_in(member.email).status_code == 303
    return browser


def put(operator: Operator, member: Member, status: str, reason: str) -> None:
    answer = operator.post(f"/members/{member.entity_id}/status", status=status, reason=reason)
    assert answer.status_code == 200, answer.text


def test_every_page_says_why_since_when_and_what_to_do(
    service: Service, operator: Operator
) -> None:
    member = new_member(service, "FIU")
    browser = signed_in(member)
    assert 'id="suspended"' not in browser.get(member_path(member.entity_id)).text
    put(operator, member, "suspended", "no contract since March")

    for item in (one for one in MEMBER_ITEMS if not one.types):
        text = browser.get(member_path(member.entity_id, item.word)).text
        notice = text.partition('id="suspended"')[2].partition("</div>")[0]
        assert "is suspended since <time" in notice, item.word
        assert "Reason: no contract since March." in notice, item.word
        assert "Ask the operator of the network to restore it." in notice, item.word

    put(operator, member, "active", "contract signed")
    assert 'id="suspended"' not in browser.get(member_path(member.entity_id)).text
    suspended, restored = mails(service, member.email)[-2:]
    assert suspended["subject"].endswith(" was suspended")
    assert restored["subject"].endswith(" was restored")
    assert "Reason: contract signed" in restored["text"]


def test_a_suspended_entry_says_the_reason_of_the_registry(service: Service) -> None:
    member = member_with_entry(service).registry.member
    service.cli("registry", "suspend", member.entity_id, "--reason", "key leaked")

    page = signed_in(member).get(member_path(member.entity_id)).text
    assert "Reason: key leaked." in page
    assert "was suspended" in subjects(service, member.email)[-1]


def test_a_reason_adds_nothing_to_the_head_of_an_email(
    service: Service, operator: Operator
) -> None:
    member = new_member(service)
    put(operator, member, "suspended", "late\r\nBcc: x@evil.example =?utf-8?q?x?=")

    message = mails(service, member.email)[-1]
    assert "was suspended" in message["subject"]
    assert "lateBcc: x@evil.example = ?utf-8" in message["text"]


def test_the_overview_warns_of_programs_that_have_the_old_secret(service: Service) -> None:
    member = new_member(service)
    old = member.secret()
    assert member.entity_token(old).status_code == 200
    assert member.reset().status_code == 200
    assert member.entity_token(old).status_code == 401
    browser, page = signed_in(member), member_path(member.entity_id)
    service.wait_until(lambda: "the new secret was never used" in browser.get(page).text)

    assert member.entity_token(member.secret()).status_code == 200

    service.wait_until(lambda: "the new secret was never used" not in browser.get(page).text)


def test_a_new_member_sees_how_far_it_has_come(service: Service) -> None:
    member = new_member(service)
    browser, page = signed_in(member), member_path(member.entity_id)
    overview = browser.get(page).text
    steps = overview.partition('id="steps"')[2].partition("</ol>")[0]
    assert steps.count(">done<") == 2
    assert (steps.count(">next<"), steps.count(">to do<")) == (1, 2)
    assert overview.count(f'href="{page}/registration">Register<span') == 1
    assert f'href="{page}/try"' in overview

    assert member.entity_token(member.secret()).status_code == 200

    service.wait_until(lambda: f'href="{page}/try">Get the first' not in browser.get(page).text)


def test_who_is_through_sees_no_steps(service: Service) -> None:
    member = member_with_entry(service).registry.member
    assert member.entity_token(member.secret()).status_code == 200
    browser, page = signed_in(member), member_path(member.entity_id)
    service.wait_until(lambda: 'id="steps"' not in browser.get(page).text)
