"""Permitted acts combined: proofs and codes carried over, and members suspended in between."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.mailbox import latest_link
from tests.support.members import Member, new_member, set_password
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, new_operator
from tests.support.people.second_factor import PAGE, enroll, enter_code, user_id
from tests.support.service import PASSWORD, Service

OTHER = "granite otter velvet moon"


@pytest.fixture(scope="module")
def chief(service: Service) -> Operator:
    return new_operator(service, "members")


@pytest.fixture(scope="module")
def searching(service: Service) -> Reader:
    return signed_in(service, new_operator(service).email)


def signed_in(service: Service, email: str, password: str = PASSWORD) -> Reader:
    browser = reader(service)
    assert browser.sign_in(email, password).status_code == 303
    return browser


def suspend(chief: Operator, entity_id: str) -> None:
    done = chief.post(f"/members/{entity_id}/status", status="suspended", reason="a test")
    assert done.status_code == 200, done.text


def test_a_recovery_code_opens_one_session_and_no_other_account(
    service: Service, member: Member
) -> None:
    _, codes = enroll(signed_in(service, member.email), service)
    other = new_member(service)
    enroll(signed_in(service, other.email), service)
    stranger = signed_in(service, other.email)
    assert enter_code(stranger, codes[0]).status_code == 401

    twins = [signed_in(service, member.email) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda one: enter_code(one, codes[0]).status_code, twins))
    assert answers.count(303) == 1, answers


def test_a_code_of_a_factor_that_was_reset_opens_nothing(
    service: Service, chief: Operator, member: Member
) -> None:
    browser = signed_in(service, member.email)
    app, codes = enroll(browser, service)
    waiting = signed_in(service, member.email)
    word = waiting.word("/console/sign-in/code")
    who = user_id(service, member.email)
    assert chief.post(f"/users/{who}/second-factor/reset").status_code == 200

    sent = {"csrf_token": word, "code": codes[0]}
    assert waiting.post("/console/sign-in/code", sent).headers.get("location", "") != "/console"
    assert waiting.get("/console/account").status_code != 200
    assert browser.get("/console/account").status_code != 200
    again = signed_in(service, member.email)
    begun = again.act(PAGE, f"{PAGE}/begin", code=codes[1])
    enroll(again, service)
    assert begun.status_code == 200
    late = signed_in(service, member.email)
    for code in (codes[1], app.fresh_code()):
        assert enter_code(late, code).status_code == 401


def test_a_proof_belongs_to_its_session_alone(service: Service, member: Member) -> None:
    path = f"/console/entity/{member.entity_id}/people/contact"
    old, young = signed_in(service, member.email), signed_in(service, member.email)
    service.advance("PT6M")
    sent = {"email": "it@member.example"}
    proven = young.act("/console/account", path, password=PASSWORD, **sent)
    assert proven.status_code == 303

    carried = old.act("/console/account", path, **sent)
    foreign = {"csrf_token": young.word("/console/account"), **sent}
    assert carried.status_code == 403
    assert old.post(path, foreign).status_code == 403

    cookies, word = dict(young.client.cookies), young.word("/console/account")
    young.post("/console/sign-out", {"csrf_token": word})
    young.client.cookies.update(cookies)
    replayed = young.post(path, {"csrf_token": word, **sent})
    assert "told=contact" not in replayed.headers.get("location", "")


def test_a_proof_ends_with_the_password_that_gave_it(
    service: Service, chief: Operator, member: Member
) -> None:
    path = f"/console/entity/{member.entity_id}/people/contact"
    browser = signed_in(service, member.email)
    word = browser.word("/console/account")
    assert chief.post(f"/users/{user_id(service, member.email)}/invite").status_code == 200
    link = latest_link(service, member.email)
    assert set_password(service.client(), link, OTHER).status_code == 200

    answer = browser.post(path, {"csrf_token": word, "email": "it@evil.example"})

    assert "told=contact" not in answer.headers.get("location", "")


def test_a_member_suspended_between_two_steps_takes_none_further(
    service: Service, chief: Operator, member: Member
) -> None:
    headers, secret = member.bearer(), member.secret()
    token = member.entity_token(secret).json()["accessToken"]
    own = {"Authorization": f"Bearer {token}"}
    metrics, hook = f"{service.root}/metrics/perf/v1", {"url": "https://hooks.example/a"}
    assert member.client.get(f"{metrics}/incidents", headers=own).status_code == 200
    suspend(chief, member.entity_id)

    calls = {
        "token": member.entity_token(secret),
        "incidents": member.client.get(f"{metrics}/incidents", headers=own),
        "hooks": member.client.get(f"{metrics}/webhooks", headers=own),
        "hook": member.client.post(f"{metrics}/webhooks", json=hook, headers=own),
    }

    assert {name: one.status_code for name, one in calls.items()} == dict.fromkeys(calls, 401)
    assert member.reset(headers).status_code == 200
    assert member.entity_token(member.secret()).status_code == 401, "a new secret restores nothing"


def test_a_disabled_operators_session_and_token_find_nothing(
    service: Service, chief: Operator
) -> None:
    spy = new_operator(service, "members")
    browser = signed_in(service, spy.email)
    assert chief.post(f"/users/{user_id(service, spy.email)}/disable").status_code == 200

    assert browser.get("/console/operator/search?q=bank").status_code != 200
    assert spy.get("/users", words="bank").status_code == 401


@pytest.mark.parametrize(
    "query", ["q=" + "a" * 6000, "q=a&q=b", "q=%25_%5C", "q=%F0%9F%92%A9%ED%A0%80"]
)
def test_a_search_with_odd_words_is_bounded_and_redirects_nowhere(
    service: Service, searching: Reader, query: str
) -> None:
    answer = searching.get(f"/console/operator/search?{query}")

    assert answer.status_code in {200, 400, 414}
    assert len(answer.content) < 100_000


def test_a_name_in_the_search_is_never_markup(service: Service, searching: Reader) -> None:
    typed = "%3Cscript%3Ealert(1)%3C/script%3E%22onfocus=%22x"

    page = searching.get(f"/console/operator/search?q={typed}").text

    assert "<script>alert" not in page
    assert 'onfocus="x' not in page


def test_an_address_of_another_site_is_no_target_of_the_search(searching: Reader) -> None:
    for typed in ("//evil.example", "https://evil.example", "..%2F..%2Fevil"):
        answer = searching.get(f"/console/operator/search?q={typed}")
        assert answer.status_code == 200


@pytest.mark.parametrize("scope", ["members", "registry", "health", "keys", "audit"])
def test_a_search_finds_people_only_for_the_scope_members(
    service: Service, member: Member, scope: str
) -> None:
    browser = signed_in(service, new_operator(service, scope).email)

    exact = browser.get(f"/console/operator/search?q={member.email}")
    part = browser.get(f"/console/operator/search?q={member.email[:15]}").text

    assert exact.status_code == (303 if scope == "members" else 200)
    assert (member.email in part) == (scope == "members")
