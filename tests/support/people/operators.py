"""Operators of a running service."""

import uuid
from dataclasses import dataclass

import httpx2
from tests.support.service import PASSWORD, Service

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.demo.activation import activate
from mudra.identity.operators.manage_operators import OperatorSaved, save_operator
from mudra.identity.operators.operator import Scope


@dataclass(frozen=True)
class Operator:
    """An activated operator with a User Access Token."""

    email: str
    client: httpx2.Client
    headers: dict[str, str]
    root: str

    def get(self, path: str, **query: str) -> httpx2.Response:
        """Get from /operator/v1."""
        return self.client.get(f"{self.root}/operator/v1{path}", params=query, headers=self.headers)

    def post(self, path: str, **members: object) -> httpx2.Response:
        """Post to /operator/v1."""
        return self.client.post(
            f"{self.root}/operator/v1{path}", json=members, headers=self.headers
        )


def new_operator(service: Service, *scopes: str) -> Operator:
    """Create and activate an operator, and sign in; all scopes if none."""
    return with_token(service, active_operator(service, *scopes))


def active_operator(service: Service, *scopes: str, email: str = "") -> str:
    """Create and activate an operator by the use cases themselves; gives its address."""
    email = email or f"op-{uuid.uuid4().hex[:10]}@network.example"
    held = frozenset(Scope(scope) for scope in scopes) or frozenset(Scope)

    async def create_and_activate(dependencies: Dependencies) -> None:
        async with dependencies.transaction() as tx:
            saved = await save_operator(tx, email, "", held, Caller("operator:tests"))
        assert isinstance(saved, OperatorSaved), saved
        await activate(dependencies, saved.user, await service.password_hash(dependencies))

    service.in_store(create_and_activate)
    return email


def with_token(service: Service, email: str) -> Operator:
    """Get an operator's User Access Token."""
    client = service.client()
    answer = client.post("/v1/user/token/generate", data={"username": email, "password": PASSWORD})
    assert answer.status_code == 200, answer.text
    headers = {"Authorization": f"Bearer {answer.json()['accessToken']}"}
    return Operator(email, client, headers, service.root)
