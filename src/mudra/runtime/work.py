"""One unit of work: a transaction, seen through the ports of every area.

Edges and jobs open one per use case; wiring.py says what stands behind it.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from mudra.audit.ports import Journal
from mudra.identity.invite import LinkDesk
from mudra.identity.ports import Attempts, Links, Outbox, People
from mudra.tokens.ports import IssuedTokens, Secrets, SigningKeys


@dataclass(frozen=True, slots=True)
class Work:
    """The ports of one open transaction."""

    journal: Journal
    people: People
    links: Links
    link_desk: LinkDesk
    attempts: Attempts
    outbox: Outbox
    secrets: Secrets
    tokens: IssuedTokens
    keys: SigningKeys


OpenWork = Callable[[], AbstractAsyncContextManager[Work]]
"""Opens a transaction; commits at its end, rolls back on an exception."""
