"""Faults of the sandbox: what the clients of one entity meet, and no one else."""

import base64
import json
import time
from datetime import datetime
from typing import get_args

import httpx2
import jwt
import pytest
from tests.http.token.signed_in import signed_in
from tests.support.members import Member, new_member
from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.service import PASSWORD, Service

from mudra.demo.faults.fault import FaultKind
from mudra.demo.faults.wire import Kind


def switch(admin: Member, kind: str, *, end: bool = False, **members: str) -> httpx2.Response:
    """Switch a fault on, or end it, as a member's admin."""
    body = {"entityId": admin.entity_id, "kind": kind, **members}
    path = "/sandbox/v1/faults" + ("/end" if end else "")
    return admin.client.post(admin.service.root + path, json=body, headers=admin.bearer())


def switched(member: Member, kind: str, *, by: str = "", lasts: str = "PT1H") -> dict[str, object]:
    answer = switch(member, kind, by=by, lasts=lasts)
    assert answer.status_code == 200, answer.text
    (fault,) = answer.json()["faults"]
    assert isinstance(fault, dict)
    return fault


def oauth_token(member: Member, secret: str) -> httpx2.Response:
    return member.client.post(
        "/oauth2/token",
        data={"grant_type": "client_credentials"},
        auth=(member.entity_id, secret),
    )


def registry(member: Member, token: str) -> httpx2.Response:
    return member.client.get(
        f"{member.service.root}/cr/v2/entityInfo/AA", headers={"Authorization": f"Bearer {token}"}
    )


def claims_of(token: str) -> dict[str, int]:
    claims = jwt.decode(token, options={"verify_signature": False})
    assert isinstance(claims, dict)
    return claims


def kid_of(token: str) -> str:
    return str(jwt.get_unverified_header(token)["kid"])


def kids(client: httpx2.Client, url: str) -> set[str]:
    return {key["kid"] for key in client.get(url).json()["keys"]}


def test_the_api_knows_the_kinds_of_the_rule() -> None:
    assert set(get_args(Kind)) == {kind.value for kind in FaultKind}


def test_an_expired_secret_is_refused_as_the_specification_says(each_member: Member) -> None:
    secret = each_member.secret()
    assert each_member.entity_token(secret).status_code == 200
    fault = switched(each_member, "expired-secret")

    refused = each_member.entity_token(secret)
    assert refused.status_code == 401
    assert refused.json()["errorCode"] == "SecretExpired"
    assert str(fault["startsAt"])[:19] in refused.json()["errorMsg"]
    assert refused.headers["x-sandbox-fault"] == "expired-secret"
    assert oauth_token(each_member, secret).json()["error"] == "invalid_client"
    wrong = each_member.entity_token("wrong")
    assert wrong.json()["errorCode"] == "Unauthorized"

    assert switch(each_member, "expired-secret", end=True).status_code == 200
    assert each_member.entity_token(secret).status_code == 200


def test_a_grace_warning_comes_with_a_token_and_its_sunset(member: Member) -> None:
    secret = member.secret()
    fault = switched(member, "grace-warning")

    warned = member.entity_token(secret)
    assert warned.status_code == 200
    assert str(fault["endsAt"]) in warned.json()["message"]
    assert "sunset" in warned.headers
    assert registry(member, warned.json()["accessToken"]).status_code == 200


def test_too_many_requests_are_answered_with_the_time_to_wait(each_member: Member) -> None:
    secret = each_member.secret()
    token = each_member.entity_token(secret).json()["accessToken"]
    switched(each_member, "too-many-requests", by="PT7S")

    answers = [each_member.entity_token(secret), registry(each_member, token)]
    answers.append(oauth_token(each_member, secret))
    asked = {"token": token}
    answers.append(
        each_member.client.post(
            "/oauth2/introspect", data=asked, auth=(each_member.entity_id, secret)
        )
    )
    assert [one.status_code for one in answers] == [429] * 4
    assert {one.headers["retry-after"] for one in answers} == {"7"}
    assert answers[0].json()["errorCode"] == "TooManyAttempts"
    assert answers[2].json()["error"] == "temporarily_unavailable"


def test_an_unavailable_service_says_when_to_try_again(member: Member) -> None:
    secret = member.secret()
    switched(member, "unavailable", by="PT9S")

    refused = member.entity_token(secret)
    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "9"
    assert refused.json()["errorCode"] == "ServiceUnavailable"
    # The admin, by whose token the fault is ended, is not the entity.
    assert member.read().status_code == 200


