"""Operators of a running service."""

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import httpx
import pytest
from tests.support.service import PASSWORD, Service, latest_link, set_password

from mudra.cli.local.program import Dependencies
from mudra.cli.local.store import with_rooms

T = TypeVar("T")


@dataclass(frozen=True)
class Operator:
    """An activated operator with a User Access Token."""

    email: str
    client: httpx.Client
    headers: dict[str, str]
    root: str

    def get(self, path: str, **query: str) -> httpx.Response:
        """Get from /operator/v1."""
        return self.client.get(f"{self.root}/operator/v1{path}", params=query, headers=self.headers)

    def post(self, path: str, **members: object) -> httpx.Response:
        """Post to /operator/v1."""
        return self.client.post(
            f"{self.root}/operator/v1{path}", json=members, headers=self.headers
        )


def new_operator(service: Service, *scopes: str) -> Operator:
    """Create by the command line, activate by the link, sign in."""
    email = f"op-{uuid.uuid4().hex[:10]}@network.example"
    words = [word for scope in scopes for word in ("--scope", scope)]
    service.cli("operator", "create", email, *words)
    client = service.client()
    assert set_password(client, latest_link(service, email)).status_code == 200
    answer = client.post("/v1/user/token/generate", data={"username": email, "password": PASSWORD})
    assert answer.status_code == 200, answer.text
    headers = {"Authorization": f"Bearer {answer.json()['accessToken']}"}
    return Operator(email, client, headers, service.root)


def in_store(service: Service, act: Callable[[Dependencies], Awaitable[T]]) -> T:
    """Act on a running service's data as its commands do."""
    with pytest.MonkeyPatch.context() as patched:
        for name, value in service.environment.items():
            if name.startswith("MUDRA_"):
                patched.setenv(name, value)
        return with_rooms(act, service.data_dir)
