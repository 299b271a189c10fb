"""The emails about secrets that were sent, so that each is sent once."""

from collections.abc import Collection, Sequence
from datetime import datetime

import sqlalchemy as sa
from msgspec import Struct

from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity
from mudra.storage.tables.tokens import entity_secret, secret_reminder


class Expiring(Struct, frozen=True):
    """When a secret was made and expires, and the marks of emails about it that are done."""

    entity_id: str
    made_at: datetime
    expires_at: datetime
    done: Collection[int]


class Reminders:
    """Marks of emails by secret version."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def expiring(self, before: datetime) -> Sequence[Expiring]:
        """The current secrets that expire by then or have expired, but for retired entities."""
        c, done = entity_secret.c, secret_reminder.c
        marks = sa.select(done.mark).where(done.entity_id == c.entity_id, done.version == c.version)
        found = await self._tx.connection.execute(
            sa.select(
                c.entity_id, c.created_at, c.expires_at, sa.func.array(marks.scalar_subquery())
            )
            .join(entity, entity.c.entity_id == c.entity_id)
            .where(entity.c.status != "retired", c.state == "current", c.expires_at <= before)
        )
        return [Expiring(row[0], row[1], row[2], row[3]) for row in found]

    async def in_grace(self, ended_after: datetime) -> Sequence[str]:
        """The entities with an old secret whose grace ends, or has ended, after this time."""
        c = entity_secret.c
        found = await self._tx.connection.scalars(
            sa.select(c.entity_id)
            .join(entity, entity.c.entity_id == c.entity_id)
            .where(entity.c.status != "retired", c.state == "grace", c.grace_until > ended_after)
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
