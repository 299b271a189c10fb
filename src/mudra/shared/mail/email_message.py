"""An email ready to be sent, and its form in the outbox."""

import re
from datetime import datetime
from typing import Final

import msgspec
from msgspec import Struct

_LINK: Final = re.compile(r"https?://[^\s<>\"]+")


class Attachment(msgspec.Struct, frozen=True):
    """A text file attached to an email. `media_type` is `type/subtype`."""

    name: str
    media_type: str
    content: str


class Email(msgspec.Struct, frozen=True):
    """An email ready to be sent. `text` and `html` may hold a one-use link."""

    to: str
    subject: str
    text: str
    html: str
    attachments: tuple[Attachment, ...] = ()
    unsubscribe: str = ""
    """The address to which one click posts that no more are wanted (RFC 8058); empty for none."""

    shown: str = ""
    """The text for operators: links and codes of one use are left out; empty for one of 1.0.0."""

    def __repr__(self) -> str:
        return f"Email(to={self.to!r}, subject={self.subject!r})"


def links_in(text: str) -> list[str]:
    """Return the links in an email's text, in order."""
    return [link.rstrip(".,;:)") for link in _LINK.findall(text)]


def email_to_bytes(email: Email) -> bytes:
    """Encode an email for encryption."""
    return msgspec.json.encode(email)


def email_from_bytes(encoded: bytes) -> Email:
    """Decode a decrypted email."""
    return msgspec.json.decode(encoded, type=Email)


class StoredEmail(Struct, frozen=True):
    """An email of the outbox with its text, which may hold a one-use link."""

    mail_id: str
    email: Email
    created_at: datetime
    sent_at: datetime | None
    attempts: int
    last_error: str | None

    @property
    def is_kept_here(self) -> bool:
        """Report whether it is in the mailbox of the service alone."""
        return is_kept_here(self.sent_at, self.attempts)


def is_kept_here(sent_at: datetime | None, attempts: int) -> bool:
    """Report whether an email counts as sent although no mail server was tried."""
    return sent_at is not None and not attempts
