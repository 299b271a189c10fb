"""Tokens issued by day, added with the batches of the issue log."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Final

import sqlalchemy as sa
from msgspec import Struct

from mudra.storage.database.bulk_insert import bulk_insert, parameter_of
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.tokens import token_day


class DayCount(Struct, frozen=True):
    """Entity Access Tokens issued on one day of UTC."""

    day: date
    count: int


_C: Final = token_day.c
_BY_DAY: Final = (
    sa.select(_C.day, _C.count)
    .where(_C.entity_id == sa.bindparam("entity_id"), _C.day >= sa.bindparam("since"))
    .order_by(_C.day)
)


class TokenCounts:
    """Implements tokens/ports.py TokenCounts."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def by_day(self, entity_id: str, since: date) -> Sequence[DayCount]:
        """Return the days since then on which the entity got any, in order."""
        rows = await self._tx.connection.execute(_BY_DAY, {"entity_id": entity_id, "since": since})
        return [DayCount(*row) for row in rows]

    async def add(self, entity_id: str) -> None:
        """Count one token issued today."""
        await add_counts(self._tx, {entity_id: 1}, await self._tx.now())


_NEW: Final = bulk_insert(token_day, "entity_id", "day", "count")
_ADD: Final = _NEW.on_conflict_do_update(
    index_elements=["entity_id", "day"],
    set_={"count": token_day.c.count + _NEW.excluded.count},
)


async def add_counts(transaction: Transaction, counts: Mapping[str, int], at: datetime) -> None:
    """Add a batch, in one order on every node so that two batches never deadlock."""
    if not counts:
        return
    day = at.astimezone(UTC).date()
    rows = [
        {"entity_id": entity_id, "day": day, "count": count}
        for entity_id, count in sorted(counts.items())
    ]
    await transaction.connection.execute(_ADD, parameter_of(rows))
