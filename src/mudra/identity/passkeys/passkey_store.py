"""Passkeys in PostgreSQL. They hold public keys alone."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.identity.passkeys.passkey import Challenge, Passkey, Purpose
from mudra.storage.database.oldest_of_busiest import oldest_of_busiest
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import passkey, passkey_challenge

_P: Final = passkey.c
_C: Final = passkey_challenge.c
_IN_ORDER: Final = sa.select(passkey).order_by(_P.created_at, _P.passkey_id)
_OF_USER: Final = _IN_ORDER.where(_P.user_id == sa.bindparam("user_id"))
_BY_CREDENTIAL: Final = _IN_ORDER.where(
    _P.credential_id == sa.bindparam("credential_id")
).with_for_update()
_USED: Final = (
    sa.update(passkey)
    .where(_P.passkey_id == sa.bindparam("of_passkey"))
    .values(sign_count=sa.bindparam("count"), last_used_at=sa.bindparam("at"))
)
_ADD_CHALLENGE: Final = insert(passkey_challenge)
_PUT_CHALLENGE: Final = _ADD_CHALLENGE.on_conflict_do_update(
    index_elements=["holder", "purpose"],
    set_={
        "value": _ADD_CHALLENGE.excluded.value,
        "address": _ADD_CHALLENGE.excluded.address,
        "expires_at": _ADD_CHALLENGE.excluded.expires_at,
    },
)
_TAKE_CHALLENGE: Final = (
    sa.delete(passkey_challenge)
    .where(_C.holder == sa.bindparam("holder"), _C.purpose == sa.bindparam("purpose"))
    .returning(_C.value, _C.expires_at)
)
_WAITS: Final = sa.and_(_C.expires_at > sa.bindparam("now"), _C.purpose == Purpose.SIGN_IN.value)
_WAITING: Final = sa.select(
    sa.func.count().filter(_C.address == sa.bindparam("address")), sa.func.count()
).where(_WAITS)
_MAKE_ROOM: Final = oldest_of_busiest(passkey_challenge, _WAITS)


class Passkeys:
    """Passkeys, and the challenges that wait for an answer."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def of_user(self, user_id: str) -> Sequence[Passkey]:
        """Return a person's passkeys, the oldest first."""
        return _read(await self._tx.connection.execute(_OF_USER, {"user_id": user_id}))

    async def by_credential(self, credential_id: bytes) -> Passkey | None:
        """Find a passkey, and hold its lock for this transaction."""
        found = _read(
            await self._tx.connection.execute(_BY_CREDENTIAL, {"credential_id": credential_id})
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
            _USED, {"of_passkey": passkey_id, "count": sign_count, "at": now}
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
        await self._tx.connection.execute(
            _PUT_CHALLENGE,
            {
                "holder": challenge.holder,
                "purpose": challenge.purpose.value,
                "value": challenge.value,
                "address": challenge.address,
                "expires_at": challenge.expires_at,
            },
        )

    async def take_challenge(self, holder: bytes, purpose: Purpose, now: datetime) -> bytes | None:
        """Delete a holder's challenge and return it; None when there is none that still counts."""
        which = {"holder": holder, "purpose": purpose.value}
        row = (await self._tx.connection.execute(_TAKE_CHALLENGE, which)).first()
        return None if row is None or now >= row.expires_at else bytes(row.value)

    async def waiting(self, address: str, now: datetime) -> tuple[int, int]:
        """Count the challenges of browsers that are not signed in: of an address, and of all."""
        which = {"address": address, "now": now}
        row = (await self._tx.connection.execute(_WAITING, which)).one()
        return int(row[0]), int(row[1])

    async def make_room(self, now: datetime) -> None:
        """Delete the oldest of these challenges of the address that has the most."""
        await self._tx.connection.execute(_MAKE_ROOM, {"now": now})


def _read(rows: sa.CursorResult[tuple[object, ...]]) -> list[Passkey]:
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
