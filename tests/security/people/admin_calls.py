"""An admin's calls about the people of an entity, and what the invited person answers."""

import uuid

import httpx2
from tests.support.mailbox import latest_link
from tests.support.members import Member, set_password
from tests.support.service import PASSWORD


def address(name: str = "ravi") -> str:
    """An address that no one has."""
    return f"{name}-{uuid.uuid4().hex[:10]}@member.example"


def ask(
    member: Member, path: str, headers: dict[str, str] | None = None, **body: object
) -> httpx2.Response:
    """Make a call about the admins of an entity, as one of them.

    Without `headers` by the person's latest token, and by a new one where that is refused.
    """
    call, sent = f"/v1/entity/admin/{path}", {"entityId": member.entity_id, **body}
    answer = member.client.post(call, json=sent, headers=headers or member.bearer())
    if headers or answer.status_code != 401:
        return answer
    return member.client.post(call, json=sent, headers=member.sign_in())


def confirm(member: Member, link: str) -> httpx2.Response:
    """Accept by a link, as the page behind it does for who has an account."""
    return _answer(member, "confirm", link)


def decline(member: Member, link: str) -> httpx2.Response:
    """Decline by a link, as the page behind it does."""
    return _answer(member, "decline", link)


def accept(member: Member, link: str, email: str) -> Member:
    """Accept by a link with a new account."""
    client = member.service.client()
    assert set_password(client, link).status_code == 200
    return Member(member.service, member.entity_id, email, PASSWORD, client)


def invited(member: Member, email: str, role: str = "admin") -> str:
    """Invite someone; gives the link of the email."""
    answer = ask(member, "add", email=email, role=role)
    assert answer.status_code == 200, answer.text
    return latest_link(member.service, email)


def _answer(member: Member, what: str, link: str) -> httpx2.Response:
    token = link.rpartition("/")[2]
    return member.client.post(f"/v1/user/link/{what}", json={"token": token})
