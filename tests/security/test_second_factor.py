"""Attacks on the second factor: replay, guessing, races, the steps skipped, downgrades."""

import asyncio

import pytest
from tests.support.mailbox import latest_link, mails
from tests.support.members import Member, link_for_who_forgot, set_password
from tests.support.people.console import Reader, reader
from tests.support.people.operators import new_operator
from tests.support.people.second_factor import (
    CODE,
    PAGE,
    begin,
    csrf,
    enroll,
    enter_code,
    set_wrong_codes,
    sign_in,
    user_id,
    wrong_codes,
)
from tests.support.service import PASSWORD, Service

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.people_store import People
from mudra.identity.second_factor.after_password import TOKENS_OFF, admit_token
from mudra.identity.second_factor.check_code import FactorKind, check_code
from mudra.identity.second_factor.policy import FactorRoles, TokenFactor
from mudra.shared.secret_text import SecretText

FORMS = ("begin", "recovery-codes", "remove")


@pytest.fixture
def signed_in(service: Service, member: Member) -> Reader:
    browser = reader(service)
    assert browser.sign_in(member.email).status_code == 303
    return browser


def is_open(browser: Reader) -> bool:
    return browser.get("/console/account").status_code == 200


def cookies(browser: Reader) -> dict[str, str]:
    return dict(browser.client.cookies)


def test_the_code_comes_after_the_password_and_opens_what_the_password_does_not(
    service: Service, member: Member, signed_in: Reader
) -> None:
    """The first step's cookie opens no page, no form, and is replaced by the second step."""
    app, _ = enroll(signed_in, service)
    browser, page = reader(service), f"/console/entity/{member.entity_id}"
    first = browser.sign_in(member.email, to=page)
    planted = cookies(browser)
    form = browser.get(first.headers["location"])

    for path in (page, f"{page}/secret", f"{page}/people", "/console", "/console/account", PAGE):
        refused = browser.get(path)
        assert (
            refused.status_code,
            refused.headers["location"].startswith("/console/sign-in"),
        ) == (
            303,
            True,
        ), path
    for path in (f"{page}/secret/show", f"{page}/people/add", f"{PAGE}/begin", f"{PAGE}/confirm"):
        sent = browser.post(path, {"csrf_token": csrf(form), "password": PASSWORD})
        assert sent.status_code in {303, 403}, path
        assert "factor-key" not in sent.text
    assert member.client.get("/v1/user/session/list", headers=member.bearer()).json()["sessions"]
    done = browser.post(CODE, {"csrf_token": csrf(form), "to": page, "code": app.fresh_code()})

    assert done.headers["location"] == page
    assert browser.get(page).status_code == 200
    assert cookies(browser) != planted
    thief = reader(service)
    thief.client.cookies.update(planted)
    assert not is_open(thief)
    assert thief.get(CODE).headers["location"] == "/console/sign-in"


def test_a_first_step_ends_after_a_quarter_of_an_hour(
    service: Service, member: Member, signed_in: Reader
) -> None:
    app, _ = enroll(signed_in, service)
    browser = reader(service)
    browser.sign_in(member.email)
    word = browser.word(CODE)
    service.advance("PT15M")

    late = browser.post(CODE, {"csrf_token": word, "code": app.code()})

    assert late.headers["location"].startswith("/console/sign-in?")
    assert not is_open(browser)


def test_a_code_is_accepted_once(service: Service, member: Member, signed_in: Reader) -> None:
    app, _ = enroll(signed_in, service)
    code = app.fresh_code()
    sign_in(reader(service), member.email, code)
    again = reader(service)
    again.sign_in(member.email)

    replayed = enter_code(again, code)

    assert replayed.status_code == 401
    assert "was used already" in replayed.text
    assert not is_open(again)


def test_the_code_that_set_up_the_app_signs_no_one_in(
    service: Service, member: Member, signed_in: Reader
) -> None:
    app, page = begin(signed_in, service)
    code = app.code()
    signed_in.post(f"{PAGE}/confirm", {"csrf_token": csrf(page), "new_code": code})
    other = reader(service)
    other.sign_in(member.email)

    assert enter_code(other, code).status_code == 401


@pytest.mark.parametrize("kind", ["app", "recovery"])
def test_of_equal_codes_in_open_transactions_one_is_accepted(
    service: Service, member: Member, signed_in: Reader, kind: str
) -> None:
    """Four at once in one loop, where each waits for the others at every statement."""
    app, codes = enroll(signed_in, service)
    code = SecretText(app.fresh_code() if kind == "app" else codes[0])

    async def race(dependencies: Dependencies) -> list[object]:
        async def once() -> object:
            async with dependencies.transaction() as tx:
                user = await People(tx).by_username(member.email)
                assert user is not None
                return await check_code(tx, user, code, Caller("nobody"))

        return list(await asyncio.gather(*(once() for _ in range(4))))

    answers = service.in_store(race)

    assert sum(isinstance(one, FactorKind) for one in answers) == 1


