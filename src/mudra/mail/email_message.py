"""A letter ready to be sent, and its form in the outbox."""

import re
from typing import Final

import msgspec

_LINK: Final = re.compile(r"https?://[^\s<>\"]+")


class Attachment(msgspec.Struct, frozen=True):
    """A file of text that goes with a letter. `media_type` is `type/subtype`."""

    name: str
    media_type: str
    content: str


class Email(msgspec.Struct, frozen=True):
    """A letter ready to be sent. `text` and `html` may hold a one-use link."""

    to: str
    subject: str
    text: str
    html: str
    attachments: tuple[Attachment, ...] = ()

    def __repr__(self) -> str:
        return f"Letter(to={self.to!r}, subject={self.subject!r})"


def links_in(text: str) -> list[str]:
    """Find the links of a letter's text, in order."""
    return [link.rstrip(".,;:)") for link in _LINK.findall(text)]


def email_to_bytes(letter: Email) -> bytes:
    """Encode a letter for sealing."""
    return msgspec.json.encode(letter)


def email_from_bytes(encoded: bytes) -> Email:
    """Decode an unsealed letter."""
    return msgspec.json.decode(encoded, type=Email)
