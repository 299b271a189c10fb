"""Sessions of the console in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, cast

import sqlalchemy as sa

from mudra.identity.sessions.session import RECORD_EVERY, Session, Stage
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import console_session

_C: Final = console_session.c
_IN_ORDER: Final = sa.select(console_session).order_by(_C.started_at.desc(), _C.key)
_FIND: Final = _IN_ORDER.where(_C.key == sa.bindparam("key"))
_OF_USER: Final = _IN_ORDER.where(_C.user_id == sa.bindparam("user_id"))
_ADD: Final = sa.insert(console_session)
_USED: Final = (
    sa.update(console_session)
    .where(
        # Pages requested at the same time must not wait for each other here.
        _C.key
        == sa.select(_C.key)
        .where(_C.key == sa.bindparam("of_key"))
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    .values(last_used_at=sa.bindparam("at"))
)
_PROVEN: Final = (
    sa.update(console_session)
    .where(_C.key == sa.bindparam("of_key"))
    .values(proven_at=sa.bindparam("at"))
)
_END: Final = sa.delete(console_session).where(_C.key == sa.bindparam("key"))


class Sessions:
    """Sessions of the console."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def add(self, session: Session) -> None:
        """Store a new session."""
        await self._tx.connection.execute(
            _ADD,
            {
                "key": session.key,
                "user_id": session.user_id,
                "csrf_token": session.csrf_token,
                "started_at": session.started_at,
                "last_used_at": session.last_used_at,
                "proven_at": session.proven_at,
                "address": session.address,
                "stage": session.stage.value,
            },
        )

    async def find(self, key: bytes) -> Session | None:
        """Find a session, open or not."""
        found = _read(await self._tx.connection.execute(_FIND, {"key": key}))
        return found[0] if found else None

    async def used(self, session: Session, now: datetime) -> None:
        """Record a use, at most once a minute."""
        if now < session.last_used_at + RECORD_EVERY:
            return
        await self._tx.connection.execute(_USED, {"of_key": session.key, "at": now})

    async def proven(self, session: Session, now: datetime) -> None:
        """Record that the password or a code was typed again."""
        await self._tx.connection.execute(_PROVEN, {"of_key": session.key, "at": now})

    async def end(self, key: bytes) -> bool:
        """End a session; False when there was none."""
        done = await self._tx.connection.execute(_END, {"key": key})
        return done.rowcount == 1

    async def of_user(self, user_id: str) -> Sequence[Session]:
        """Return the sessions of a user, the newest first."""
        return _read(await self._tx.connection.execute(_OF_USER, {"user_id": user_id}))


def _read(rows: sa.CursorResult[tuple[object, ...]]) -> list[Session]:
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