def test_a_slow_answer_comes_after_its_time_and_combines(member: Member) -> None:
    secret = member.secret()
    switched(member, "slow", by="PT1S")
    switched(member, "unavailable")
    began = time.monotonic()

    assert member.entity_token(secret).status_code == 503
    assert time.monotonic() - began >= 1


@pytest.mark.parametrize(("by", "seconds"), [("PT15M", 900), ("-P2D", -172_800)])
def test_a_clock_jump_moves_the_times_of_tokens(member: Member, by: str, seconds: int) -> None:
    secret = member.secret()
    switched(member, "clock-jump", by=by)

    now = member.service.wall()
    answer = member.entity_token(secret)
    claims = claims_of(answer.json()["accessToken"])
    assert abs(claims["iat"] - now - seconds) < 30
    assert claims["nbf"] == claims["iat"]
    assert claims["exp"] - claims["iat"] == 86_400
    at = datetime.fromisoformat(answer.json()["timestamp"]).timestamp()
    assert abs(at - now - seconds) < 30
    by_oauth = claims_of(oauth_token(member, secret).json()["access_token"])["iat"]
    assert abs(by_oauth - now - seconds) < 30
    token = answer.json()["accessToken"]
    assert not member.service.introspected(token, member.entity_id, secret)["active"]


def test_after_a_key_change_both_keys_are_valid(each_member: Member) -> None:
    member, secret = each_member, each_member.secret()
    other = new_member(member.service)
    old = member.entity_token(secret).json()["accessToken"]

    fault = switched(member, "key-change")
    new = member.entity_token(secret).json()["accessToken"]
    assert kid_of(new) == fault["kid"] != kid_of(old)
    keys = member.client.get("/protocol/openid-connect/certs").json()["keys"]
    (key,) = [key for key in keys if key["kid"] == fault["kid"]]
    no_times = {f"verify_{claim}": False for claim in ("aud", "iat", "nbf", "exp")}
    jwt.decode(new, jwt.PyJWK(key).key, algorithms=["RS256"], options=no_times)
    assert [registry(member, token).status_code for token in (old, new)] == [200, 200]
    assert kid_of(other.entity_token(other.secret()).json()["accessToken"]) == kid_of(old)

    switch(member, "key-change", end=True)
    assert kid_of(member.entity_token(secret).json()["accessToken"]) == kid_of(old)
    assert registry(member, new).status_code == 200
    member.service.advance("PT27H")
    assert str(fault["kid"]) not in kids(member.client, "/protocol/openid-connect/certs")


def test_after_a_key_drop_only_new_tokens_are_valid(member: Member) -> None:
    secret = member.secret()
    old = member.entity_token(secret).json()["accessToken"]
    member.service.advance("PT2S")
    fault = switched(member, "key-drop")

    new = member.entity_token(secret).json()["accessToken"]
    assert registry(member, old).status_code == 401
    assert registry(member, new).status_code == 200
    assert member.service.introspected(old, member.entity_id, secret) == {"active": False}
    own = f"{member.service.root}/sandbox/v1/entities/{member.entity_id}/jwks.json"
    assert kids(member.client, own) == {fault["kid"]}
    assert kid_of(old) in kids(member.client, "/protocol/openid-connect/certs")


def test_no_one_else_meets_a_fault(service: Service, member: Member) -> None:
    other = new_member(service)
    secret, token = other.secret(), other.entity_token(other.secret()).json()["accessToken"]
    mine = member.entity_token(member.secret()).json()["accessToken"]
    switched(member, "unavailable")

    answers = [other.entity_token(secret), oauth_token(other, secret), registry(other, token)]
    assert [one.status_code for one in answers] == [200, 200, 200]
    # Whatever else a request holds: who asks is the one of the form, or of the header.
    held = other.client.post(
        "/v1/entity/token/generate",
        data={"id": other.entity_id, "secret": secret},
        # An encoding is left to the application, behind the faults.
        headers={"Authorization": f"Bearer {mine}", "Content-Encoding": "identity"},
    )
    assert held.status_code == 200
    asked = other.client.post(
        "/oauth2/introspect", data={"token": mine}, auth=(other.entity_id, secret)
    )
    assert asked.json()["active"] is True
    named = {"id": member.entity_id, "client_id": member.entity_id}
    by_header = other.client.post(
        "/oauth2/token",
        data={"grant_type": "client_credentials", **named},
        auth=(other.entity_id, secret),
    )
    assert by_header.status_code == 200
    assert registry(member, mine).status_code == 503


