"""private_key_jwt: an entity authenticates by the key in its registry entry (RFC 7523)."""

import base64
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from tests.support.cheap_keys import rsa_key
from tests.support.dpop import KeyOfClient
from tests.support.members import new_member
from tests.support.people.operators import Operator, new_operator
from tests.support.registry.registry_members import Registry, payload_of
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.tokens.secrets.registered_key_store import RegisteredKeys

TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@dataclass(frozen=True)
class KeyHolder:
    """A member with a live entry, and the private key of its certificate."""

    registry: Registry
    key: RSAKey
    operator: Operator

    @property
    def entity_id(self) -> str:
        return self.registry.member.entity_id

    def claims(self, **changes: object) -> dict[str, object]:
        now = int(self.registry.member.service.wall())
        claims = {
            "iss": self.entity_id,
            "sub": self.entity_id,
            "aud": self.registry.member.service.issuer,
            "exp": now + 60,
            "jti": str(uuid.uuid4()),
        }
        return {name: value for name, value in {**claims, **changes}.items() if value is not None}

    def assertion(self, key: RSAKey | None = None, alg: str = "RS256", **changes: object) -> str:
        key = key or self.key
        header = {"alg": alg, "kid": str(key.kid)}
        return jwt.encode(header, self.claims(**changes), key, algorithms=[alg])

    def post(self, path: str, assertion: str, **form: str) -> httpx2.Response:
        fields = {"client_assertion_type": TYPE, "client_assertion": assertion, **form}
        return self.registry.member.client.post(path, data=fields)

    def token(self, assertion: str) -> httpx2.Response:
        return self.post("/oauth2/token", assertion, grant_type="client_credentials")

    def is_active(self, token: str) -> bool:
        answer = self.post("/oauth2/introspect", self.assertion(), token=token)
        assert answer.status_code == 200, answer.text
        return bool(answer.json()["active"])


@pytest.fixture(scope="module")
def operator(service: Service) -> Operator:
    return new_operator(service, "registry", "members")


@pytest.fixture(scope="module")
def holder(service: Service, operator: Operator) -> Iterator[KeyHolder]:
    return key_holder(service, operator)


def key_holder(service: Service, operator: Operator) -> KeyHolder:
    registry = Registry(new_member(service, "FIP"))
    kid = f"key-{uuid.uuid4().hex[:8]}"
    key = rsa_key(kid=kid, use="sig", alg="RS256")
    payload = payload_of(registry.member)
    payload["entityinfo"]["certificate"] = key.as_dict(private=False)
    answer = registry.submit(payload)
    assert answer.status_code == 200, answer.text
    approve(operator, registry.member.entity_id, "approve")
    return KeyHolder(registry, key, operator)


def jti_of(token: str) -> str:
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    return str(claims["jti"])


def approve(operator: Operator, entity_id: str, act: str) -> None:
    path = f"/registry/entries/{entity_id}/decide"
    assert operator.post(path, act=act, reason="a test").status_code == 200


@pytest.mark.parametrize("at_token_endpoint", [False, True])
def test_the_registered_key_gets_an_active_token(
    holder: KeyHolder, at_token_endpoint: bool
) -> None:
    issuer = holder.registry.member.service.issuer
    audience = f"{issuer}/oauth2/token" if at_token_endpoint else issuer

    answer = holder.token(holder.assertion(aud=[audience]))

    assert answer.status_code == 200, answer.text
    assert answer.json()["expires_in"] == 86400
    assert holder.is_active(answer.json()["access_token"])


@pytest.mark.parametrize("others", [["https://else.example"], [""]])
def test_an_assertion_for_another_server_as_well_is_refused(
    holder: KeyHolder, others: list[str]
) -> None:
    """L1: a server that makes a member sign for two would use it here (CVE-2025-27370)."""
    issuer = holder.registry.member.service.issuer

    for audiences in ([*others, issuer], [issuer, *others], [issuer, issuer]):
        answer = holder.token(holder.assertion(aud=audiences))

        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
        assert "aud must name this service alone" in answer.json()["error_description"]


def test_the_client_id_next_to_an_assertion_is_that_of_the_assertion(holder: KeyHolder) -> None:
    """L2 (RFC 7521 4.2)."""
    other = holder.post(
        "/oauth2/token", holder.assertion(), grant_type="client_credentials", client_id="ELSE-FIP"
    )
    own = holder.post(
        "/oauth2/token",
        holder.assertion(),
        grant_type="client_credentials",
        client_id=holder.entity_id,
    )

    assert (other.status_code, other.json()["error"]) == (401, "invalid_client")
    assert "client_id must be the sub of the assertion" in other.json()["error_description"]
    assert own.status_code == 200


def test_an_assertion_is_accepted_once(holder: KeyHolder) -> None:
    assertion = holder.assertion()

    statuses = [holder.token(assertion).status_code for _ in range(2)]

    assert statuses == [200, 401]


def test_an_assertion_used_at_introspection_gets_no_token(holder: KeyHolder) -> None:
    assertion = holder.assertion()

    introspected = holder.post("/oauth2/introspect", assertion, token="none")

    assert introspected.json() == {"active": False}
    assert holder.token(assertion).json()["error"] == "invalid_client"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"iss": "ELSE-FIP"}, "iss and sub"),
        ({"sub": ""}, "iss and sub"),
        ({"iss": "A" * 65, "sub": "A" * 65}, "iss and sub"),
        ({"aud": "https://else.example"}, "aud must name this service"),
        ({"aud": []}, "aud must name this service alone"),
        ({"jti": None}, "with iss, sub, aud, exp and jti"),
        ({"jti": ""}, "jti must have"),
        ({"jti": "x" * 129}, "jti must have"),
        ({"exp": None}, "with iss, sub, aud, exp and jti"),
        ({"exp": 1}, "exp: it has expired"),
        ({"exp": 10**18}, "seconds since the epoch"),
        ({"exp": True}, "with iss, sub, aud, exp and jti"),
        ({"nbf": 4_102_444_800}, "nbf or iat is in the future"),
        ({"iat": 4_102_444_800}, "nbf or iat is in the future"),
    ],
)
def test_a_wrong_claim_is_named(holder: KeyHolder, changes: dict[str, object], named: str) -> None:
    answer = holder.token(holder.assertion(**changes))

    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert named in answer.json()["error_description"]


