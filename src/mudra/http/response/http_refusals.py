"""Refusals of the HTTP edge itself: they are about the request, never about a rule of an area."""

from mudra.shared.refusal import Refusal
from mudra.shared.unavailable import DatabaseUnavailable


class InvalidField(Refusal, frozen=True):
    """A member of the request is wrong: the sentence names it and what is allowed."""

    sentence: str


class NoAuthorization(Refusal, frozen=True):
    """The Authorization header is missing or cannot be read."""


class NoSuchAddress(Refusal, frozen=True):
    """No resource at this path."""


class MethodNotAllowed(Refusal, frozen=True):
    """The resource exists; this method does not apply to it."""

    allowed: tuple[str, ...]


class Unavailable(Refusal, frozen=True):
    """This node cannot do it now: the sentence says why."""

    sentence: str = DatabaseUnavailable().sentence
    retry_after_s: int = 2


class Unexpected(Refusal, frozen=True):
    """A fault of ours: the detail is in the log under the transaction ID."""


class TooManyListeners(Refusal, frozen=True):
    """The member, or this worker, has the maximum number of open streams."""

    retry_after_s: int