def test_a_fault_ends_by_itself(member: Member) -> None:
    secret = member.secret()
    switched(member, "unavailable")
    assert member.entity_token(secret).status_code == 503

    member.service.advance("PT1H1S")
    assert member.entity_token(secret).status_code == 200
    mine = member.client.get(f"{member.service.root}/sandbox/v1/faults", headers=member.bearer())
    assert mine.json()["faults"] == []


def test_only_admin_and_operator_switch(service: Service, member: Member) -> None:
    other, operator = signed_in(new_member(service)), new_operator(service, "members")
    weak = new_operator(service, "keys")
    token = other.entity_token(other.secret()).json()["accessToken"]
    url = f"{service.root}/sandbox/v1/faults"
    body = {"entityId": member.entity_id, "kind": "unavailable"}
    for path in (url, f"{url}/end"):
        for of, missing in ((member.entity_id, 401), ("NO-SUCH-ENTITY", 401)):
            sent = body | {"entityId": of}
            answer = other.client.post(path, json=sent, headers=other.bearer())
            assert answer.status_code == missing, answer.text
        by_entity = other.client.post(path, json=body, headers={"Authorization": f"Bearer {token}"})
        assert by_entity.status_code == 401
        assert other.client.post(path, json=body).status_code == 401
        assert weak.client.post(path, json=body, headers=weak.headers).status_code == 401
    hidden = other.client.get(url, params={"entityId": member.entity_id}, headers=other.bearer())
    assert hidden.status_code == 401

    by_operator = operator.client.post(url, json=body, headers=operator.headers)
    assert by_operator.json()["faults"][0]["byOperator"] is True
    for answer in (
        switch(member, "unavailable", by="PT1S", lasts="PT1S"),
        switch(member, "unavailable", end=True),
        switch(member, "", end=True),
    ):
        assert answer.status_code == 409
        assert "operator" in answer.json()["errorMsg"]
    assert member.entity_token(member.secret()).headers["retry-after"] == "30"
    seen = operator.client.get(url, headers=operator.headers).json()["faults"]
    assert member.entity_id in {one["entityId"] for one in seen}
    unseen = other.client.get(url, headers=other.bearer()).json()["faults"]
    assert unseen == []
    unknown = operator.client.post(
        url, json=body | {"entityId": "NO-SUCH-ENTITY"}, headers=operator.headers
    )
    assert unknown.status_code == 409
    ended = operator.client.post(f"{url}/end", json=body, headers=operator.headers)
    assert [one["kind"] for one in ended.json()["faults"]] == ["unavailable"]
    assert member.entity_token(member.secret()).status_code == 200


@pytest.mark.parametrize(
    ("kind", "by", "lasts", "word"),
    [
        ("slow", "PT121S", "PT1H", "from 1 to 120"),
        ("slow", "-PT1S", "PT1H", "from 1 to 120"),
        ("clock-jump", "PT0S", "PT1H", "not 0"),
        ("clock-jump", "P99999W", "PT1H", "34560000"),
        ("key-change", "PT1S", "PT1H", "left out"),
        ("unavailable", "", "P8D", "P7D"),
        ("unavailable", "", "PT0S", "PT1S"),
        ("unavailable", "", "-PT1H", "lasts"),
        ("unavailable", "", "P99999W", "P7D"),
        ("slow", "P99999DT999999999M", "PT1H", "from 1 to 120"),
        ("on-fire", "", "PT1H", "kind"),
    ],
)
def test_what_is_not_possible_is_refused_with_what_is(
    unharmed: Member, kind: str, by: str, lasts: str, word: str
) -> None:
    refused = switch(unharmed, kind, by=by, lasts=lasts)

    assert refused.status_code == (400 if word in {"kind", "lasts"} else 409)
    assert word in refused.json()["errorMsg"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("expired-secret", "grace-warning"),
        ("too-many-requests", "unavailable"),
        ("key-change", "key-drop"),
        ("clock-jump", "key-drop"),
    ],
)
def test_what_does_not_combine_is_refused(member: Member, first: str, second: str) -> None:
    switched(member, first)

    refused = switch(member, second)
    assert refused.status_code == 409
    assert first in refused.json()["errorMsg"]
    again = switched(member, first, lasts="PT2H")
    (listed,) = member.client.get(
        f"{member.service.root}/sandbox/v1/faults",
        params={"entityId": member.entity_id},
        headers=member.bearer(),
    ).json()["faults"]
    assert listed["endsAt"] == again["endsAt"]


