"""Signing keys while the service runs: published, handed over, dropped."""

import json
import re

import httpx2
import jwt
import pytest
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.people_store import People
from mudra.tokens.signing_keys.signing_key_service import SigningKeyService


@pytest.fixture
def keyed_member(keyed: Service) -> Member:
    return new_member(keyed)


def jwks(service: Service, path: str = "/.well-known/jwks.json") -> dict[str, dict[str, str]]:
    answer = httpx2.get(service.issuer + path, verify=NO_TLS)
    assert answer.status_code == 200
    return {key["kid"]: key for key in answer.json()["keys"]}


def listed(service: Service) -> list[dict[str, str]]:
    return json.loads(service.cli("keys", "list", "--json").stdout)


def kid_of(token: str) -> str:
    return jwt.get_unverified_header(token)["kid"]


def active(service: Service, kind: str) -> list[str]:
    """Those of a kind that sign, as the command lists them."""

    async def read(dependencies: Dependencies) -> list[str]:
        async with dependencies.transaction() as tx:
            found = await tx.service(SigningKeyService).list(await People(tx).now())
        return [one.key.kid for one in found if (one.key.kind, one.state) == (kind, "active")]

    return service.in_store(read)


def verified(service: Service, token: str) -> bool:
    key = jwt.PyJWK(jwks(service)[kid_of(token)])
    jwt.decode(
        token,
        key,
        algorithms=["RS256"],
        options={"verify_aud": False, "verify_iat": False, "verify_nbf": False},
    )
    return True


def test_both_addresses_publish_the_same_public_keys_and_nothing_private(keyed: Service) -> None:
    first = jwks(keyed)

    assert first == jwks(keyed, "/protocol/openid-connect/certs")
    for key in first.values():
        assert set(key) == {"kty", "use", "alg", "kid", "n", "e"}
        assert (key["kty"], key["use"], key["alg"]) == ("RSA", "sig", "RS256")
    assert set(first) == {key["kid"] for key in listed(keyed) if key["state"] != "retired"}


@pytest.mark.parametrize(
    "place",
    [
        "/iam/.well-known/openid-configuration",
        "/iam/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/iam",
    ],
)
def test_the_metadata_lead_to_the_keys_and_endpoints(keyed: Service, place: str) -> None:
    metadata = httpx2.get(f"{keyed.root}{place}", verify=NO_TLS).json()

    assert metadata["issuer"] == keyed.issuer
    assert httpx2.get(metadata["jwks_uri"], verify=NO_TLS).json()["keys"]
    for name in ("token", "introspection", "revocation"):
        assert httpx2.post(
            metadata[f"{name}_endpoint"], data={"token": ""}, verify=NO_TLS
        ).status_code in {
            400,
            401,
        }
    assert metadata["grant_types_supported"] == ["client_credentials"]
    assert metadata["response_types_supported"] == ["none"]
    for name in ("token", "introspection", "revocation"):
        methods = metadata[f"{name}_endpoint_auth_methods_supported"]
        assert methods == ["client_secret_basic", "client_secret_post", "private_key_jwt"]
        # RFC 8414 2 requires them next to private_key_jwt, and forbids "none" among them.
        algorithms = metadata[f"{name}_endpoint_auth_signing_alg_values_supported"]
        assert algorithms == metadata["token_endpoint_auth_signing_alg_values_supported"]
        assert "RS256" in algorithms
        assert "none" not in algorithms


def test_each_kind_of_token_has_a_key_of_its_own(keyed_member: Member) -> None:
    entity = keyed_member.entity_token(keyed_member.secret()).json()["accessToken"]
    user = keyed_member.user_token()

    assert [kid_of(entity)] == active(keyed_member.service, "entity")
    assert [kid_of(user)] == active(keyed_member.service, "user")


def test_a_rotated_key_was_published_before_it_signs_and_old_tokens_stay_valid(
    keyed_member: Member,
) -> None:
    service, secret = keyed_member.service, keyed_member.secret()
    before = keyed_member.entity_token(secret).json()["accessToken"]
    service.advance("PT1H")  # a pending key is usable now, or becomes so below

    changes = json.loads(service.cli("keys", "rotate", "--kind", "entity", "--json").stdout)
    following = next(c["kid"] for c in changes if c["what"] == "signs from")
    assert following in jwks(service)
    service.advance("PT1H")

    after = [keyed_member.entity_token(secret).json()["accessToken"] for _ in range(6)]
    assert {kid_of(token) for token in after} == {following}
    assert kid_of(before) != following
    assert verified(service, before)
    assert service.introspected(before, keyed_member.entity_id, secret)["active"] is True
    assert all(verified(service, token) for token in after)
    assert len(active(service, "entity")) == len(active(service, "user")) == 1


