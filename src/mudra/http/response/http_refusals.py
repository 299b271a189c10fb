"""Refusals of the HTTP edge itself: they are about the request, never about a rule of an area."""

from mudra.shared.refusal import Refusal


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
    """The database or a part that is needed did not answer."""

    retry_after_s: int = 2


class Unexpected(Refusal, frozen=True):
    """A fault of ours: the detail is in the log under the transaction ID."""
