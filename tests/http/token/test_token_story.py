"""The member's story of specification 1.3, over HTTP."""

import jwt
import pytest
from tests.support.mailbox import latest_link
from tests.support.members import Member, onboard, set_password
from tests.support.service import Service


def test_an_invited_admin_gets_no_token_before_a_password_is_set(service: Service) -> None:
    _, email = onboard(service)

    answer = service.client().post(
        "/v1/user/token/generate", data={"username": email, "password": "anything-at-all-here"}
    )

    assert answer.status_code == 401
    assert answer.json()["errorCode"] == "Unauthorized"


def test_the_link_opens_a_page_and_opening_it_consumes_nothing(service: Service) -> None:
    _, email = onboard(service)
    link = latest_link(service, email)
    client = service.client()

    pages = [client.get(link) for _ in range(3)]
    answer = set_password(client, link)

    assert [page.status_code for page in pages] == [200, 200, 200]
    assert "Set your password" in pages[0].text
    assert pages[0].headers["referrer-policy"] == "no-referrer"
    assert answer.status_code == 200


def test_a_link_works_once(service: Service) -> None:
    _, email = onboard(service)
    link = latest_link(service, email)
    client = service.client()

    first, second = set_password(client, link), set_password(client, link)

    assert (first.status_code, second.status_code) == (200, 401)


@pytest.mark.parametrize("kind", ["entity", "user"])
def test_tokens_are_verified_by_pyjwt_through_the_published_keys(member: Member, kind: str) -> None:
    secret = member.secret()
    token = (
        member.entity_token(secret).json()["accessToken"]
        if kind == "entity"
        else member.user_token()
    )
    keys = jwt.PyJWKClient(f"{member.service.issuer}/protocol/openid-connect/certs")

    claims = jwt.decode(
        token,
        keys.get_signing_key_from_jwt(token),
        algorithms=["RS256"],
        issuer=member.service.issuer,
        options={"verify_aud": False, "verify_iat": False, "verify_nbf": False},
    )

    if kind == "entity":
        assert claims["azp"] == claims["clientId"] == claims["client_id"] == member.entity_id
        assert claims["roles"] == "FIP"
        assert claims["exp"] - claims["iat"] == 86400
    else:
        assert claims["entity_meta"] == {member.entity_id: ["entity-admin"]}
        assert claims["email"] == member.email
        assert claims["exp"] - claims["iat"] == 15552000
