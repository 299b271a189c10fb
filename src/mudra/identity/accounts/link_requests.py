"""Where "forgot password" leaves what was typed, for a job that looks at it."""

from collections.abc import Sequence
from typing import Protocol

from mudra.identity.accounts.email_link import LinkRequest


class LinkRequests(Protocol):
    """Requests for a link that a job looks at: the answer waits for none of its work."""

    async def ask(self, request: LinkRequest) -> None:
        """Store a request, the same way for every name; dropped while thousands wait."""

    async def take(self, limit: int) -> Sequence[LinkRequest]:
        """Take the oldest requests, so that no other transaction takes them."""
