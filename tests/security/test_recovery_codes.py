"""Recovery codes: each replaces the second factor once, and how many are left."""

import pytest
from tests.support.mailbox import mails
from tests.support.members import Member
from tests.support.people.console import Reader, reader
from tests.support.people.second_factor import (
    PAGE,
    begin,
    csrf,
    enroll,
    enter_code,
    recovery_codes,
    sign_in,
)
from tests.support.service import Service


@pytest.fixture
def signed_in(service: Service, member: Member) -> Reader:
    browser = reader(service)
    assert browser.sign_in(member.email).status_code == 303
    return browser


def test_a_used_code_is_gone_and_the_page_says_how_many_are_left(
    service: Service, member: Member, signed_in: Reader
) -> None:
    _, codes = enroll(signed_in, service)
    assert "10 left" in signed_in.get(PAGE).text
    browser = reader(service)
    sign_in(browser, member.email, codes[0].lower())
    again = reader(service)
    again.sign_in(member.email)

    assert enter_code(again, codes[0]).status_code == 401
    assert "9 left" in browser.get(PAGE).text
    assert "A recovery code was used" in mails(service, member.email)[-1]["text"]
    assert enter_code(again, codes[1].replace("-", " ")).status_code == 303
    assert "8 left" in browser.get(PAGE).text


def test_new_codes_end_the_earlier_ones(
    service: Service, member: Member, signed_in: Reader
) -> None:
    app, codes = enroll(signed_in, service)
    browser = reader(service)
    browser.sign_in(member.email)

    shown = signed_in.act(PAGE, f"{PAGE}/recovery-codes", code=app.fresh_code())

    new = recovery_codes(shown)
    assert len(new) == 10
    assert not set(new) & set(codes)
    assert "New recovery codes were made" in mails(service, member.email)[-1]["text"]
    assert enter_code(browser, codes[1]).status_code == 401
    assert enter_code(browser, new[0]).status_code == 303
    assert "9 left" in browser.get(PAGE).text


def test_codes_end_with_the_factor_that_they_replace(
    service: Service, member: Member, signed_in: Reader
) -> None:
    app, codes = enroll(signed_in, service)
    signed_in.act(PAGE, f"{PAGE}/remove", code=app.fresh_code())
    enroll(signed_in, service)
    browser = reader(service)
    browser.sign_in(member.email)

    assert enter_code(browser, codes[2]).status_code == 401


def test_the_page_that_shows_codes_belongs_to_the_session_that_it_begins(
    service: Service, signed_in: Reader
) -> None:
    app, page = begin(signed_in, service)
    shown = signed_in.post(f"{PAGE}/confirm", {"csrf_token": csrf(page), "new_code": app.code()})

    out = signed_in.post("/console/sign-out", {"csrf_token": csrf(shown)})

    assert out.headers["location"].endswith("told=signed-out")
