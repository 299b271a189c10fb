"""Tokens that are bound to a key of the client, and the proofs that come with them (RFC 9449)."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx2
import jwt
import pytest
from tests.support.dpop import KeyOfClient
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.registry.registry_members import live_entry
from tests.support.service import Service

FORM = {"grant_type": "client_credentials"}


@dataclass(frozen=True)
class Holder:
    """A member whose program holds a key."""

    member: Member
    secret: str
    key: KeyOfClient

    @property
    def service(self) -> Service:
        return self.member.service

    def proof(self, method: str, url: str, token: str | None = None, **changes: Any) -> str:
        return self.key.proof(method, url, self.service.wall(), token, **changes)

    def oauth(self, proof: str | None = None, secret: str = "") -> httpx2.Response:
        auth = (self.member.entity_id, secret or self.secret)
        headers = {"DPoP": proof} if proof else {}
        return self.member.client.post("/oauth2/token", data=FORM, auth=auth, headers=headers)

    def token(self) -> str:
        answer = self.oauth(self.proof("POST", f"{self.service.issuer}/oauth2/token"))
        assert answer.status_code == 200, answer.text
        assert answer.json()["token_type"] == "DPoP"
        return str(answer.json()["access_token"])

    def plain(self) -> str:
        return str(self.oauth().json()["access_token"])

    def call(self, method: str, path: str, headers: dict[str, str]) -> httpx2.Response:
        url = self.service.root + path
        body = {"data": {"token": "x"}} if path.startswith("/iam") else {}
        return self.member.client.request(method, url, headers=headers, **body)


RESOURCES = [
    ("GET", "/cr/v2/entityInfo/AA"),
    ("HEAD", "/cr/v2/entityInfo/AA"),
    ("GET", "/cr/v2/entityInfo/FIP?at=2026-01-31T09:30:00Z"),
    ("POST", "/cr/v2/entityInfo/AA"),
    ("POST", "/cr/v2/lint/AA"),
    ("GET", "/metrics/perf/v1/feed"),
    ("POST", "/metrics/perf/v1/push"),
    ("GET", "/metrics/perf/v1/receipts"),
    ("POST", "/iam/oauth2/introspect"),
    ("POST", "/iam/oauth2/revoke"),
]


@pytest.fixture(scope="module")
def holder(service: Service) -> Holder:
    member = new_member(service, "AA")
    return Holder(member, member.secret(), KeyOfClient())


def claims_of(token: str) -> dict[str, Any]:
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return claims


def test_a_token_is_bound_to_the_key_of_its_proof(holder: Holder) -> None:
    bound, plain = claims_of(holder.token()), claims_of(holder.plain())

    assert bound.pop("cnf") == {"jkt": holder.key.thumbprint}
    assert bound.keys() == plain.keys()
    assert bound["typ"] == "Bearer", "members that do not know bindings go on accepting it"


def test_the_specified_call_binds_as_well(holder: Holder) -> None:
    url = f"{holder.service.issuer}/v1/entity/token/generate"
    form = {"id": holder.member.entity_id, "secret": holder.secret}

    answer = holder.member.client.post(url, data=form, headers={"DPoP": holder.proof("POST", url)})

    assert (answer.status_code, answer.json()["tokenType"]) == (200, "DPoP")
    assert claims_of(answer.json()["accessToken"])["cnf"] == {"jkt": holder.key.thumbprint}
    plain = holder.member.client.post(url, data=form)
    assert plain.json()["tokenType"] == "Bearer"
    assert "cnf" not in claims_of(plain.json()["accessToken"])
    wrong = holder.member.client.post(url, data=form, headers={"DPoP": "x"})
    assert (wrong.status_code, wrong.json()["errorCode"]) == (401, "ProofInvalid")


@pytest.mark.parametrize(("method", "path"), RESOURCES)
def test_wherever_a_token_is_accepted_a_bound_one_needs_a_proof(
    holder: Holder, method: str, path: str
) -> None:
    token, url = holder.token(), holder.service.root + path

    bearer = holder.call(method, path, {"Authorization": f"Bearer {token}"})
    with_proof = {"DPoP": holder.proof(method, url, token)}
    as_bearer = holder.call(method, path, {"Authorization": f"Bearer {token}", **with_proof})
    bare = holder.call(method, path, {"Authorization": f"DPoP {token}"})
    proven = holder.call(method, path, {"Authorization": f"DPoP {token}", **with_proof})
    again = holder.call(method, path, {"Authorization": f"DPoP {token}", **with_proof})
    plain = holder.call(method, path, {"Authorization": f"Bearer {holder.plain()}"})

    assert [bearer.status_code, as_bearer.status_code, bare.status_code] == [401] * 3
    assert "WWW-Authenticate" in bearer.headers
    assert proven.status_code == plain.status_code != 401, proven.text
    assert again.status_code == 401, "the proof is used up"
    if method != "HEAD" and path.startswith(("/cr", "/metrics")):
        assert bearer.json()["errorCode"] == "ProofInvalid"
        assert bearer.headers["WWW-Authenticate"].startswith("DPoP error=")


def test_a_copied_token_does_not_use_the_limits_of_its_holder_up(holder: Holder) -> None:
    token, path = holder.token(), "/cr/v2/lint/AA"
    copied = {"Authorization": f"DPoP {token}", "DPoP": holder.proof("GET", "x", token)}

    flood = {holder.call("POST", path, copied).status_code for _ in range(320)}
    proof = holder.proof("POST", holder.service.root + path, token)
    own = holder.call("POST", path, {"Authorization": f"DPoP {token}", "DPoP": proof})

    assert flood == {401}
    assert own.status_code not in {401, 429}, own.text


def test_a_path_of_any_length_needs_a_proof_for_it(holder: Holder) -> None:
    token, path = holder.token(), f"/cr/v2/entityInfo/AA/{'X' * 2100}"
    headers = {"Authorization": f"DPoP {token}", "DPoP": holder.proof("GET", "x", token)}

    assert holder.call("GET", path, headers).status_code == 401


def test_a_proof_for_something_else_is_refused(holder: Holder) -> None:
    token, path = holder.token(), "/cr/v2/entityInfo/AA"
    url = holder.service.root + path
    other = Holder(holder.member, holder.secret, KeyOfClient())
    wrong = [
        other.proof("GET", url, token),
        holder.proof("POST", url, token),
        holder.proof("GET", f"{url}/x", token),
        holder.proof("GET", "https://else.example/cr/v2/entityInfo/AA", token),
        holder.proof("GET", url),
        holder.proof("GET", url, "another token"),
        holder.proof("GET", url, token, iat=int(holder.service.wall()) - 120),
        holder.proof("GET", url, token, iat=int(holder.service.wall()) + 120),
        holder.proof("GET", url, token, jti="x" * 3000),
        holder.proof("GET", url, token, header={"jwk": holder.key.key.as_dict(private=True)}),
        "",
    ]

    answers = [
        holder.call("GET", path, {"Authorization": f"DPoP {token}", "DPoP": one}) for one in wrong
    ]

    assert [one.status_code for one in answers] == [401] * len(wrong)
    assert {one.json()["errorCode"] for one in answers} == {"ProofInvalid"}


def test_the_host_of_a_request_does_not_make_a_proof_right(holder: Holder) -> None:
    token, path = holder.token(), "/cr/v2/entityInfo/AA"
    proof = holder.proof("GET", f"http://evil.example{path}", token)

    answer = holder.call(
        "GET",
        path,
        {
            "Authorization": f"DPoP {token}",
            "DPoP": proof,
            "Host": "evil.example",
            "X-Forwarded-Host": "evil.example",
        },
    )

    assert answer.status_code == 401


def test_two_proofs_in_one_request_are_none(holder: Holder) -> None:
    token, url = holder.token(), f"{holder.service.root}/cr/v2/entityInfo/AA"
    headers = [("Authorization", f"DPoP {token}")]
    headers += [("DPoP", holder.proof("GET", url, token)) for _ in range(2)]

    assert holder.member.client.get(url, headers=headers).status_code == 401


def test_the_scheme_dpop_is_for_bound_tokens_of_entities_alone(holder: Holder) -> None:
    path = "/cr/v2/entityInfo/AA"
    url, plain = holder.service.root + path, holder.plain()
    proof = holder.proof("GET", url, plain)

    answer = holder.call("GET", path, {"Authorization": f"DPoP {plain}", "DPoP": proof})

    assert (answer.status_code, answer.json()["errorCode"]) == (401, "ProofInvalid")
    user = holder.member.user_token()
    for path in ("/iam/v1/user/session/list", "/cr/v2/entityInfo/AA"):
        method = "GET" if path.startswith("/iam") else "POST"
        proof = holder.proof(method, holder.service.root + path, user)
        refused = holder.call(method, path, {"Authorization": f"DPoP {user}", "DPoP": proof})
        assert refused.status_code == 401


def test_a_proof_is_accepted_once_by_all_workers(service_of_two: Service) -> None:
    member = new_member(service_of_two, "AA")
    holder = Holder(member, member.secret(), KeyOfClient())
    token, url = holder.token(), f"{service_of_two.root}/cr/v2/entityInfo/AA"
    headers = {"Authorization": f"DPoP {token}", "DPoP": holder.proof("GET", url, token)}

    def once(_: int) -> int:
        return httpx2.get(url, headers=headers, verify=NO_TLS).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = sorted(pool.map(once, range(16)))

    assert statuses == [200] + [401] * 15


def test_a_proof_gets_one_token_and_none_without_the_right_secret(holder: Holder) -> None:
    proof = holder.proof("POST", f"{holder.service.issuer}/oauth2/token")

    assert holder.oauth(proof, "wrong").json()["error"] == "invalid_client"
    assert holder.oauth(proof).status_code == 200
    again = holder.oauth(proof)

    assert (again.status_code, again.json()["error"]) == (400, "invalid_dpop_proof")


def test_revocation_ends_a_bound_token(holder: Holder) -> None:
    token, path = holder.token(), "/cr/v2/entityInfo/AA"
    auth = (holder.member.entity_id, holder.secret)
    assert holder.member.client.post("/oauth2/revoke", data={"token": token}, auth=auth).is_success

    proof = holder.proof("GET", holder.service.root + path, token)
    answer = holder.call("GET", path, {"Authorization": f"DPoP {token}", "DPoP": proof})

    assert answer.json()["errorCode"] == "TokenRevoked"


def test_introspection_and_metadata_show_it(holder: Holder) -> None:
    token = holder.token()
    facts = holder.service.introspected(token, holder.member.entity_id, holder.secret)

    assert (facts["active"], facts["token_type"]) == (True, "DPoP")
    assert facts["cnf"] == {"jkt": holder.key.thumbprint}
    found = holder.member.client.get("/.well-known/openid-configuration").json()
    assert found["dpop_signing_alg_values_supported"] == ["ES256", "PS256", "RS256"]


def test_the_binding_is_in_the_audit(holder: Holder) -> None:
    jti = claims_of(holder.token())["jti"]
    shown = holder.service.cli(
        *("audit", "list", "--entity", holder.member.entity_id, "--event", "entity:token:bind"),
        "--json",
    ).stdout

    details = [one["detail"] for one in json.loads(shown)]
    assert {"jti": jti, "jkt": holder.key.thumbprint} in details


def test_a_writer_of_the_registry_proves_its_key(service: Service) -> None:
    registry, payload = live_entry(service, "FIP")
    holder = Holder(registry.member, registry.secret, KeyOfClient())
    token, path = holder.token(), f"/cr/v2/entityInfo/FIP/{registry.member.entity_id}"
    payload["entityinfo"]["tags"] = "Kaveri Bank Limited"
    url = service.root + path
    headers = {"Authorization": f"DPoP {token}"}

    def put(**more: str) -> httpx2.Response:
        return holder.member.client.put(url, json=payload, headers=headers | more)

    assert put().status_code == 401
    assert put(DPoP=holder.proof("PUT", url, token)).status_code == 200
