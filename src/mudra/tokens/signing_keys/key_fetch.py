"""Who has fetched a signing key: an operator looks here before the next one begins to sign.

A fetch is counted for every key that the answer held. Who fetched is known by
the address alone, as the registry's live entries have it; what comes from
elsewhere is counted together under an empty entity ID.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct


class KeyFetch(Struct, frozen=True):
    """How often a member fetched a key; `entity_id` is empty for all others together."""

    kid: str
    entity_id: str
    count: int
    first_at: datetime
    last_at: datetime


class KeyFetches(Protocol):
    """Reads the counts."""

    async def fetches(self) -> Sequence[KeyFetch]:
        """Give all counts, by key and entity."""
        ...
