"""How people, members, mails and events are shown: each row of an answer, described and written."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.audit.search import AuditRow
from mudra.http.response.response_body import DateTime
from mudra.identity.accounts.user_token import HeldToken
from mudra.identity.memberships.member import Admin
from mudra.identity.memberships.member_search import MemberRow, UserRow
from mudra.identity.sessions.session import Session
from mudra.overview.mail_queue import QueuedMail
from mudra.shared.time_text import iso_ms

_State = Annotated[str, Meta(extra_json_schema={"enum": ["invited", "active", "disabled"]})]


class AdminDetails(Struct, kw_only=True):
    """An admin of an entity."""

    user_id: str = field(name="userId")
    email: str
    name: str
    state: _State
    since: DateTime


class TokenDetails(Struct, kw_only=True):
    """A User Access Token that has not expired; never its text."""

    jti: str
    issued_at: DateTime = field(name="issuedAt")
    expires_at: DateTime = field(name="expiresAt")
    state: Annotated[str, Meta(extra_json_schema={"enum": ["valid", "revoked"]})]
    last_used_at: DateTime | UnsetType = field(name="lastUsedAt", default=UNSET)
    last_address: str | UnsetType = field(name="lastAddress", default=UNSET)


class SessionDetails(Struct, kw_only=True):
    """A session of the console that is open; never what its cookie holds."""

    session_id: str = field(name="sessionId")
    began_at: DateTime = field(name="beganAt")
    last_used_at: DateTime = field(name="lastUsedAt")
    address: str


class MemberDetails(Struct, kw_only=True):
    """A member; nothing of its secret but when it expires."""

    entity_id: str = field(name="entityId")
    type: str
    name: str
    status: str
    onboarded_at: DateTime = field(name="onboardedAt")
    secret_expires_at: DateTime = field(name="secretExpiresAt")
    admins: list[str]
    contact: str
    without_admin: bool = field(name="withoutAdmin")


class UserDetails(Struct, kw_only=True):
    """A person; `linkValidUntil` while a link that was sent can be used."""

    user_id: str = field(name="userId")
    email: str
    name: str
    state: _State
    created_at: DateTime = field(name="createdAt")
    administers: list[str]
    scopes: list[str]
    link_valid_until: DateTime | UnsetType = field(name="linkValidUntil", default=UNSET)


class MailDetails(Struct, kw_only=True):
    """A mail of the queue, without its text, which may hold a one-use link."""

    mail_id: str = field(name="id")
    to: str
    subject: str
    created_at: DateTime = field(name="createdAt")
    state: Annotated[str, Meta(extra_json_schema={"enum": ["sent", "given-up", "waiting"]})]
    attempts: int
    sent_at: DateTime | UnsetType = field(name="sentAt", default=UNSET)
    last_error: str | UnsetType = field(name="lastError", default=UNSET)
    next_attempt_at: DateTime | UnsetType = field(name="nextAttemptAt", default=UNSET)


class EventDetails(Struct, kw_only=True):
    """An event of the audit."""

    seq: int
    at: DateTime
    event: str
    outcome: str
    actor: str
    entity_id: str = field(name="entityId")
    address: str
    txn_id: str = field(name="txnId")
    reason: str
    detail: dict[str, str | int]


def admin_details(admin: Admin) -> AdminDetails:
    """Write an admin."""
    return AdminDetails(
        user_id=admin.user_id,
        email=admin.email,
        name=admin.name,
        state=admin.state.value,
        since=iso_ms(admin.since),
    )


def token_details(token: HeldToken) -> TokenDetails:
    """Write a token."""
    used_at = token.last_used_at
    return TokenDetails(
        jti=token.jti,
        issued_at=iso_ms(token.issued_at),
        expires_at=iso_ms(token.expires_at),
        state="revoked" if token.revoked_at else "valid",
        last_used_at=iso_ms(used_at) if used_at else UNSET,
        last_address=token.last_address if used_at else UNSET,
    )


def session_details(session: Session) -> SessionDetails:
    """Write a session."""
    return SessionDetails(
        session_id=session.session_id,
        began_at=iso_ms(session.started_at),
        last_used_at=iso_ms(session.last_used_at),
        address=session.address,
    )


def member_details(row: MemberRow) -> MemberDetails:
    """Write a member."""
    return MemberDetails(
        entity_id=row.entity_id,
        type=row.entity_type,
        name=row.name,
        status=row.status,
        onboarded_at=iso_ms(row.created_at),
        secret_expires_at=iso_ms(row.secret_expires_at),
        admins=list(row.admins),
        contact=row.contact,
        without_admin=row.able == 0,
    )


def user_details(row: UserRow) -> UserDetails:
    """Write a person."""
    return UserDetails(
        user_id=row.user_id,
        email=row.email,
        name=row.name,
        state=row.state,
        created_at=iso_ms(row.created_at),
        administers=list(row.administers),
        scopes=list(row.scopes),
        link_valid_until=iso_ms(row.invited_until) if row.invited_until else UNSET,
    )


def mail_details(mail: QueuedMail) -> MailDetails:
    """Write a mail of the queue."""
    return MailDetails(
        mail_id=mail.mail_id,
        to=mail.recipient,
        subject=mail.subject,
        created_at=iso_ms(mail.created_at),
        state="sent" if mail.sent_at else "given-up" if mail.given_up else "waiting",
        attempts=mail.attempts,
        sent_at=iso_ms(mail.sent_at) if mail.sent_at else UNSET,
        last_error=mail.last_error or UNSET,
        next_attempt_at=iso_ms(mail.next_attempt_at) if mail.next_attempt_at else UNSET,
    )


def event_details(row: AuditRow) -> EventDetails:
    """Write an event."""
    return EventDetails(
        seq=row.seq,
        at=iso_ms(row.at),
        event=row.event,
        outcome=row.outcome,
        actor=row.actor,
        entity_id=row.entity_id,
        address=row.address,
        txn_id=row.txn_id,
        reason=row.reason,
        detail={name: _plain(value) for name, value in row.detail.items()},
    )


def _plain(value: object) -> str | int:
    return value if isinstance(value, str | int) else str(value)
