"""Responses about admins, tokens and email, which the API and the command line write alike."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.identity.accounts.user import HeldToken
from mudra.identity.memberships.admins import AdminsChanged, EntityAdmins
from mudra.overview.mail_queue_store import QueuedMail
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms

UserState = Annotated[str, Meta(extra_json_schema={"enum": ["invited", "active", "disabled"]})]
Warnings = Annotated[
    list[str],
    Meta(description="what needs an operator's attention, such as an entity without admin"),
]


class AdminDetails(Struct, kw_only=True):
    """An admin or reader of an entity, or someone who is invited to be one."""

    user_id: str = field(name="userId")
    email: str
    name: str
    state: UserState
    role: Annotated[str, Meta(extra_json_schema={"enum": ["admin", "reader"]})]
    since: DateTime
    invited_until: Annotated[
        DateTime | UnsetType,
        Meta(description="until when an invitation can be accepted; absent for an admin"),
    ] = field(name="invitedUntil", default=UNSET)
    takes_over_from: Annotated[
        str | UnsetType,
        Meta(description="the admin who loses the role when the invitation is accepted"),
    ] = field(name="takesOverFrom", default=UNSET)


class AdminsResponse(ResponseBody, kw_only=True):
    """An entity's admins after the call."""

    entity_id: str = field(name="entityId")
    admins: list[AdminDetails]
    contact: str
    phone: str
    warnings: Warnings


def admins_response(outcome: EntityAdmins | Refusal) -> AdminsResponse | Refusal:
    """Return an entity's admins, or the refusal."""
    if isinstance(outcome, Refusal):
        return outcome
    alone = isinstance(outcome, AdminsChanged) and outcome.able == 0
    return AdminsResponse(
        entity_id=outcome.entity_id,
        admins=[
            AdminDetails(
                user_id=admin.user_id,
                email=admin.email,
                name=admin.name,
                state=admin.state.value,
                role=admin.role.value,
                since=iso_ms(admin.since),
                invited_until=iso_ms(admin.invited_until) if admin.invited_until else UNSET,
                takes_over_from=admin.takes_over_from or UNSET,
            )
            for admin in outcome.admins
        ],
        contact=outcome.contact.email,
        phone=outcome.contact.phone,
        warnings=warnings_about([outcome.entity_id] if alone else []),
    )


def warnings_about(without_admin: Sequence[str]) -> list[str]:
    """Return a warning for each entity that has no admin who can act."""
    return [
        f"{entity_id} has no admin who can act: add one, or have the invited one set a password"
        for entity_id in without_admin
    ]


class TokenDetails(Struct, kw_only=True):
    """A User Access Token that has not expired; never its text."""

    jti: str
    issued_at: DateTime = field(name="issuedAt")
    expires_at: DateTime = field(name="expiresAt")
    state: Annotated[str, Meta(extra_json_schema={"enum": ["valid", "revoked"]})]
    last_used_at: DateTime | UnsetType = field(name="lastUsedAt", default=UNSET)
    last_address: str | UnsetType = field(name="lastAddress", default=UNSET)


class TokensResponse(ResponseBody, kw_only=True):
    """A user's tokens that have not expired; never their text."""

    tokens: list[TokenDetails]


def tokens_response(tokens: Sequence[HeldToken]) -> TokensResponse:
    """Return a user's tokens."""
    return TokensResponse(tokens=[token_details(token) for token in tokens])


def token_details(token: HeldToken) -> TokenDetails:
    """Return one token."""
    used_at = token.last_used_at
    return TokenDetails(
        jti=token.jti,
        issued_at=iso_ms(token.issued_at),
        expires_at=iso_ms(token.expires_at),
        state="revoked" if token.revoked_at else "valid",
        last_used_at=iso_ms(used_at) if used_at else UNSET,
        last_address=token.last_address if used_at else UNSET,
    )


class MailDetails(Struct, kw_only=True):
    """An email of the queue, without its text, which may hold a one-use link."""

    mail_id: str = field(name="id")
    to: str
    subject: str
    created_at: DateTime = field(name="createdAt")
    state: Annotated[str, Meta(extra_json_schema={"enum": ["sent", "given-up", "waiting"]})]
    attempts: int
    sent_at: DateTime | UnsetType = field(name="sentAt", default=UNSET)
    last_error: str | UnsetType = field(name="lastError", default=UNSET)
    next_attempt_at: DateTime | UnsetType = field(name="nextAttemptAt", default=UNSET)


def mail_details(mail: QueuedMail) -> MailDetails:
    """Return an email as the queue shows it."""
    return MailDetails(
        mail_id=mail.mail_id,
        to=mail.recipient,
        subject=mail.subject,
        created_at=iso_ms(mail.created_at),
        state=mail.state,
        attempts=mail.attempts,
        sent_at=iso_ms(mail.sent_at) if mail.sent_at else UNSET,
        last_error=mail.last_error or UNSET,
        next_attempt_at=iso_ms(mail.next_attempt_at) if mail.next_attempt_at else UNSET,
    )
