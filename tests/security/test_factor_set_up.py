"""What is set up belongs to the session that began it, for ten minutes (0075)."""

import pytest
from tests.support.members import Member
from tests.support.people.console import Reader, reader
from tests.support.people.second_factor import (
    PAGE,
    begin,
    csrf,
    enroll,
    enter_code,
    set_wrong_codes,
    user_id,
    wrong_codes,
)
from tests.support.service import Service

CONFIRM = f"{PAGE}/confirm"


@pytest.fixture
def signed_in(service: Service, member: Member) -> Reader:
    browser = reader(service)
    browser.sign_in(member.email)
    return browser


@pytest.fixture
def thief(service: Service, member: Member) -> Reader:
    """Another session of the same person."""
    browser = reader(service)
    browser.sign_in(member.email)
    return browser


def test_another_session_neither_sees_nor_confirms_an_app_that_waits_for_its_code(
    service: Service, signed_in: Reader, thief: Reader
) -> None:
    app, page = begin(signed_in, service)

    guessed = thief.act(PAGE, CONFIRM, new_code="000000")
    right = thief.act(PAGE, CONFIRM, new_code=app.code())

    assert (guessed.status_code, right.status_code) == (409, 409)
    assert app.secret not in guessed.text + right.text
    own = signed_in.post(CONFIRM, {"csrf_token": csrf(page), "new_code": app.code()})
    assert own.status_code == 200


def test_another_session_does_not_change_the_secret_that_a_person_scans(
    service: Service, member: Member, signed_in: Reader, thief: Reader
) -> None:
    app, page = begin(signed_in, service)
    begin(thief, service)

    done = signed_in.post(CONFIRM, {"csrf_token": csrf(page), "new_code": app.code()})

    assert done.status_code == 200
    again = reader(service)
    again.sign_in(member.email)
    assert enter_code(again, app.fresh_code()).status_code == 303


def test_a_set_up_ends_after_ten_minutes(service: Service, signed_in: Reader) -> None:
    app, page = begin(signed_in, service)
    service.advance("PT10M")

    late = signed_in.post(CONFIRM, {"csrf_token": csrf(page), "new_code": app.code()})

    assert late.status_code == 409
    assert "this set-up has ended" in late.text.lower()
    assert app.secret not in late.text


def test_an_app_is_confirmed_once(service: Service, signed_in: Reader) -> None:
    app, _ = enroll(signed_in, service)

    again = signed_in.act(PAGE, CONFIRM, new_code=app.fresh_code())

    assert again.status_code == 409


def test_a_wrong_first_code_is_counted_and_waits(
    service: Service, member: Member, signed_in: Reader
) -> None:
    app, page = begin(signed_in, service)
    who, token = user_id(service, member.email), csrf(page)
    wrong = signed_in.post(CONFIRM, {"csrf_token": token, "new_code": "000000"})
    counted = wrong_codes(service, who)
    set_wrong_codes(service, who, 10)

    hurried = signed_in.post(CONFIRM, {"csrf_token": token, "new_code": app.code()})

    assert (wrong.status_code, counted, hurried.status_code) == (401, 1, 429)
    assert app.secret in wrong.text


def test_a_right_first_code_is_accepted_after_a_hundred_wrong_ones(
    service: Service, member: Member, signed_in: Reader
) -> None:
    """As with a passkey: the session has shown who it is, and a new factor ends the count."""
    app, page = begin(signed_in, service)
    who = user_id(service, member.email)
    set_wrong_codes(service, who, 100)

    done = signed_in.post(CONFIRM, {"csrf_token": csrf(page), "new_code": app.code()})

    assert done.status_code == 200
    assert wrong_codes(service, who) == 0