def test_an_assertion_and_odd_requests_are_read_without_harm(member: Member) -> None:
    switched(member, "unavailable")
    claims = base64.urlsafe_b64encode(json.dumps({"sub": member.entity_id}).encode()).decode()
    form = {"grant_type": "client_credentials", "client_assertion": f"e30.{claims}.x"}
    assert member.client.post("/oauth2/token", data=form).status_code == 503
    deep = b"client_assertion=a." + base64.b64encode(b'{"x":' + b"[" * 3001) + b".c"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    for body in (b"", b"\xff\xfe", b"&" * 9000, b"client_assertion=a.b.c", deep, b"id=%00"):
        answer = member.client.post("/oauth2/token", content=body, headers=headers)
        assert answer.status_code in {400, 401, 413}, answer.text


def test_the_audit_names_who_switched_what(member: Member) -> None:
    switched(member, "slow", by="PT3S")
    switch(member, "slow", end=True)
    events = json.loads(
        member.service.cli("audit", "list", "--entity", member.entity_id, "--json").stdout
    )
    assert {"sandbox:fault:on", "sandbox:fault:off"} <= {one["event"] for one in events}


def test_the_page_switches_a_fault_and_warns_of_it(service: Service, member: Member) -> None:
    other, operator = new_member(service), new_operator(service, "members", "keys")
    browser, page = reader(service), f"/console/entity/{member.entity_id}/faults"
    browser.sign_in(member.email)
    assert "No fault is on." in browser.get(page).text
    slow = {"kind": "slow", "lasts": "PT1H"}
    refused = browser.act(page, page, **slow, **{"amount-slow": "999"})
    assert refused.status_code == 409
    assert "from 1 to 120" in refused.text
    for amount in ("five", "-", "--5", "5S1M"):
        typed = {**slow, "amount-slow": amount}
        assert browser.act(page, page, **typed).status_code == 400
    # The form names another entity: it is the page's that counts.
    done = browser.act(page, page, kind="unavailable", lasts="PT10M", entityId=other.entity_id)
    assert done.status_code == 303
    assert member.entity_token(member.secret()).status_code == 503
    assert other.entity_token(other.secret()).status_code == 200
    overview = browser.get(f"/console/entity/{member.entity_id}").text
    assert "A sandbox fault is on" in overview
    stranger = reader(service)
    stranger.sign_in(other.email)
    assert "sandbox fault" not in stranger.get(f"/console/entity/{other.entity_id}").text
    assert stranger.get(page).status_code == 403

    staff, all_page = reader(service), "/console/operator/faults"
    staff.sign_in(operator.email)
    assert "sandbox fault" in staff.get("/console/operator/keys").text.lower()
    assert member.entity_id in staff.get(all_page).text
    ended = staff.act(all_page, f"{all_page}/end", kind="unavailable", entityId=member.entity_id)
    assert ended.status_code == 303
    assert member.entity_token(member.secret()).status_code == 200
    staff.act(all_page, all_page, kind="expired-secret", lasts="PT1H", entityId=member.entity_id)
    kept = browser.act(page, f"{page}/end", kind="expired-secret")
    assert kept.status_code == 409
    assert f'action="{page}/end"' not in browser.get(page).text
    keeper = reader(service)
    keeper.sign_in(new_operator(service, "keys").email)
    assert keeper.get(all_page).status_code == 403


def test_the_command_switches_and_says_where_there_are_none(
    service: Service, member: Member
) -> None:
    service.cli("login", member.email, "--password-stdin", stdin=f"{PASSWORD}\n")
    on = service.cli("sandbox", "fault", "on", member.entity_id, "slow", "--by", "PT1S", "--json")
    assert json.loads(on.stdout)["faults"][0]["seconds"] == 1
    assert "slow" in service.cli("sandbox", "fault", "list").stdout
    wrong = service.cli(
        "sandbox", "fault", "on", member.entity_id, "slow", "--by=-PT1S", check=False
    )
    assert wrong.exit_code == 1
    assert "from 1 to 120" in wrong.output
    ended = service.cli("sandbox", "fault", "off", member.entity_id, "--json")
    assert [one["kind"] for one in json.loads(ended.stdout)["faults"]] == ["slow"]
