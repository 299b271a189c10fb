"""Sessions of the console in PostgreSQL: implements identity/sessions/session.py."""

from collections.abc import Sequence
from datetime import datetime
from typing import cast

import sqlalchemy as sa

from mudra.identity.sessions.session import RECORD_EVERY, Session, Stage
from mudra.storage.database.database import Transaction
from mudra.storage.identity.tables import console_session


class PostgresSessions:
    """Sessions of the console."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def add(self, session: Session) -> None:
        """Store a new session."""
        await self._tx.connection.execute(
            sa.insert(console_session).values(
                key=session.key,
                user_id=session.user_id,
                csrf_token=session.csrf_token,
                started_at=session.started_at,
                last_used_at=session.last_used_at,
                proven_at=session.proven_at,
                address=session.address,
                stage=session.stage.value,
            )
        )

    async def find(self, key: bytes) -> Session | None:
        """Find a session, open or not."""
        found = await self._where(console_session.c.key == key)
        return found[0] if found else None

    async def used(self, session: Session, now: datetime) -> None:
        """Record a use, at most once a minute."""
        if now < session.last_used_at + RECORD_EVERY:
            return
        # Pages requested at the same time must not wait for each other here.
        unlocked = (
            sa.select(console_session.c.key)
            .where(console_session.c.key == session.key)
            .with_for_update(skip_locked=True)
            .scalar_subquery()
        )
        await self._tx.connection.execute(
            sa.update(console_session)
            .where(console_session.c.key == unlocked)
            .values(last_used_at=now)
        )

    async def proven(self, session: Session, now: datetime) -> None:
        """Record that the password or a code was typed again."""
        await self._tx.connection.execute(
            sa.update(console_session)
            .where(console_session.c.key == session.key)
            .values(proven_at=now)
        )

    async def end(self, key: bytes) -> bool:
        """End a session; False when there was none."""
        done = await self._tx.connection.execute(
            sa.delete(console_session).where(console_session.c.key == key)
        )
        return done.rowcount == 1

    async def of_user(self, user_id: str) -> Sequence[Session]:
        """Return the sessions of a user, the newest first."""
        return await self._where(console_session.c.user_id == user_id)

    async def _where(self, which: sa.ColumnElement[bool]) -> list[Session]:
        rows = await self._tx.connection.execute(
            sa.select(console_session)
            .where(which)
            .order_by(console_session.c.started_at.desc(), console_session.c.key)
        )
        return [
            Session(
                key=bytes(row["key"]),
                user_id=row["user_id"],
                csrf_token=row["csrf_token"],
                started_at=row["started_at"],
                last_used_at=row["last_used_at"],
                proven_at=row["proven_at"],
                address=cast("str", row["address"]),
                stage=Stage(row["stage"]),
            )
            for row in rows.mappings()
        ]