def test_an_assertion_for_longer_than_five_minutes_is_refused(holder: KeyHolder) -> None:
    far = int(holder.registry.member.service.wall()) + 300 + 60 + 30

    answer = holder.token(holder.assertion(exp=far))

    assert "at most 300 seconds ahead" in answer.json()["error_description"]


def test_unknown_entity_wrong_key_and_wrong_algorithm_look_alike(holder: KeyHolder) -> None:
    other = rsa_key(kid=str(holder.key.kid))
    plain = {n: v for n, v in holder.key.as_dict(private=True).items() if n != "alg"}
    named = RSAKey.import_key({**holder.key.as_dict(private=True), "kid": "another"})
    without_entry = new_member(holder.registry.member.service, "FIU").entity_id

    answers = [
        holder.token(assertion)
        for assertion in (
            holder.assertion(key=other),
            holder.assertion(key=named),
            holder.assertion(key=RSAKey.import_key(plain), alg="PS256"),
            holder.assertion(iss="NOBODY-FIP", sub="NOBODY-FIP"),
            holder.assertion(iss=without_entry, sub=without_entry),
        )
    ]

    assert {(one.status_code, one.text) for one in answers} == {
        (answers[0].status_code, answers[0].text)
    }
    assert answers[0].status_code == 401


def test_a_changed_assertion_is_refused(holder: KeyHolder) -> None:
    head, payload, signature = holder.assertion().split(".")
    other = holder.assertion().split(".")[1]

    answers = [
        holder.token(text)
        for text in (
            f"{head}.{other}.{signature}",
            f"{head}.{payload}.",
            f"{head}.{payload}",
            "x",
            "é" * 10,
            "a" * 5000,
        )
    ]

    assert [one.status_code for one in answers] == [401] * 6


@pytest.mark.parametrize(
    "form",
    [{"client_assertion_type": "urn:else"}, {"client_secret": "x", "client_id": "y"}],
)
def test_another_type_or_a_second_way_is_an_invalid_request(
    holder: KeyHolder, form: dict[str, str]
) -> None:
    answer = holder.post(
        "/oauth2/token", holder.assertion(), **{"grant_type": "client_credentials", **form}
    )

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


def test_a_suspended_entry_gets_no_token_by_its_key(service: Service, operator: Operator) -> None:
    one = key_holder(service, operator)
    before = one.token(one.assertion()).status_code

    approve(operator, one.entity_id, "suspend")

    assert (before, one.token(one.assertion()).status_code) == (200, 401)


def test_the_issue_is_in_the_audit_log(holder: KeyHolder) -> None:
    token = holder.token(holder.assertion()).json()["access_token"]
    jti = holder.registry.member.service.introspected(
        token, holder.entity_id, holder.registry.secret
    )["jti"]

    found = holder.registry.member.service.cli(
        "audit", "list", "--entity", holder.entity_id, "--json"
    ).stdout

    assert str(jti) in found
    assert "private_key_jwt" in found


def test_a_token_for_an_assertion_is_bound_to_the_key_of_a_proof(holder: KeyHolder) -> None:
    client, service = KeyOfClient(), holder.registry.member.service
    url = f"{service.issuer}/oauth2/token"
    proof = client.proof("POST", url, service.wall())

    def ask(assertion: str) -> httpx2.Response:
        form = {"client_assertion_type": TYPE, "client_assertion": assertion}
        form |= {"grant_type": "client_credentials"}
        return holder.registry.member.client.post(url, data=form, headers={"DPoP": proof})

    assert ask(holder.assertion(exp=1)).json()["error"] == "invalid_client"
    answer, again = ask(holder.assertion()), ask(holder.assertion())

    assert answer.json()["token_type"] == "DPoP"
    assert holder.is_active(answer.json()["access_token"])
    assert (again.status_code, again.json()["error"]) == (400, "invalid_dpop_proof")
    shown = service.cli(
        *("audit", "list", "--entity", holder.entity_id, "--event", "entity:token:bind"), "--json"
    ).stdout
    (bound,) = [one["detail"] for one in json.loads(shown)]
    assert bound == {"jti": jti_of(answer.json()["access_token"]), "jkt": client.thumbprint}


def test_the_transaction_that_accepts_an_assertion_sees_a_suspension(
    service: Service, operator: Operator
) -> None:
    """Its request may have found the entity active in memory, and waited for a connection."""
    holder = key_holder(service, operator)

    async def has_key(dependencies: Dependencies) -> bool:
        async with dependencies.transaction() as tx:
            return await RegisteredKeys(tx).live_key(holder.entity_id) is not None

    assert service.in_store(has_key)
    approve(operator, holder.entity_id, "suspend")
    assert not service.in_store(has_key)
    approve(operator, holder.entity_id, "restore")
    path = f"/members/{holder.entity_id}/status"
    assert operator.post(path, status="suspended", reason="a test").status_code == 200
    assert not service.in_store(has_key)