def test_a_fresh_key_signs_nothing_in_its_first_hour(keyed_member: Member) -> None:
    service, secret = keyed_member.service, keyed_member.secret()
    service.advance("PT1H")
    service.cli("keys", "rotate", "--kind", "entity")
    service.advance("PT1M")
    (signs,) = active(service, "entity")

    changes = json.loads(service.cli("keys", "rotate", "--kind", "entity", "--json").stdout)
    assert kid_of(keyed_member.entity_token(secret).json()["accessToken"]) == signs
    following = next(c["kid"] for c in changes if c["what"] == "signs from")
    assert following in jwks(service)
    service.advance("PT57M")
    assert kid_of(keyed_member.entity_token(secret).json()["accessToken"]) == signs
    service.advance("PT2M")
    assert kid_of(keyed_member.entity_token(secret).json()["accessToken"]) == following


def test_a_second_rotation_while_one_is_in_progress_does_nothing(keyed: Service) -> None:
    keyed.advance("PT1H")
    keyed.cli("keys", "rotate")
    under_way = listed(keyed)

    again = keyed.cli("keys", "rotate")
    third = keyed.cli("keys", "rotate")

    assert len(active(keyed, "entity")) == len(active(keyed, "user")) == 1
    assert "already in progress" in third.output
    assert again.exit_code == third.exit_code == 0
    assert {k["kid"] for k in under_way} <= {k["kid"] for k in listed(keyed)}


@pytest.mark.parametrize("kind", ["entity", "user"])
def test_an_emergency_drops_the_key_and_every_token_that_it_signed(
    keyed_member: Member, kind: str
) -> None:
    service, secret = keyed_member.service, keyed_member.secret()
    bearer = keyed_member.bearer()
    token = keyed_member.entity_token(secret).json()["accessToken"]
    (dropped,) = active(service, kind)

    service.cli("keys", "rotate", "--emergency", "--kind", kind)

    for _ in range(6):
        assert dropped not in jwks(service)
    if kind == "entity":
        assert service.introspected(token, keyed_member.entity_id, secret) == {"active": False}
        assert keyed_member.read(bearer).status_code == 200
    else:
        assert service.introspected(token, keyed_member.entity_id, secret)["active"] is True
        refused = keyed_member.read(bearer)
        assert (refused.status_code, refused.json()["errorCode"]) == (401, "Unauthorized")
    (signs,) = active(service, kind)
    fresh = (
        keyed_member.entity_token(secret).json()["accessToken"]
        if kind == "entity"
        else keyed_member.user_token()
    )
    assert kid_of(fresh) == signs != dropped
    assert verified(service, fresh)


def test_keys_are_rotated_by_the_service_itself_after_30_days(keyed_member: Member) -> None:
    service, secret = keyed_member.service, keyed_member.secret()
    (previous,) = active(service, "entity")
    token = keyed_member.entity_token(secret).json()["accessToken"]

    service.advance("P30D")
    service.wait_until(lambda: active(service, "entity") != [previous])

    fresh = keyed_member.entity_token(secret).json()["accessToken"]
    assert kid_of(fresh) != previous
    assert verified(service, fresh)
    assert previous in jwks(service)  # retired just now: its last token has yet to end
    assert kid_of(token) == previous
    service.advance("P1DT1H6M1S")
    assert previous not in jwks(service)


def test_the_page_never_says_that_a_key_signs_before_it_is_published(keyed: Service) -> None:
    """The first key signs from before it was made: clocks of nodes may differ."""
    staff = reader(keyed)
    assert staff.sign_in(new_operator(keyed, "keys").email).status_code == 303

    page = staff.get("/console/operator/keys").text

    assert re.search(r"published <time[^>]*>[^<]*</time> · signs since then", page)
    both = r'published <time[^>]*datetime="([^"]+)[^<]*</time> · signs from <time[^>]*datetime="([^"]+)'
    assert all(published <= signs for published, signs in re.findall(both, page))
