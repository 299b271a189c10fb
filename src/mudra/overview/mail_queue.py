"""Email that was not sent yet, as operators see it."""

from datetime import datetime

from msgspec import Struct

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
