"""Who must have a second factor gets nowhere without one."""

from collections.abc import Iterator

import pytest
from tests.support.members import Member, new_member
from tests.support.people.console import Reader, reader
from tests.support.people.second_factor import (
    PAGE,
    begin,
    csrf,
    enroll,
    enter_code,
    user_id,
    wrong_codes,
)
from tests.support.process import running_service
from tests.support.service import PASSWORD, Service

from mudra.bootstrap.config import load_settings
from mudra.identity.second_factor.policy import FactorRoles, TokenFactor


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that asks everyone for a second factor, for tokens too."""
    with running_service(
        tmp_path_factory.mktemp("strict") / "data",
        keeps_store=True,
        MUDRA_SECOND_FACTOR="everyone",
        MUDRA_SECOND_FACTOR_TOKENS="otp",
    ) as running:
        yield running


@pytest.fixture
def admin(strict: Service) -> Member:
    return new_member(strict)


def token(member: Member, **otp: str) -> tuple[int, str]:
    form = {"username": member.email, "password": PASSWORD, **otp}
    answer = member.client.post("/v1/user/token/generate", data=form)
    return answer.status_code, answer.json().get("errorMsg", "")


def first_sign_in(member: Member) -> Reader:
    browser = reader(member.service)
    assert browser.sign_in(member.email).headers["location"] == PAGE
    return browser


def test_operators_need_one_by_default_outside_the_sandbox() -> None:
    assert load_settings({}).factor_roles is FactorRoles.OPERATORS
    assert load_settings({"MUDRA_SANDBOX": "1"}).factor_roles is FactorRoles.NONE
    chosen = load_settings({"MUDRA_SANDBOX": "1", "MUDRA_SECOND_FACTOR": "members"})
    assert chosen.factor_roles is FactorRoles.MEMBERS
    assert load_settings({}).factor_for_tokens is TokenFactor.PASSWORD


def test_the_first_sign_in_leads_to_the_set_up_and_opens_nothing_else(
    strict: Service, admin: Member
) -> None:
    browser = first_sign_in(admin)
    form = browser.get(PAGE)
    page = f"/console/entity/{admin.entity_id}"

    assert "Your role needs a second factor" in form.text
    assert admin.entity_id not in form.text
    for path in (page, f"{page}/secret", "/console", "/console/account"):
        refused = browser.get(path)
        assert refused.headers["location"].startswith("/console/sign-in"), path
        assert browser.get(refused.headers["location"]).headers["location"] == PAGE
    for path in (f"{page}/secret/show", f"{page}/people/add", f"{PAGE}/remove"):
        sent = browser.post(path, {"csrf_token": csrf(form), "password": PASSWORD})
        assert sent.status_code in {303, 403}, path
    before = dict(browser.client.cookies)
    enroll(browser, strict)

    assert browser.get(page).status_code == 200
    assert dict(browser.client.cookies) != before
    thief = reader(strict)
    thief.client.cookies.update(before)
    assert thief.get(page).status_code == 303
    assert thief.get(PAGE).status_code == 303


def test_who_must_have_one_replaces_and_never_removes_it(strict: Service, admin: Member) -> None:
    browser = first_sign_in(admin)
    app, _ = enroll(browser, strict)

    refused = browser.act(PAGE, f"{PAGE}/remove", code=app.fresh_code())

    assert refused.status_code == 409
    assert "replace it instead of removing it" in refused.text
    new, page = begin(browser, strict, code=app.fresh_code())
    done = browser.post(f"{PAGE}/confirm", {"csrf_token": csrf(page), "new_code": new.code()})
    assert done.status_code == 200


def test_a_token_needs_the_code_and_before_that_the_set_up(strict: Service, admin: Member) -> None:
    unready = token(admin)
    app, codes = enroll(first_sign_in(admin), strict)
    code = app.fresh_code()

    assert unready == (401, "this account needs a second factor: set it up in the console")
    assert token(admin) == (401, "otp is missing: this account has a second factor")
    assert token(admin, otp="000000")[0] == 401
    assert token(admin, otp=code)[0] == 200
    assert token(admin, otp=code)[0] == 401, "once"
    assert token(admin, otp=codes[0])[0] == 200
    assert token(admin, otp=codes[0])[0] == 401
    browser = reader(strict)
    browser.sign_in(admin.email)
    assert enter_code(browser, code).status_code == 401, "nor in the console"


def test_guesses_of_both_doors_are_counted_together(strict: Service, admin: Member) -> None:
    enroll(first_sign_in(admin), strict)
    browser = reader(strict)
    browser.sign_in(admin.email)
    assert token(admin, otp="000000")[0] == 401
    assert enter_code(browser, "000001").status_code == 401

    assert wrong_codes(strict, user_id(strict, admin.email)) == 2


def test_the_command_signs_in_with_the_code_and_not_without(strict: Service, admin: Member) -> None:
    app, _ = enroll(first_sign_in(admin), strict)

    def login(*otp: str) -> tuple[int, str]:
        done = strict.cli(
            "login", admin.email, "--password-stdin", *otp, stdin=PASSWORD, check=False
        )
        return done.exit_code, done.output

    without, wrong, code = login(), login("--otp", "000000"), app.fresh_code()

    assert without[0] != 0
    assert "otp is missing" in without[1]
    assert wrong[0] != 0
    assert "the code is wrong" in wrong[1]
    right = login("--otp", code)
    assert right[0] == 0
    assert code not in right[1]
    assert login("--otp", code)[0] != 0, "once"
