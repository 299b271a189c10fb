"""Sessions of the console over HTTP: sign-in, its throttle, CSRF, rights, and every end."""

import httpx2
import pytest
from tests.support.members import Member, link_for_who_forgot, new_member, set_password
from tests.support.people.console import Reader, reader
from tests.support.service import PASSWORD, Service

SIGN_IN = "/console/sign-in"


def page_of(member: Member) -> str:
    return f"/console/entity/{member.entity_id}"


@pytest.fixture(scope="module")
def resident(service: Service) -> Member:
    """A member that tests share which change nothing about it."""
    return new_member(service)


@pytest.fixture
def signed_in(service: Service, resident: Member) -> Reader:
    browser = reader(service)
    assert browser.sign_in(resident.email).status_code == 303
    return browser


def sent_to_sign_in(answer: httpx2.Response) -> bool:
    return answer.status_code == 303 and answer.headers["location"].startswith(SIGN_IN)


def test_a_right_password_begins_a_session_whose_cookie_no_script_reads(
    service: Service, resident: Member
) -> None:
    browser = reader(service)
    answer = browser.sign_in(resident.email)

    cookie = answer.headers["set-cookie"]
    assert answer.headers["location"] == "/console"
    assert {"HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
    assert browser.get(page_of(resident)).status_code == 200


def test_the_page_that_was_asked_for_comes_after_signing_in(
    service: Service, resident: Member
) -> None:
    browser = reader(service)
    asked = browser.get(page_of(resident))

    assert sent_to_sign_in(asked)
    to = browser.get(asked.headers["location"]).text.partition('name="to" value="')[2]
    assert browser.sign_in(resident.email, to=to.partition('"')[0]).headers["location"] == page_of(
        resident
    )


@pytest.mark.parametrize(
    "elsewhere", ["//evil.example", "https://evil.example", "/console/../iam", "/console\\x", "x"]
)
def test_signing_in_never_leads_elsewhere(
    service: Service, resident: Member, elsewhere: str
) -> None:
    assert reader(service).sign_in(resident.email, to=elsewhere).headers["location"] == "/console"


def test_an_unknown_name_and_a_wrong_password_are_reported_alike(
    service: Service, member: Member
) -> None:
    wrong = reader(service).sign_in(member.email, "not-the-password-at-all")
    unknown = reader(service).sign_in("nobody@member.example", "not-the-password-at-all")

    assert wrong.status_code == unknown.status_code == 401
    assert wrong.text.replace(member.email, "") == unknown.text.replace("nobody@member.example", "")
    assert "set-cookie" not in wrong.headers


def test_guesses_here_and_at_the_token_endpoint_are_counted_together(
    service: Service, member: Member
) -> None:
    browser = reader(service)
    guess = {"username": member.email, "password": "not-the-password-at-all"}
    for _ in range(2):
        assert browser.sign_in(member.email, guess["password"]).status_code == 401
        assert member.client.post("/v1/user/token/generate", data=guess).status_code == 401

    refused = browser.sign_in(member.email)
    assert refused.status_code == 429
    assert f"again in {refused.headers['retry-after']} second" in refused.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_another_site_cannot_sign_anybody_in_or_out(
    service: Service, resident: Member, signed_in: Reader, headers: dict[str, str]
) -> None:
    fields = {"username": resident.email, "password": PASSWORD}
    login = reader(service).post(SIGN_IN, fields, **headers)
    logout = signed_in.post(
        "/console/sign-out", {"csrf_token": signed_in.word(page_of(resident))}, **headers
    )

    assert login.status_code == logout.status_code == 403
    assert "set-cookie" not in login.headers
    assert signed_in.get(page_of(resident)).status_code == 200


def test_where_the_browser_is_silent_its_origin_decides(service: Service, resident: Member) -> None:
    fields = {"username": resident.email, "password": PASSWORD}
    browser = reader(service)
    answers = {
        origin: browser.client.post(service.root + SIGN_IN, data=fields, headers=headers)
        for origin, headers in {
            "ours": {"Origin": service.root},
            "another": {"Origin": "https://evil.example"},
            "opaque": {"Origin": "null"},
            "none": {},
        }.items()
    }

    assert {origin: a.status_code for origin, a in answers.items()} == {
        "ours": 303,
        "another": 403,
        "opaque": 403,
        "none": 403,
    }


@pytest.mark.parametrize("word", ["", "x", "A" * 43])
def test_a_form_without_the_session_s_word_changes_nothing(
    resident: Member, signed_in: Reader, word: str
) -> None:
    refused = signed_in.post("/console/sign-out", {"csrf_token": word})

    assert refused.status_code == 403
    assert "nothing was changed" in refused.text
    assert signed_in.get(page_of(resident)).status_code == 200


def test_signing_out_ends_the_session_itself_and_not_only_the_cookie(
    resident: Member, signed_in: Reader
) -> None:
    kept = dict(signed_in.client.cookies)
    assert signed_in.act(page_of(resident), "/console/sign-out").status_code == 303
    signed_in.client.cookies.update(kept)

    assert sent_to_sign_in(signed_in.get(page_of(resident)))


def test_another_s_entity_and_a_missing_one_look_alike(service: Service, signed_in: Reader) -> None:
    other = new_member(service)
    theirs = signed_in.get(page_of(other))
    missing = signed_in.get("/console/entity/NO-SUCH-ENTITY")

    assert theirs.status_code == missing.status_code == 403
    assert "Not yours to see" in theirs.text
    assert other.entity_id not in theirs.text


def test_a_new_password_ends_every_session_at_once(service: Service, member: Member) -> None:
    signed_in = reader(service)
    signed_in.sign_in(member.email)
    assert signed_in.get(page_of(member)).status_code == 200
    changed = set_password(member.client, link_for_who_forgot(member), "another-long-one-1")

    assert changed.status_code == 200
    assert sent_to_sign_in(signed_in.get(page_of(member)))


def test_a_session_ends_when_it_was_not_used_for_an_hour(
    service: Service, resident: Member, signed_in: Reader
) -> None:
    service.advance("PT59M")
    assert signed_in.get(page_of(resident)).status_code == 200
    service.advance("PT59M")
    assert signed_in.get(page_of(resident)).status_code == 200
    service.advance("PT61M")

    assert sent_to_sign_in(signed_in.get(page_of(resident)))


def test_a_form_of_an_ended_session_says_so_and_leads_back_to_its_page(
    service: Service, resident: Member, signed_in: Reader
) -> None:
    people = f"{page_of(resident)}/people"
    word = signed_in.word(people)
    service.advance("PT61M")
    sent = signed_in.post(f"{people}/add", {"email": "x@y.example", "csrf_token": word})

    assert sent.status_code == 403
    asked = sent.text  # the form of signing in, with what was typed
    assert "Your session had ended, so nothing was changed." in asked
    to = asked.partition('name="to" value="')[2].partition('"')[0]
    back = signed_in.sign_in(resident.email, to=to).headers["location"]
    assert signed_in.get(back).headers["location"] == people


def test_what_is_sent_while_one_types_never_takes_the_page_away(
    service: Service, resident: Member, signed_in: Reader
) -> None:
    page = f"{page_of(resident)}/registration"
    word = signed_in.word(page)
    assert signed_in.act(page, "/console/sign-out").status_code == 303
    typed = {"payload": "{}", "csrf_token": word}
    anonymous = signed_in.post(f"{page}/check", typed, **{"HX-Request": "true"})
    signed_in.sign_in(resident.email)
    stale = signed_in.post(f"{page}/check", typed, **{"HX-Request": "true"})
    sent = signed_in.post(f"{page}/submit", typed)

    assert anonymous.status_code == stale.status_code == sent.status_code == 403
    assert "hx-redirect" not in anonymous.headers
    assert f'href="{page}/submit">Open the page again' in sent.text


def test_a_live_page_of_an_ended_session_leads_back_to_itself(
    service: Service, resident: Member, signed_in: Reader
) -> None:
    page = f"{page_of(resident)}/health?days=7"
    live = {"HX-Request": "true", "HX-Current-URL": service.root + page}
    service.advance("PT61M")
    shown = signed_in.get(f"{page_of(resident)}/health", **live).headers["hx-redirect"]

    to = signed_in.get(shown).text.partition('name="to" value="')[2].partition('"')[0]
    assert signed_in.sign_in(resident.email, to=to).headers["location"] == page


def test_a_page_is_kept_nowhere_and_framed_by_no_one(signed_in: Reader, resident: Member) -> None:
    headers = signed_in.get(page_of(resident)).headers

    assert headers["cache-control"] == "no-store"
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in headers["content-security-policy"]


def test_an_address_without_a_page_says_so(signed_in: Reader) -> None:
    answer = signed_in.get("/console/no/such/page")

    assert answer.status_code == 404
    assert "There is no page at this address." in answer.text


def test_a_wrong_address_is_reported_in_a_page_and_that_of_a_form_leads_to_its_page(
    service: Service,
) -> None:
    browser = reader(service)
    for path in (
        "/console/operator/nowhere",
        "/console/entity/X/a/b",
        "/console/operator/incidents/x",
    ):
        answer = browser.get(path)
        assert answer.headers["content-type"].startswith("text/html"), path
        assert (answer.status_code, "There is no page" in answer.text) == (404, True), path
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]

    for form, page in {
        "/console/entity/X/secret/show": "/console/entity/X/secret",
        "/console/operator/keys/rotate": "/console/operator/keys",
    }.items():
        opened = browser.get(form)
        assert (opened.status_code, opened.headers["location"]) == (303, page)
    assert browser.post("/console/operator/board", {}).status_code == 405
    assert "your session has ended" in browser.get("/console/sign-in?to=%2Fconsole%2Faccount").text
