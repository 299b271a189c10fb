"""The outbox as operators see it, and their request to try an email again."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.ports import AuditLog
from mudra.shared.email_message import Email
from mudra.shared.refusal import Refusal, RefusalKind


class NoSuchMail(Refusal, frozen=True):
    """No unsent email has this ID."""

    kind = RefusalKind.NOT_FOUND
    sentence = "no unsent mail of this ID"


class QueuedMail(Struct, frozen=True):
    """An email as the queue shows it: never its text, which may hold a one-use link.

    `given_up` when the mail server refused it for good: only a manual retry sends it.
    """

    mail_id: str
    recipient: str
    subject: str
    created_at: datetime
    sent_at: datetime | None
    attempts: int
    last_error: str
    next_attempt_at: datetime | None

    @property
    def given_up(self) -> bool:
        """Return whether no further automatic attempt will be made."""
        return self.sent_at is None and self.next_attempt_at is None

    @property
    def state(self) -> str:
        """`sent`, `given-up` or `waiting`."""
        return "sent" if self.sent_at else "given-up" if self.given_up else "waiting"


class MailAlarms(Struct, frozen=True):
    """What is wrong with the outbox.

    `new` are emails that have failed since the last call, `failing` how many fail now: those that
    have waited for over a day, and those of the last two days that the mail server refused for
    good. `oldest_s` is the age in seconds of the oldest email that waits, 0 for none.
    """

    new: Sequence[str]
    failing: int
    oldest_s: float


class StoredEmail(Struct, frozen=True):
    """An email of the outbox with its text, which may hold a one-use link."""

    mail_id: str
    email: Email
    created_at: datetime
    sent_at: datetime | None
    attempts: int
    last_error: str | None


class Mailbox(Protocol):
    """The outbox with the text of its emails: for local commands and the sandbox."""

    async def mails(self, to: str | None = None, limit: int = 1000) -> Sequence[StoredEmail]:
        """List emails, the oldest first, at most the latest `limit`."""
        ...

    async def mail(self, mail_id: str) -> StoredEmail | None:
        """Find one email."""
        ...


class MailQueue(Protocol):
    """The outbox as an operator sees it."""

    async def queue(
        self, *, failed: bool, to: str = "", after: str = "", limit: int = 100
    ) -> Sequence[QueuedMail]:
        """List emails, the newest first, that come after the one with the ID `after`.

        `to` selects those to one address; `failed` those that the mail server refused for good
        or that have waited for more than a day.
        """
        ...

    async def to(self, recipients: Sequence[str], limit: int) -> Sequence[QueuedMail]:
        """List emails to these addresses, the newest first."""
        ...

    async def retry(self, mail_id: str) -> str | NoSuchMail:
        """Schedule an unsent email for another try now."""
        ...

    async def raise_alarms(self) -> "MailAlarms":
        """Return what is wrong with the outbox, and note which emails that names."""
        ...


async def retry_mail(
    mail_id: str, caller: Caller, mails: MailQueue, audit_log: AuditLog
) -> str | NoSuchMail:
    """Try an unsent email again now, and record who asked for it; returns its ID."""
    outcome = await mails.retry(mail_id)
    if isinstance(outcome, str):
        await audit_log.append(
            AuditEntry(EventName.MAIL_LETTER_RETRY, caller, detail={"mail": mail_id})
        )
    return outcome
