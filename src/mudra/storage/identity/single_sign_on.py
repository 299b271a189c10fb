"""Single sign-on in PostgreSQL: implements identity/single_sign_on/ports.py."""

from datetime import datetime
from typing import cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.identity.single_sign_on.ports import SignOnAttempt
from mudra.storage.database.database import Transaction
from mudra.storage.identity.tables import local_sign_in, sign_on_attempt
from mudra.storage.identity.waiting import oldest_of_busiest


class PostgresSingleSignOn:
    """Attempts at the provider, and exceptions from single sign-on."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def put_attempt(self, attempt: SignOnAttempt) -> None:
        """Store an attempt; it replaces the browser's earlier one."""
        values = {
            "state": attempt.state,
            "path": attempt.path,
            "address": attempt.address,
            "expires_at": attempt.expires_at,
        }
        await self._tx.connection.execute(
            insert(sign_on_attempt)
            .values(holder=attempt.holder, **values)
            .on_conflict_do_update(index_elements=["holder"], set_=values)
        )

    async def take_attempt(self, holder: bytes, now: datetime) -> SignOnAttempt | None:
        """Delete a browser's attempt and return it; None when there is none that still counts."""
        c = sign_on_attempt.c
        row = (
            await self._tx.connection.execute(
                sa.delete(sign_on_attempt)
                .where(c.holder == holder)
                .returning(c.state, c.path, c.address, c.expires_at)
            )
        ).first()
        if row is None or now >= row.expires_at:
            return None
        return SignOnAttempt(holder, bytes(row.state), row.path, row.address, row.expires_at)

    async def waiting(self, address: str, now: datetime) -> tuple[int, int]:
        """Count the attempts that wait: of an address, and of all."""
        c = sign_on_attempt.c
        row = (
            await self._tx.connection.execute(
                sa.select(sa.func.count().filter(c.address == address), sa.func.count()).where(
                    c.expires_at > now
                )
            )
        ).one()
        return int(row[0]), int(row[1])

    async def make_room(self, now: datetime) -> None:
        """Delete the oldest attempt that waits of the address that has the most."""
        waits = sign_on_attempt.c.expires_at > now
        await self._tx.connection.execute(oldest_of_busiest(sign_on_attempt, waits))

    async def allow_password(self, user_id: str, until: datetime) -> None:
        """Let an operator sign in with a password until then, whatever the setting says."""
        await self._tx.connection.execute(
            insert(local_sign_in)
            .values(user_id=user_id, until=until)
            .on_conflict_do_update(index_elements=["user_id"], set_={"until": until})
        )

    async def allowed_until(self, user_id: str) -> datetime | None:
        """Return until when an operator may."""
        found = await self._tx.connection.scalar(
            sa.select(local_sign_in.c.until).where(local_sign_in.c.user_id == user_id)
        )
        return cast("datetime | None", found)
