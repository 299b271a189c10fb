"""How many tokens an entity was given, by day: for the eye, beside the audit's own rows."""

from collections.abc import Sequence
from datetime import date
from typing import Protocol

from msgspec import Struct


class DayCount(Struct, frozen=True):
    """Entity Access Tokens issued on one day of UTC."""

    day: date
    count: int


class TokenCounts(Protocol):
    """Reads the counts."""

    async def by_day(self, entity_id: str, since: date) -> Sequence[DayCount]:
        """Give the days since then on which the entity got any, in order."""
        ...
