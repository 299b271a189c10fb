"""Members of a running service: onboarded and activated, and what their admins ask for."""

import uuid
from dataclasses import dataclass, field

import httpx2
from tests.support.mailbox import latest_link, mails
from tests.support.service import PASSWORD, Service

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.demo.activation import activate
from mudra.identity.memberships.onboard import NewMember, Onboarded, onboard_member
from mudra.identity.operators.person_rule import owner


@dataclass(frozen=True)
class Member:
    """An onboarded member with an activated admin."""

    service: Service
    entity_id: str
    email: str
    password: str
    client: httpx2.Client
    _headers: dict[str, str] = field(default_factory=dict)

    def user_token(self) -> str:
        """Sign in and give the User Access Token."""
        answer = self.client.post(
            "/v1/user/token/generate", data={"username": self.email, "password": self.password}
        )
        assert answer.status_code == 200, answer.text
        token = answer.json()["accessToken"]
        assert isinstance(token, str)
        return token

    def bearer(self) -> dict[str, str]:
        """An Authorization header with the latest User Access Token, of a first sign-in if none."""
        return dict(self._headers) or self.sign_in()

    def sign_in(self) -> dict[str, str]:
        """Sign in: an Authorization header with a new token, the latest from now on."""
        self._headers["Authorization"] = f"Bearer {self.user_token()}"
        return dict(self._headers)

    def read(self, headers: dict[str, str] | None = None) -> httpx2.Response:
        """Read the secret."""
        return self.client.post(
            "/v1/entity/secret/read",
            json={"entityId": self.entity_id},
            headers=headers or self.bearer(),
        )

    def secret(self) -> str:
        """The current secret's text."""
        secret = self.read().json()["secret"]
        assert isinstance(secret, str)
        return secret

    def reset(self, headers: dict[str, str] | None = None, **members: object) -> httpx2.Response:
        """Reset the secret."""
        return self.client.post(
            "/v1/entity/secret/reset",
            json={"entityId": self.entity_id, **members},
            headers=headers or self.bearer(),
        )

    def entity_token(self, secret: str) -> httpx2.Response:
        """Ask for an Entity Access Token."""
        return self.client.post(
            "/v1/entity/token/generate", data={"id": self.entity_id, "secret": secret}
        )


def onboard(
    service: Service,
    entity_type: str = "FIP",
    *,
    email: str | None = None,
    name: str = "Kaveri Bank",
) -> tuple[str, str]:
    """Onboard a member whose admin is invited; gives entity ID and admin's address."""
    new = _new_member(entity_type, email, name)
    service.in_store(lambda dependencies: _onboarded(dependencies, new))
    return new.entity_id, new.admin_email


def link_for_who_forgot(member: Member, headers: dict[str, str] | None = None) -> str:
    """Ask for a link to a new password; gives it once the job has sent it."""
    service, known = member.service, len(mails(member.service, member.email))
    asked = {"username": member.email}
    answer = member.client.post("/v1/user/password/forgot", json=asked, headers=headers)
    assert answer.status_code == 202, answer.text
    service.wait_until(lambda: any(mail["links"] for mail in mails(service, member.email)[known:]))
    return latest_link(service, member.email)


def set_password(client: httpx2.Client, link: str, password: str = PASSWORD) -> httpx2.Response:
    """Do what the page behind the link does."""
    return client.post(
        "/v1/user/password/set", json={"token": link.rpartition("/")[2], "password": password}
    )


def new_member(service: Service, entity_type: str = "FIP", *, name: str = "Kaveri Bank") -> Member:
    """Onboard and activate a member of its own for a test, by the use cases themselves."""
    new = _new_member(entity_type, name=name)

    async def onboard_and_activate(dependencies: Dependencies) -> None:
        onboarded = await _onboarded(dependencies, new)
        await activate(dependencies, onboarded.admin, await service.password_hash(dependencies))

    service.in_store(onboard_and_activate)
    return Member(service, new.entity_id, new.admin_email, PASSWORD, service.client())


def _new_member(entity_type: str, email: str | None = None, name: str = "Kaveri Bank") -> NewMember:
    unique = uuid.uuid4().hex[:10]
    address = email or f"asha-{unique}@member.example"
    return NewMember(f"T-{unique}-{entity_type}", entity_type, name, address, "Asha Rao")


async def _onboarded(dependencies: Dependencies, new: NewMember) -> Onboarded:
    async with dependencies.transaction() as tx:
        result = await onboard_member(tx, new, owner(Caller("operator:tests")))
    assert isinstance(result, Onboarded), result
    return result
