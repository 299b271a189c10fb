"""The number of members' secrets that end soon."""

from datetime import datetime

import sqlalchemy as sa

from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity
from mudra.storage.tables.tokens import entity_secret


async def secrets_ending_before(transaction: Transaction, end: datetime) -> int:
    """Count the members that may get tokens, and have a current secret that ends before this."""
    c = entity_secret.c
    found = await transaction.connection.scalar(
        sa.select(sa.func.count())
        .select_from(entity_secret.join(entity, entity.c.entity_id == c.entity_id))
        .where(entity.c.status == "active", c.state == "current", c.expires_at <= end)
    )
    return int(found or 0)
