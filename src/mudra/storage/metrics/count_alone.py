"""Those who count what a limit allows wait for each other: implements metrics/ports.py."""

import sqlalchemy as sa

from mudra.metrics.ports import CountAlone
from mudra.storage.database.database import Transaction


def count_alone(transaction: Transaction) -> CountAlone:
    """Return what lets a transaction count alone; there is one lock for each limit."""

    async def alone(limit: str) -> None:
        await transaction.connection.execute(
            sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(limit, 0)))
        )

    return alone
