"""The emails about secrets that were sent, so that each is sent once."""

from collections.abc import Collection, Sequence
from datetime import datetime

import sqlalchemy as sa

from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity
from mudra.storage.tables.tokens import entity_secret, secret_reminder


class Reminders:
    """Marks of emails by secret version."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def candidates(self, expiring_before: datetime, ended_after: datetime) -> Sequence[str]:
        """Entities of which a secret expires by the first, or a grace ended after the second."""
        c = entity_secret.c
        found = await self._tx.connection.scalars(
            sa.select(c.entity_id)
            .join(entity, entity.c.entity_id == c.entity_id)
            .where(
                entity.c.status != "retired",
                sa.or_(
                    sa.and_(c.state == "current", c.expires_at <= expiring_before),
                    sa.and_(c.state == "grace", c.grace_until > ended_after),
                ),
            )
            .distinct()
            .order_by(c.entity_id)
        )
        return found.all()

    async def done(self, entity_id: str, version: int) -> Collection[int]:
        """Marks that are done for a secret."""
        c = secret_reminder.c
        found = await self._tx.connection.scalars(
            sa.select(c.mark).where(c.entity_id == entity_id, c.version == version)
        )
        return found.all()

    async def mark(
        self, entity_id: str, version: int, done: Collection[int], sent: int | None
    ) -> None:
        """Store marks as done; `sent` is the one for which an email is sent."""
        now = await self._tx.now()
        await self._tx.connection.execute(
            sa.insert(secret_reminder),
            [
                {
                    "entity_id": entity_id,
                    "version": version,
                    "mark": mark,
                    "done_at": now,
                    "sent": mark == sent,
                }
                for mark in sorted(done)
            ],
        )
