"""Email that was not sent yet, as operators see it, and their order to try again."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.ports import AuditLog
from mudra.shared.refusal import Refusal


class NoSuchMail(Refusal, frozen=True):
    """No unsent letter has this ID."""


class QueuedMail(Struct, frozen=True):
    """A letter as the queue shows it: never its text, which may hold a one-use link.

    `given_up` when the mail server refused it for good: only a retry sends it.
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
        """Tell whether no further try will be made by itself."""
        return self.sent_at is None and self.next_attempt_at is None

    @property
    def state(self) -> str:
        """`sent`, `given-up` or `waiting`."""
        return "sent" if self.sent_at else "given-up" if self.given_up else "waiting"


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

    async def raise_alarms(self) -> tuple[Sequence[str], int]:
        """Return the emails that have failed since the last call, and how many fail in all."""
        ...


async def retry_mail(
    mail_id: str, caller: Caller, mails: MailQueue, audit_log: AuditLog
) -> str | NoSuchMail:
    """Try an unsent email again now, and record who asked for it; returns its ID."""
    outcome = await mails.retry(mail_id)
    if isinstance(outcome, str):
        await audit_log.note(
            AuditEntry(EventName.MAIL_LETTER_RETRY, caller, detail={"mail": mail_id})
        )
    return outcome
