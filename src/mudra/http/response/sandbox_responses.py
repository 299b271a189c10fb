"""Responses of the sandbox: its clock, its mailbox and its faults."""

from collections.abc import Sequence

from msgspec import Struct, field

from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.overview.mail_queue import StoredEmail
from mudra.shared.email_message import links_in
from mudra.shared.time_text import iso_ms
from mudra.tokens.faults.fault import DESCRIPTIONS, Fault


class ClockResponse(ResponseBody, kw_only=True):
    """The service's time after the move."""

    now: DateTime


class SandboxMail(Struct, kw_only=True):
    """One email; without a mail server it counts as sent once it is in the mailbox."""

    id: str
    to: str
    subject: str
    sent_at: DateTime | None = field(name="sentAt")
    text: str
    links: list[str]


class MailboxResponse(ResponseBody, kw_only=True):
    """The latest emails, the newest first."""

    mails: list[SandboxMail]


def mail_response(mail: StoredEmail) -> SandboxMail:
    """Return an email as programs read it."""
    return SandboxMail(
        id=mail.mail_id,
        to=mail.email.to,
        subject=mail.email.subject,
        sent_at=iso_ms(mail.sent_at) if mail.sent_at else None,
        text=mail.email.text,
        links=list(links_in(mail.email.text)),
    )


class SandboxFault(Struct, kw_only=True, rename="camel"):
    """One fault in force; `seconds` is the amount of its kind, 0 where it has none."""

    entity_id: str
    kind: str
    effect: str
    seconds: int
    starts_at: DateTime
    ends_at: DateTime
    by_operator: bool
    kid: str


class FaultsResponse(ResponseBody, kw_only=True):
    """Faults of the sandbox."""

    faults: list[SandboxFault]


def faults_response(faults: Sequence[Fault]) -> FaultsResponse:
    """Return faults as programs read them."""
    return FaultsResponse(
        faults=[
            SandboxFault(
                entity_id=one.entity_id,
                kind=one.kind.value,
                effect=DESCRIPTIONS[one.kind],
                seconds=one.seconds,
                starts_at=iso_ms(one.starts_at),
                ends_at=iso_ms(one.ends_at),
                by_operator=one.by_operator,
                kid=one.kid,
            )
            for one in faults
        ]
    )
