"""A member whose credentials may be bound to the addresses of its live entry."""

import json
from dataclasses import dataclass, replace
from typing import Any

import httpx2
from joserfc import jwt
from joserfc.jwk import RSAKey
from tests.http.token.signed_in import signed_in
from tests.support.cheap_keys import rsa_key
from tests.support.http_clients import new_address
from tests.support.members import new_member
from tests.support.registry.registry_members import Registry, approve, payload_of
from tests.support.service import Service

BINDING = "/v1/entity/address/binding"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@dataclass(frozen=True)
class Bound:
    """A member whose live entry lists one loopback address, from which its client speaks."""

    registry: Registry
    payload: dict[str, Any]
    key: RSAKey
    listed: str

    @property
    def entity_id(self) -> str:
        return self.registry.member.entity_id

    @property
    def service(self) -> Service:
        return self.registry.member.service

    def switch(self, to: str, **members: object) -> httpx2.Response:
        member = self.registry.member
        body = {"entityId": self.entity_id, "binding": to, **members}
        return member.client.post(BINDING, json=body, headers=member.bearer())

    def view(self) -> dict[str, Any]:
        member = self.registry.member
        query = {"entityId": self.entity_id}
        answer = member.client.get(BINDING, params=query, headers=member.bearer())
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def generate(self, client: httpx2.Client, secret: str = "", **headers: str) -> httpx2.Response:
        form = {"id": self.entity_id, "secret": secret or self.registry.secret}
        return client.post("/v1/entity/token/generate", data=form, headers=headers)

    def by_secret(self, client: httpx2.Client, path: str = "token", **form: str) -> httpx2.Response:
        auth = (self.entity_id, self.registry.secret)
        return client.post(
            f"/oauth2/{path}", data={"grant_type": "client_credentials", **form}, auth=auth
        )

    def by_key(self, client: httpx2.Client) -> httpx2.Response:
        now = int(self.service.wall())
        claims = {"iss": self.entity_id, "sub": self.entity_id, "aud": self.service.issuer}
        header = {"alg": "RS256", "kid": str(self.key.kid)}
        assertion = jwt.encode(header, {**claims, "exp": now + 60, "jti": new_address()}, self.key)
        form = {"client_assertion_type": ASSERTION, "client_assertion": assertion}
        return client.post("/oauth2/token", data={"grant_type": "client_credentials", **form})

    def list_addresses(self, *ips: str) -> None:
        self.payload["entityinfo"]["ips"] = list(ips)
        assert self.registry.update(self.payload).status_code == 200
        approve(self.registry.member)

    def is_seen(self, address: str) -> bool:
        return address in {one["address"] for one in self.view()["foreign"]}

    def audit(self) -> list[dict[str, Any]]:
        shown = self.service.cli("audit", "list", "--entity", self.entity_id, "--json").stdout
        found: list[dict[str, Any]] = json.loads(shown)
        return found


def member_with_entry(service: Service, *ips: str) -> Bound:
    listed = new_address()
    member = signed_in(replace(new_member(service), client=service.client(listed)))
    registry = Registry(member)
    kid = f"kid-{member.entity_id}"
    key = rsa_key(kid=kid, use="sig", alg="RS256")
    payload = payload_of(member)
    payload["entityinfo"]["certificate"] = key.as_dict(private=False)
    payload["entityinfo"]["ips"] = list(ips) or [listed]
    assert registry.submit(payload).status_code == 200
    approve(member)
    return Bound(registry, payload, key, listed)
