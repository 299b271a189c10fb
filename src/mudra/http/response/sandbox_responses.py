"""Responses of the sandbox: its clock and its mailbox."""

from msgspec import Struct, field

from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.shared.mail.email_message import StoredEmail, links_in
from mudra.shared.time_text import iso_ms


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
