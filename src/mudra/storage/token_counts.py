"""Tokens issued by day, added with the batches of the issue journal."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.storage.database import Transaction
from mudra.storage.token_count_tables import token_day
from mudra.tokens.token_count import DayCount


class PostgresTokenCounts:
    """Implements tokens/token_count.py TokenCounts."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def by_day(self, entity_id: str, since: date) -> Sequence[DayCount]:
        """Give the days since then on which the entity got any, in order."""
        c = token_day.c
        rows = await self._tx.connection.execute(
            sa.select(c.day, c.count)
            .where(c.entity_id == entity_id, c.day >= since)
            .order_by(c.day)
        )
        return [DayCount(*row) for row in rows]


async def add_counts(transaction: Transaction, counts: Mapping[str, int], at: datetime) -> None:
    """Add a batch, in one order on every node so that two batches never wait in a circle."""
    if not counts:
        return
    statement = insert(token_day)
    await transaction.connection.execute(
        statement.on_conflict_do_update(
            index_elements=["entity_id", "day"],
            set_={"count": token_day.c.count + statement.excluded.count},
        ),
        [
            {"entity_id": entity_id, "day": at.astimezone(UTC).date(), "count": count}
            for entity_id, count in sorted(Counter(counts).items())
        ],
    )
