"""Members that speak with the registry of a running service."""

import base64
import itertools
import os
import secrets
import uuid
from typing import Any

import gmpy2
import httpx2
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.registry import registry_payloads
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.cli.local.registry_store import operator
from mudra.registry import ports
from mudra.registry.lifecycle.acts.register import Command, Outcome, decide
from mudra.registry.lifecycle.decision import Decision, RegistryAction

_numbers = itertools.count(100 + (os.getpid() % 500) * 100_000)
_MAKERS = {
    "FIP": registry_payloads.fip,
    "FIU": registry_payloads.fiu,
    "AA": registry_payloads.aa,
}


def payload_of(member: Member, **changes: Any) -> dict[str, Any]:
    """A payload for a member, with a key and a handle of its own."""
    kind = member.entity_id.rsplit("-", 1)[1]
    payload = _MAKERS[kind](next(_numbers), id=member.entity_id, **changes)
    payload["requester"]["id"] = member.entity_id
    payload["entityinfo"]["certificate"]["kid"] = f"kid-{member.entity_id}"
    payload["txnid"] = str(uuid.uuid4())
    return payload


class Registry:
    """Calls to the registry with a member's Entity Access Token."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self.secret = member.secret()
        token = member.entity_token(self.secret).json()["accessToken"]
        self.entity = {"Authorization": f"Bearer {token}"}
        self.root = f"{member.service.root}/cr/v2"

    def submit(self, payload: dict[str, Any], **headers: str) -> httpx2.Response:
        """Submit for the first time."""
        url = f"{self.root}/entityInfo/{payload['type']}"
        headers = headers or self.entity
        return httpx2.post(url, json=payload, headers=headers, verify=NO_TLS, timeout=60)

    def lint(self, payload: Any, kind: str = "FIP") -> httpx2.Response:
        """Ask which findings a submission would have."""
        return httpx2.post(
            f"{self.root}/lint/{kind}",
            json=payload,
            headers=self.entity,
            verify=NO_TLS,
        )

    def update(self, payload: dict[str, Any], **headers: str) -> httpx2.Response:
        """Update the entry that the payload names."""
        url = f"{self.root}/entityInfo/{payload['type']}/{payload['entityinfo']['id']}"
        return httpx2.put(url, json=payload, headers=headers or self.entity, verify=NO_TLS)

    def get(self, path: str, **headers: str) -> httpx2.Response:
        """Read below /cr/v2."""
        return httpx2.get(f"{self.root}{path}", headers=self.entity | headers, verify=NO_TLS)


def approve(member: Member, *options: str) -> None:
    """Approve a member's pending version, whatever it is; by the command where there are options."""

    async def pending(registry: ports.Registry) -> int:
        record = await registry.record(member.entity_id)
        assert record is not None
        assert record.pending is not None, record
        return record.pending.number

    async def find(dependencies: Dependencies) -> int:
        async with dependencies.transaction() as tx:
            return await pending(tx.service(ports.Registry))

    if options:
        number = str(member.service.in_store(find))
        member.service.cli("registry", "approve", member.entity_id, "--version", number, *options)
        return

    async def act(dependencies: Dependencies) -> Outcome:
        async with dependencies.transaction() as tx:
            registry = tx.service(ports.Registry)
            number = await pending(registry)
            command = Command(RegistryAction.APPROVE, member.entity_id, operator(), version=number)
            return await decide(registry, command)

    outcome = member.service.in_store(act)
    assert isinstance(outcome, Decision), outcome


def entries_that_share_a_prime(service: Service) -> list[str]:
    """Make two live entries whose moduli have one prime in common; returns their ids, sorted."""
    shared, *own = (_prime(1024) for _ in range(3))
    return sorted(_entry_with_modulus(service, shared * prime) for prime in own)


def _prime(bits: int) -> int:
    return int(gmpy2.next_prime((3 << (bits - 2)) + secrets.randbits(bits - 2)))


def _entry_with_modulus(service: Service, n: int) -> str:
    registry = Registry(new_member(service, "FIP"))
    payload = payload_of(registry.member)
    text = base64.urlsafe_b64encode(n.to_bytes(256)).rstrip(b"=").decode()
    payload["entityinfo"]["certificate"]["n"] = text
    submitted = registry.submit(payload)
    assert submitted.status_code == 200, submitted.text
    approve(registry.member)
    return registry.member.entity_id


def live_entry(service: Service, kind: str = "FIP") -> tuple[Registry, dict[str, Any]]:
    """A new member whose entry is live, and its payload."""
    registry = Registry(new_member(service, kind))
    payload = payload_of(registry.member)
    assert registry.submit(payload).status_code == 200
    approve(registry.member)
    return registry, payload
