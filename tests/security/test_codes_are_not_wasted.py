"""A form about the own second factor is checked before its code, which its act uses up (0075)."""

import pytest
from tests.support.members import Member, new_member
from tests.support.people.console import Reader, reader
from tests.support.people.second_factor import (
    PAGE,
    App,
    enroll,
    user_id,
    wrong_codes,
)
from tests.support.service import Service

BEGIN = f"{PAGE}/passkey/begin"


@pytest.fixture(scope="module")
def admin(named: Service) -> Member:
    return new_member(named)


@pytest.fixture(scope="module")
def browser(named: Service, admin: Member) -> Reader:
    found = reader(named)
    assert found.sign_in(admin.email).headers["location"] == PAGE
    return found


@pytest.fixture(scope="module")
def app(named: Service, browser: Reader) -> App:
    found, _ = enroll(browser, named)
    return found


def failures(named: Service, admin: Member) -> int:
    return wrong_codes(named, user_id(named, admin.email))


def test_a_form_with_a_wrong_field_costs_no_code(browser: Reader, app: App) -> None:
    code = app.fresh_code()

    refused = browser.act(PAGE, BEGIN, name="", code=code)
    done = browser.act(PAGE, BEGIN, name="Phone", code=code)
    again = browser.act(PAGE, BEGIN, name="Phone", code=code)

    assert refused.status_code == 400
    assert "1 to 40 printable characters" in refused.text
    assert done.status_code == 200, done.text
    assert "data-passkey-options" in done.text
    assert again.status_code == 403, "a code counts once"


def test_what_a_role_forbids_is_refused_before_a_code_is_asked_for(
    browser: Reader, app: App
) -> None:
    code = app.fresh_code()

    without, with_it = (
        browser.act(PAGE, f"{PAGE}/remove", **proof) for proof in ({}, {"code": code})
    )

    assert without.status_code == with_it.status_code == 409
    assert browser.act(PAGE, f"{PAGE}/recovery-codes", code=code).status_code == 200


def test_a_wrong_code_is_counted_when_the_fields_are_right_and_only_then(
    named: Service, admin: Member, browser: Reader, app: App
) -> None:
    """With a wrong field the code is not looked at: the answer says nothing about it."""
    before = failures(named, admin)
    right, wrong = app.fresh_code(), "000000"

    blind = [browser.act(PAGE, BEGIN, name="", code=code) for code in (right, wrong)]
    assert failures(named, admin) == before
    asked = browser.act(PAGE, BEGIN, name="Phone", code=wrong)

    one, other = (answer.text.replace(right, "").replace(wrong, "") for answer in blind)
    assert [answer.status_code for answer in blind] == [400, 400]
    assert len(one) == len(other)
    assert asked.status_code == 403
    assert failures(named, admin) == before + 1
    assert browser.act(PAGE, BEGIN, name="Phone", code=right).status_code == 200
    assert failures(named, admin) == 0
