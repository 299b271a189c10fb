"""Those who count what a limit allows wait for each other: implements metrics/ports.py."""

import sqlalchemy as sa

from mudra.storage.database.database import Transaction


class PostgresCountAlone:
    """Lets a transaction count alone, by a lock for each limit: implements `CountAlone`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def __call__(self, limit: str) -> None:
        """Let no other transaction count against this limit until this one ends."""
        await self._tx.connection.execute(
            sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(limit, 0)))
        )
