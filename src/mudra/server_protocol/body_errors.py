"""Refusals of a request's body.

After a refusal that leaves bytes unread the connection must be closed
(`connection: close`): what follows on it is the rest of the body, not a request.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias, TypeGuard

from mudra.server_protocol.refusal_status import HttpRefusal
from mudra.shared.refusal import Refusal, RefusalKind

CLOSE: Final = {"Connection": "close"}


class BodyTooLarge(HttpRefusal, frozen=True):
    """More than `limit` bytes, packed or unpacked."""

    kind = RefusalKind.TOO_LARGE
    headers = CLOSE
    limit: int

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"the body must be at most {self.limit} bytes"


class BodyTooSlow(HttpRefusal, frozen=True):
    """Not whole within `limit_s` seconds, or below `min_bytes_per_s`."""

    kind = RefusalKind.TOO_SLOW
    headers = CLOSE
    limit_s: float
    min_bytes_per_s: int

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"the body must arrive within {self.limit_s:g} seconds"


class BodyReadLate(HttpRefusal, frozen=True):
    """This process was too busy to read it in time, so the client is not to blame."""

    kind = RefusalKind.BUSY
    sentence = "this node is too busy and read the body late; try again"
    retry_after_s = 2
    headers = CLOSE


class UnsupportedEncoding(Refusal, frozen=True):
    """`Content-Encoding` is none of `allowed` (which may be empty)."""

    kind = RefusalKind.UNSUPPORTED
    sentence = "Content-Encoding is not supported here"
    sent: str
    allowed: tuple[str, ...]


class UnsupportedMediaType(Refusal, frozen=True):
    """`Content-Type` is not `allowed` in UTF-8."""

    kind = RefusalKind.UNSUPPORTED
    sent: str
    allowed: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"Content-Type must be {self.allowed}"


class MalformedBody(HttpRefusal, frozen=True):
    """The sentence says what is wrong and never holds a value.

    `unread` when the rest of the body was left on the connection.
    """

    kind = RefusalKind.INVALID
    sentence: str
    unread: bool = False

    @property
    def headers(self) -> Mapping[str, str]:
        """Closes a connection that still holds the rest of the body."""
        return CLOSE if self.unread else {}


class ClientGone(HttpRefusal, frozen=True):
    """The client left before its body was whole: there is no one to answer."""

    kind = RefusalKind.INVALID
    sentence = "the body ended early"
    headers = CLOSE


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
