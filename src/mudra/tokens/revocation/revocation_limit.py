"""The limit of revocations of an entity, so that their list stays one that members accept.

Every member reads the whole list every few seconds, and takes none over that is larger than 8 MiB
(`client/verification/revocations.py`): one entity must not keep the suspension of another from
those who read it (decision 0100).
"""

import math
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.shared.refusal import WAIT_TEXT, Refusal, RefusalKind

ALWAYS_PERMITTED: Final = 50
"""Revoked tokens that every entity may have in the list, however full it is."""
MAX_OF_ENTITY: Final = 1_000
"""Of one entity: one every 90 seconds, of tokens that are valid for a day."""
SHARED_ROOM: Final = 50_000
"""So many of all entities leave none more than is always permitted."""


class TooManyRevocations(Refusal, frozen=True):
    """The list has no room for one more token of this entity until another one expires."""

    kind = RefusalKind.LIMITED
    sentence = (
        "too many revoked tokens of this entity have not expired; "
        f"use one token for its 24 hours, and {WAIT_TEXT}"
    )
    retry_after_s: int


class ListedTokens(Struct, frozen=True):
    """Revoked tokens that have not expired by now, by the database's clock."""

    of_entity: int
    of_all: int
    next_expiry: datetime
    """When the next one of the entity leaves the list; now, if it has none."""
    now: datetime


def check_room(listed: ListedTokens) -> TooManyRevocations | None:
    """Return a refusal when the entity may not revoke one more; the service itself always may."""
    if listed.of_entity < ALWAYS_PERMITTED:
        return None
    if listed.of_entity < MAX_OF_ENTITY and listed.of_all < SHARED_ROOM:
        return None
    wait = (listed.next_expiry - listed.now).total_seconds()
    return TooManyRevocations(max(1, math.ceil(wait)))