def test_guessing_waits_and_ends_for_good_after_a_hundred(
    service: Service, member: Member, signed_in: Reader
) -> None:
    app, codes = enroll(signed_in, service)
    browser, who = reader(service), user_id(service, member.email)
    browser.sign_in(member.email)
    for n in range(5):
        # Each wait is over: how long a request takes here is no matter of the test.
        service.advance("PT1M")
        assert enter_code(browser, codes[0][::-1] if n % 2 else "000000").status_code == 401
        assert wrong_codes(service, who) == n + 1
    assert "Someone who knows the password" in mails(service, member.email)[-1]["text"]

    set_wrong_codes(service, who, 20)
    hurried = enter_code(browser, app.code(1))
    assert hurried.status_code == 429
    assert int(hurried.headers["retry-after"]) > 800
    service.advance("PT15M")
    browser.sign_in(member.email)
    assert enter_code(browser, app.code(1)).status_code == 303
    assert wrong_codes(service, who) == 0

    set_wrong_codes(service, who, 100)
    late = reader(service)
    late.sign_in(member.email)
    assert enter_code(late, app.fresh_code()).status_code == 401
    assert enter_code(late, codes[1]).status_code == 401


def test_no_typed_user_name_counts_as_a_wrong_code(
    service: Service, member: Member, signed_in: Reader
) -> None:
    """Anyone can type the name under which codes were counted: with a user ID, and no password."""
    app, _ = enroll(signed_in, service)
    who, stranger = user_id(service, member.email), service.client()
    for _ in range(4):
        form = {"username": f"second-factor:{who}", "password": "a guess that is wrong"}
        assert stranger.post("/v1/user/token/generate", data=form).status_code == 401

    assert wrong_codes(service, who) == 0
    sign_in(reader(service), member.email, app.code(1))


@pytest.mark.parametrize("form", FORMS)
def test_a_stolen_session_does_not_change_the_factor(
    service: Service, member: Member, signed_in: Reader, form: str
) -> None:
    """However lately a code was typed, and also with the password."""
    enroll(signed_in, service)

    for proof in ({}, {"password": PASSWORD}, {"code": "000000"}):
        refused = signed_in.act(PAGE, f"{PAGE}/{form}", **proof)
        assert refused.status_code == 403
        assert "Confirm that it is you" in refused.text
        assert "factor-key" not in refused.text
    assert "in use" in signed_in.get(PAGE).text
    assert reader(service).sign_in(member.email).headers["location"].startswith(CODE)


def test_a_stolen_session_sets_up_no_factor_of_its_own(service: Service, signed_in: Reader) -> None:
    service.advance("PT6M")

    refused = signed_in.act(PAGE, f"{PAGE}/begin")
    wrong = signed_in.act(PAGE, f"{PAGE}/begin", password="not-the-password-at-all")

    assert refused.status_code == wrong.status_code == 403
    assert "That is not your password" in wrong.text
    assert "factor-key" not in refused.text + wrong.text
    enroll(signed_in, service, password=PASSWORD)


def test_setting_up_and_removing_end_other_sessions(
    service: Service, member: Member, signed_in: Reader
) -> None:
    other = reader(service)
    other.sign_in(member.email)
    app, _ = enroll(signed_in, service)

    assert is_open(signed_in)
    assert not is_open(other)
    sign_in(other, member.email, app.fresh_code())
    gone = signed_in.act(PAGE, f"{PAGE}/remove", code=app.fresh_code())
    assert gone.headers["location"].endswith("told=removed")
    assert not is_open(other)
    assert reader(service).sign_in(member.email).headers["location"] == "/console"


def test_the_earlier_app_works_until_the_new_one_is_confirmed(
    service: Service, member: Member, signed_in: Reader
) -> None:
    old, _ = enroll(signed_in, service)
    new, page = begin(signed_in, service, code=old.fresh_code())
    sign_in(reader(service), member.email, old.fresh_code())
    fields = {"csrf_token": csrf(page), "new_code": new.code()}

    wrong = signed_in.post(f"{PAGE}/confirm", fields | {"new_code": old.code(-1)})
    right = signed_in.post(f"{PAGE}/confirm", fields)

    assert wrong.status_code == 401
    assert new.secret in wrong.text
    assert right.status_code == 200
    browser = reader(service)
    browser.sign_in(member.email)
    assert enter_code(browser, old.fresh_code()).status_code == 401
    assert enter_code(browser, new.fresh_code()).status_code == 303


