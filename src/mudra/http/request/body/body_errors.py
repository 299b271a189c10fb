"""Refusals of a request's body; `http/response/errors.py` maps them to responses.

After a refusal that leaves bytes unread the connection must be closed
(`connection: close`): what follows on it is the rest of the body, not a request.
"""

from typing import TypeAlias, TypeGuard

from mudra.shared.refusal import Refusal


class BodyTooLarge(Refusal, frozen=True):
    """413: more than `limit` bytes, packed or unpacked."""

    limit: int


class BodyTooSlow(Refusal, frozen=True):
    """408: not whole within `limit_s` seconds, or below `min_bytes_per_s`."""

    limit_s: float
    min_bytes_per_s: int


class BodyReadLate(Refusal, frozen=True):
    """503: this process was too busy to read it in time, so the client is not to blame."""


class UnsupportedEncoding(Refusal, frozen=True):
    """415: `Content-Encoding` is none of `allowed` (which may be empty)."""

    sent: str
    allowed: tuple[str, ...]


class UnsupportedMediaType(Refusal, frozen=True):
    """415: `Content-Type` is not `allowed` in UTF-8."""

    sent: str
    allowed: str


class MalformedBody(Refusal, frozen=True):
    """400: the sentence says what is wrong and never holds a value.

    `unread` when the rest of the body was left on the connection. `number_of`
    is the field whose number is not valid in this interface, empty for other reasons.
    """

    sentence: str
    unread: bool = False
    number_of: str = ""


class ClientGone(Refusal, frozen=True):
    """The client left before its body was whole: there is no one to answer."""


BodyRefused: TypeAlias = (
    BodyTooLarge
    | BodyTooSlow
    | BodyReadLate
    | UnsupportedEncoding
    | UnsupportedMediaType
    | MalformedBody
    | ClientGone
)


def is_body_refusal(received: object) -> TypeGuard[BodyRefused]:
    """Return whether the body itself was not accepted, before any field was looked at."""
    return isinstance(received, BodyRefused)
