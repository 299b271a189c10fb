"""What tokens say, how long they hold, and how they are presented (specification 2.2, 5, 8)."""

import re
import uuid

import httpx2
import jwt
import pytest
from tests.support.members import Member, new_member
from tests.support.service import Service


def claims_of(token: str) -> dict[str, object]:
    return jwt.decode(token, options={"verify_signature": False})


@pytest.mark.parametrize("entity_type", ["AA", "FIP", "FIU"])
def test_an_entity_token_names_its_entity_and_is_valid_for_24_hours(
    service: Service, entity_type: str
) -> None:
    member = new_member(service, entity_type)
    shown = member.read().json()

    answer = member.entity_token(shown["secret"]).json()

    assert set(answer) == {"ver", "timestamp", "txnId", "accessToken", "expiresIn", "tokenType"}
    assert (answer["expiresIn"], answer["tokenType"]) == (86400, "Bearer")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", answer["timestamp"])
    claims = claims_of(answer["accessToken"])
    issued_at, jti = claims["iat"], claims["jti"]
    assert claims == {
        "iss": service.issuer,
        "sub": member.entity_id,
        "aud": "account-aggregator-network",
        "iat": issued_at,
        "nbf": issued_at,
        "exp": issued_at + 86400,
        "jti": jti,
        "typ": "Bearer",
        "azp": member.entity_id,
        "clientId": member.entity_id,
        "client_id": member.entity_id,
        "roles": entity_type,
        "scope": "entity",
        "secret-expiry-ts": shown["expiresOn"],
    }
    assert str(uuid.UUID(jti)) == jti
    header = jwt.get_unverified_header(answer["accessToken"])
    assert (header["alg"], header["typ"]) == ("RS256", "JWT")
    assert header["kid"]


def test_an_entity_token_ends_after_24_hours(service: Service, member: Member) -> None:
    secret = member.secret()
    token = member.entity_token(secret).json()["accessToken"]

    service.advance("PT23H59M")
    before = service.introspected(token, member.entity_id, secret)
    service.advance("PT1M")
    after = service.introspected(token, member.entity_id, secret)

    assert (before["active"], after) == (True, {"active": False})


def test_a_user_token_is_valid_for_180_days_and_then_reported_as_expired(
    each_member: Member,
) -> None:
    answer = each_member.client.post(
        "/v1/user/token/generate",
        data={"username": each_member.email, "password": each_member.password},
    ).json()
    headers = {"Authorization": f"Bearer {answer['accessToken']}"}

    each_member.service.advance("P179DT23H59M")
    before = each_member.read(headers)
    each_member.service.advance("PT1M")

    assert (answer["expiresIn"], answer["tokenType"]) == (15552000, "Bearer")
    assert before.status_code == 200
    for refused in (each_member.read(headers), each_member.reset(headers)):
        assert (refused.status_code, refused.json()["errorCode"]) == (401, "TokenExpired")
        assert answer["accessToken"] not in refused.text


@pytest.mark.parametrize("scheme", ["", "Bearer ", "bearer ", "BEARER ", "bEaReR "])
def test_read_and_reset_take_the_token_with_and_without_the_scheme(
    member: Member, scheme: str
) -> None:
    headers = {"Authorization": scheme + member.user_token()}

    assert member.read(headers).status_code == 200
    assert member.reset(headers).status_code == 200


def test_an_entity_token_neither_reads_nor_resets_a_secret(member: Member) -> None:
    token = member.entity_token(member.secret()).json()["accessToken"]
    headers = {"Authorization": f"Bearer {token}"}

    for refused in (member.read(headers), member.reset(headers)):
        assert (refused.status_code, refused.json()["errorCode"]) == (401, "Unauthorized")


def test_another_s_entity_and_an_unknown_one_are_refused_alike(member: Member) -> None:
    other = new_member(member.service)
    headers = member.bearer()
    path = "/v1/entity/secret/"

    for action in ("read", "reset"):
        refusals = [
            member.client.post(path + action, json={"entityId": entity_id}, headers=headers)
            for entity_id in (other.entity_id, "T-nobody-FIP")
        ]
        seen = {(r.status_code, r.json()["errorCode"], r.json()["errorMsg"]) for r in refusals}
        assert len(seen) == 1
        assert seen.pop()[:2] == (401, "Unauthorized")


def asked(member: Member, which: str, **members: str) -> httpx2.Response:
    if which == "user token":
        return member.client.post(
            "/v1/user/token/generate",
            data={"username": member.email, "password": member.password, **members},
        )
    if which == "entity token":
        return member.client.post(
            "/v1/entity/token/generate",
            data={"id": member.entity_id, "secret": member.secret(), **members},
        )
    return member.client.post(
        f"/v1/entity/secret/{which}",
        json={"entityId": member.entity_id, **members},
        headers=member.bearer(),
    )


@pytest.mark.parametrize("which", ["user token", "entity token", "read", "reset"])
def test_the_transaction_id_comes_back_in_body_and_header(member: Member, which: str) -> None:
    mine = str(uuid.uuid4())

    echoed = asked(member, which, txnId=mine)
    refused = asked(member, which, txnId=mine, id="", username="", entityId="")

    for answer in (echoed, refused):
        assert answer.json()["txnId"] == answer.headers["X-Request-Id"] == mine
        assert answer.json()["ver"] == "1.0.0"
    assert (echoed.status_code, refused.status_code) == (200, 400)


@pytest.mark.parametrize("which", ["user token", "entity token", "read"])
def test_without_a_transaction_id_each_response_gets_a_new_one(member: Member, which: str) -> None:
    first, second = asked(member, which), asked(member, which)

    ids = {answer.json()["txnId"] for answer in (first, second)}
    assert len(ids) == 2
    assert all(str(uuid.UUID(one)) == one for one in ids)
