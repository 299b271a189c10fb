"""Passkeys in PostgreSQL: implements identity/passkeys/ports.py. They hold public keys alone."""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.identity.passkeys.ports import Challenge, Passkey, Purpose
from mudra.storage.database.database import Transaction
from mudra.storage.identity.tables import passkey, passkey_challenge
from mudra.storage.identity.waiting import oldest_of_busiest


class PostgresPasskeys:
    """Passkeys, and the challenges that wait for an answer."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def of_user(self, user_id: str) -> Sequence[Passkey]:
        """Return a person's passkeys, the oldest first."""
        return await self._read(sa.select(passkey).where(passkey.c.user_id == user_id))

    async def by_credential(self, credential_id: bytes) -> Passkey | None:
        """Find a passkey, and hold its lock for this transaction."""
        found = await self._read(
            sa.select(passkey).where(passkey.c.credential_id == credential_id).with_for_update()
        )
        return found[0] if found else None

    async def add(self, new: Passkey) -> bool:
        """Store a new passkey; False when its credential is registered already."""
        stored = await self._tx.connection.scalar(
            insert(passkey)
            .values(
                passkey_id=new.passkey_id,
                user_id=new.user_id,
                name=new.name,
                credential_id=new.credential_id,
                public_key=new.public_key,
                sign_count=new.sign_count,
                created_at=new.created_at,
            )
            .on_conflict_do_nothing(index_elements=[passkey.c.credential_id])
            .returning(passkey.c.passkey_id)
        )
        return stored is not None

    async def used(self, passkey_id: str, sign_count: int, now: datetime) -> None:
        """Record a use and its counter."""
        await self._tx.connection.execute(
            sa.update(passkey)
            .where(passkey.c.passkey_id == passkey_id)
            .values(sign_count=sign_count, last_used_at=now)
        )

    async def remove(self, user_id: str, passkey_id: str) -> bool:
        """Delete one of a person's passkeys; False when they have none like it."""
        c = passkey.c
        done = await self._tx.connection.execute(
            # As text: what a form names may be no UUID at all.
            sa.delete(passkey).where(
                c.user_id == user_id, sa.cast(c.passkey_id, sa.Text) == passkey_id
            )
        )
        return done.rowcount == 1

    async def put_challenge(self, challenge: Challenge) -> None:
        """Store a challenge; it replaces the holder's earlier one of that purpose."""
        values = {
            "value": challenge.value,
            "address": challenge.address,
            "expires_at": challenge.expires_at,
        }
        await self._tx.connection.execute(
            insert(passkey_challenge)
            .values(holder=challenge.holder, purpose=challenge.purpose.value, **values)
            .on_conflict_do_update(index_elements=["holder", "purpose"], set_=values)
        )

    async def take_challenge(self, holder: bytes, purpose: Purpose, now: datetime) -> bytes | None:
        """Delete a holder's challenge and return it; None when there is none that still counts."""
        c = passkey_challenge.c
        row = (
            await self._tx.connection.execute(
                sa.delete(passkey_challenge)
                .where(c.holder == holder, c.purpose == purpose.value)
                .returning(c.value, c.expires_at)
            )
        ).first()
        return None if row is None or now >= row.expires_at else bytes(row.value)

    async def waiting(self, address: str, now: datetime) -> tuple[int, int]:
        """Count the challenges of browsers that are not signed in: of an address, and of all."""
        c = passkey_challenge.c
        row = (
            await self._tx.connection.execute(
                sa.select(sa.func.count().filter(c.address == address), sa.func.count()).where(
                    c.expires_at > now, c.purpose == Purpose.SIGN_IN.value
                )
            )
        ).one()
        return int(row[0]), int(row[1])

    async def make_room(self, now: datetime) -> None:
        """Delete the oldest of these challenges of the address that has the most."""
        c = passkey_challenge.c
        waits = sa.and_(c.expires_at > now, c.purpose == Purpose.SIGN_IN.value)
        await self._tx.connection.execute(oldest_of_busiest(passkey_challenge, waits))

    async def _read(self, query: sa.Select[tuple[object, ...]]) -> list[Passkey]:
        rows = await self._tx.connection.execute(
            query.order_by(passkey.c.created_at, passkey.c.passkey_id)
        )
        return [
            Passkey(
                passkey_id=row["passkey_id"],
                user_id=row["user_id"],
                name=row["name"],
                credential_id=bytes(row["credential_id"]),
                public_key=bytes(row["public_key"]),
                sign_count=row["sign_count"],
                created_at=row["created_at"],
                last_used_at=row["last_used_at"],
            )
            for row in rows.mappings()
        ]
