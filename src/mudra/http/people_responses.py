"""Answers about people, for the OpenAPI document and for writing them."""

from typing import Annotated

from msgspec import Meta, field

from mudra.http.envelope import Body, iso_ms
from mudra.http.responses import Enveloped
from mudra.identity.accounts import AccountChanged
from mudra.identity.look_after import AdminsChanged
from mudra.identity.roster import Admin, HeldToken
from mudra.storage.directory import MemberRow, UserRow
from mudra.storage.mail_desk import QueuedMail

_Warning = Annotated[
    list[str], Meta(description="what needs an operator's care, such as an entity without admin")
]


class AdminsAnswer(Enveloped, kw_only=True):
    """An entity's admins after the call."""

    entity_id: str = field(name="entityId")
    admins: list[dict[str, str]]
    contact: str
    warnings: _Warning


class TokensAnswer(Enveloped, kw_only=True):
    """A user's tokens that have not expired; never their text."""

    tokens: list[dict[str, str]]


class AccountAnswer(Enveloped, kw_only=True):
    """An account after the call."""

    user_id: str = field(name="userId")
    email: str
    state: str
    tokens_ended: int = field(name="tokensEnded")
    warnings: _Warning


class ListAnswer(Enveloped, kw_only=True):
    """A page under the name of what is listed; `next` is the next page's `after`."""

    next: str = ""


class MemberAnswer(Enveloped, kw_only=True):
    """A member."""

    entity_id: str = field(name="entityId")
    type: str
    name: str
    status: str


class StatusAnswer(Enveloped, kw_only=True):
    """What was done."""

    status: str


def admin_members(admin: Admin) -> Body:
    """Write an admin."""
    return {
        "userId": admin.user_id,
        "email": admin.email,
        "name": admin.name,
        "state": admin.state.value,
        "since": iso_ms(admin.since),
    }


def token_members(token: HeldToken) -> Body:
    """Write a token."""
    members: Body = {
        "jti": token.jti,
        "issuedAt": iso_ms(token.issued_at),
        "expiresAt": iso_ms(token.expires_at),
        "state": "revoked" if token.revoked_at else "valid",
    }
    if token.last_used_at:
        members |= {"lastUsedAt": iso_ms(token.last_used_at), "lastAddress": token.last_address}
    return members


def member_members(row: MemberRow) -> Body:
    """Write a member; nothing of its secret but when it expires."""
    return {
        "entityId": row.entity_id,
        "type": row.entity_type,
        "name": row.name,
        "status": row.status,
        "onboardedAt": iso_ms(row.created_at),
        "secretExpiresAt": iso_ms(row.secret_expires_at),
        "admins": list(row.admins),
        "contact": row.contact,
        "withoutAdmin": row.able == 0,
    }


def user_members(row: UserRow) -> Body:
    """Write a person."""
    members: Body = {
        "userId": row.user_id,
        "email": row.email,
        "name": row.name,
        "state": row.state,
        "createdAt": iso_ms(row.created_at),
        "administers": list(row.administers),
        "scopes": list(row.scopes),
    }
    if row.invited_until is not None:
        members["linkValidUntil"] = iso_ms(row.invited_until)
    return members


def mail_members(mail: QueuedMail) -> Body:
    """Write a mail of the queue, without its text."""
    members: Body = {
        "id": mail.mail_id,
        "to": mail.recipient,
        "subject": mail.subject,
        "createdAt": iso_ms(mail.created_at),
        "state": "sent" if mail.sent_at else "given-up" if mail.given_up else "waiting",
        "attempts": mail.attempts,
    }
    if mail.sent_at:
        members["sentAt"] = iso_ms(mail.sent_at)
    if mail.last_error:
        members["lastError"] = mail.last_error
    if mail.next_attempt_at:
        members["nextAttemptAt"] = iso_ms(mail.next_attempt_at)
    return members


def warnings_of(changed: AdminsChanged | AccountChanged) -> list[str]:
    """Say which entities nobody can act for now."""
    if isinstance(changed, AccountChanged):
        alone = changed.without_admin
    else:
        alone = (changed.entity_id,) if changed.left == 0 else ()
    return [
        f"{entity_id} has no admin who can act: add one, or have the invited one set a password"
        for entity_id in alone
    ]


def account_members(changed: AccountChanged) -> Body:
    """Write an account after a change."""
    return {
        "userId": changed.user.user_id,
        "email": changed.user.email,
        "state": changed.user.state.value,
        "tokensEnded": changed.tokens_ended,
        "warnings": warnings_of(changed),
    }
