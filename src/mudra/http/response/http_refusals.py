"""Refusals of the HTTP edge itself: they are about the request, never about a rule of an area."""

from collections.abc import Mapping
from typing import Final

from mudra.localization.language import translatable
from mudra.server_protocol.refusal_status import HttpRefusal
from mudra.shared.refusal import PlainRefusal, Refusal, RefusalKind
from mudra.shared.unavailable import DatabaseUnavailable


class InvalidField(Refusal, frozen=True):
    """Refuses a field of the request; the sentence names the field and what is allowed."""

    kind = RefusalKind.INVALID
    sentence: str


class NoAuthorization(Refusal, frozen=True):
    """The Authorization header is missing or cannot be read."""

    kind = RefusalKind.UNAUTHORIZED
    sentence = "Authorization must hold 'Bearer' and a token"


NO_SUCH_ADDRESS: Final = PlainRefusal(RefusalKind.NOT_FOUND, "there is nothing at this path")


class MethodNotAllowed(HttpRefusal, frozen=True):
    """The resource exists; this method does not apply to it."""

    kind = RefusalKind.NOT_ALLOWED
    allowed: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"this path takes {', '.join(self.allowed)} only"

    @property
    def headers(self) -> Mapping[str, str]:
        """The methods that apply."""
        return {"Allow": ", ".join(self.allowed)}


class Unavailable(Refusal, frozen=True):
    """This node cannot answer now; `why` is the sentence of the outage."""

    kind = RefusalKind.BUSY
    why: str = DatabaseUnavailable().sentence
    retry_after_s: int = 2

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"{self.why}; try again"


class TooManyCalls(HttpRefusal, frozen=True):
    """A user's programs call more often than is permitted."""

    kind = RefusalKind.LIMITED
    wait_s: int

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return "too many calls with tokens of this user; wait, and send fewer at a time"

    @property
    def retry_after_s(self) -> int:
        """Return the seconds until the next call is permitted."""
        return self.wait_s


UNEXPECTED: Final = PlainRefusal(
    RefusalKind.FAILED,
    translatable("an unexpected error; report the txnId of this response to the operator"),
)


def too_many_listeners(retry_after_s: int) -> PlainRefusal:
    """Refuse: the member, or this worker, has the maximum number of open streams."""
    return PlainRefusal(
        RefusalKind.LIMITED, "as many streams of the feed are open as are permitted", retry_after_s
    )