def test_a_new_password_or_address_does_not_go_around_the_factor(
    service: Service, member: Member, signed_in: Reader
) -> None:
    app, _ = enroll(signed_in, service)
    link = link_for_who_forgot(member)
    assert set_password(member.client, link, "another-long-one-1").status_code == 200

    browser = reader(service)
    first = browser.sign_in(member.email, "another-long-one-1")
    assert first.headers["location"].startswith(CODE)
    assert not is_open(browser)

    chief, moved = new_operator(service), f"moved-{member.email}"
    who = user_id(service, member.email)
    assert chief.post(f"/users/{who}/email", email=moved).status_code == 200
    set_password(member.client, latest_link(service, moved))
    assert browser.sign_in(moved).headers["location"].startswith(CODE)
    assert enter_code(browser, app.fresh_code()).status_code == 303


def test_a_second_operator_resets_a_lost_factor(
    service: Service, member: Member, signed_in: Reader
) -> None:
    enroll(signed_in, service)
    chief, who = new_operator(service), user_id(service, member.email)
    tokens = member.bearer()
    (seen,) = chief.get("/users", words=member.email).json()["users"]
    assert seen["secondFactor"]

    done = chief.post(f"/users/{who}/second-factor/reset")

    assert done.status_code == 200
    assert not is_open(signed_in)
    assert member.client.get("/v1/user/token/list", headers=tokens).status_code == 401
    assert "An operator reset the second factor" in mails(service, member.email)[-1]["text"]
    assert reader(service).sign_in(member.email).headers["location"] == "/console"
    assert chief.post(f"/users/{who}/second-factor/reset").status_code == 409


@pytest.mark.parametrize("way", ["command", "member's page", "operators' page"])
def test_a_lost_factor_is_reset_by_command_and_page_too(
    service: Service, member: Member, way: str
) -> None:
    chief, staff = new_operator(service), reader(service)
    staff.sign_in(chief.email)
    email = new_operator(service).email if way == "operators' page" else member.email
    lost = reader(service)
    lost.sign_in(email)
    enroll(lost, service)
    pages = {
        "member's page": f"/console/operator/members/{member.entity_id}",
        "operators' page": "/console/operator/people",
    }

    if way == "command":
        assert "tokens ended" in service.cli("admin", "reset-factor", email).stdout
    else:
        assert "Reset second factor" in staff.get(pages[way]).text
        done = staff.act(pages[way], f"{pages[way]}/second-factor", email=email)
        assert done.headers["location"].endswith("told=factor")

    assert not is_open(lost)
    assert reader(service).sign_in(email).headers["location"] == "/console"


def test_where_tokens_by_password_are_off_no_code_gives_one(
    service: Service, member: Member, signed_in: Reader
) -> None:
    app, _ = enroll(signed_in, service)
    code = SecretText(app.fresh_code())

    async def decided(dependencies: Dependencies) -> list[object]:
        async with dependencies.transaction() as tx:
            user = await People(tx).by_username(member.email)
            assert user is not None
            return [
                await admit_token(
                    tx,
                    user,
                    otp,
                    Caller("nobody"),
                    mode=TokenFactor.OFF,
                    roles=FactorRoles.NONE,
                )
                for otp in (None, code)
            ]

    assert service.in_store(decided) == [TOKENS_OFF, TOKENS_OFF]


def test_forms_of_another_site_are_refused_at_the_second_step(
    service: Service, member: Member, signed_in: Reader
) -> None:
    app, _ = enroll(signed_in, service)
    browser = reader(service)
    browser.sign_in(member.email)
    fields = {"csrf_token": browser.word(CODE), "code": app.fresh_code()}

    cross = browser.post(CODE, fields, **{"Sec-Fetch-Site": "cross-site"})
    stale = browser.post(CODE, fields | {"csrf_token": "A" * 43})

    assert cross.status_code == stale.status_code == 403
    assert enter_code(browser, fields["code"]).status_code == 303, "the code was not used up"


def test_an_otp_that_is_sent_is_checked_where_none_is_asked_for(
    service: Service, member: Member, signed_in: Reader
) -> None:
    """The default keeps the specification: username and password alone give a token."""
    app, _ = enroll(signed_in, service)

    def token(**otp: str) -> int:
        form = {"username": member.email, "password": PASSWORD, **otp}
        return member.client.post("/v1/user/token/generate", data=form).status_code

    assert token() == 200
    assert token(otp="000000") == 401
    assert token(otp=app.fresh_code()) == 200


def test_each_step_is_in_the_audit(service: Service, member: Member, signed_in: Reader) -> None:
    app, codes = enroll(signed_in, service)
    browser = reader(service)
    browser.sign_in(member.email)
    enter_code(browser, "000000")
    enter_code(browser, app.fresh_code())
    browser.act(PAGE, f"{PAGE}/remove", code=codes[0])
    chief = new_operator(service)

    found = chief.get("/audit", userId=user_id(service, member.email)).json()["events"]

    names = [one["event"] for one in found]
    for name in ("add", "refuse", "use", "remove"):
        assert f"user:factor:{name}" in names
    assert app.secret not in str(found)
