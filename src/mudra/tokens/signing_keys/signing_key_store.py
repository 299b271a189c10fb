"""Signing keys in PostgreSQL, private parts encrypted."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.shared.secret_text import SecretText
from mudra.storage.caching.cache_invalidation import KEYS_CHANGED
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.tokens import signing_key
from mudra.tokens.claims import TokenKind
from mudra.tokens.signing_keys.key_lifecycle import SigningKey

_PLANNING_LOCK: Final = sa.select(sa.func.pg_advisory_xact_lock(0x6D75647261 + 1))
_PLANNING_S: Final = 20.0
"""The holder of the lock may be making several RSA keys, each in up to 3 s; a client waits 30 s."""
_ALL: Final = sa.select(signing_key).order_by(signing_key.c.created_at)
_PRIVATE: Final = sa.select(signing_key.c.kid, signing_key.c.sealed_private).where(
    signing_key.c.sealed_private.is_not(None)
)


class SigningKeys:
    """Signing keys at rest."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._encryption = transaction.encryption

    async def locked_keys(self) -> Sequence[SigningKey]:
        """Read all keys, holding the lock under which one node plans at a time."""
        await self._tx.take_time(_PLANNING_S)
        await self._tx.connection.execute(_PLANNING_LOCK)
        return await self.all_keys()

    async def all_keys(self) -> Sequence[SigningKey]:
        """Read all keys without their private parts."""
        rows = (await self._tx.connection.execute(_ALL)).mappings()
        return [
            SigningKey(
                kid=row["kid"],
                kind=TokenKind(row["kind"]),
                created_at=row["created_at"],
                active_from=row["active_from"],
                retires_at=row["retires_at"],
                public_jwk=row["public_jwk"],
                revoked_at=row["revoked_at"],
                issuer=row["issuer"],
            )
            for row in rows
        ]

    async def private_parts(self, known: Collection[str] = ()) -> dict[str, SecretText | None]:
        """Return the private parts that still exist, by kid; None for a known one."""
        rows = await self._tx.connection.execute(_PRIVATE)
        return {
            kid: None
            if kid in known
            else self._encryption.decrypt_text(sealed, "signing_key", "sealed_private", kid)
            for kid, sealed in rows
        }

    async def keep(self, key: SigningKey, private_pem: SecretText) -> None:
        """Store a new key, its private part encrypted."""
        await self._tx.connection.execute(
            sa.insert(signing_key).values(
                kid=key.kid,
                kind=key.kind.value,
                public_jwk=key.public_jwk,
                sealed_private=self._encryption.encrypt_text(
                    private_pem, "signing_key", "sealed_private", key.kid
                ),
                created_at=key.created_at,
                active_from=key.active_from,
            )
        )
        await self._tx.changing(KEYS_CHANGED)

    async def keep_imported(self, key: SigningKey) -> None:
        """Store the public key of another issuer, or the new end of one that is known."""
        ends = {"retires_at": key.retires_at, "revoked_at": None}
        await self._tx.connection.execute(
            insert(signing_key)
            .values(
                kid=key.kid,
                kind=key.kind.value,
                public_jwk=key.public_jwk,
                created_at=key.created_at,
                issuer=key.issuer,
                **ends,
            )
            .on_conflict_do_update(
                index_elements=["kid"], set_=ends, where=signing_key.c.issuer != ""
            )
        )
        await self._tx.changing(KEYS_CHANGED, must_not_be_missed=True)

    async def appoint(self, kid: str, active_from: datetime) -> None:
        """Set when a key begins to sign."""
        await self._set([kid], active_from=active_from)

    async def retire(self, kid: str, at: datetime | None) -> None:
        """Set when a key stops signing; None for one that signs on, without a successor."""
        await self._set([kid], retires_at=at)

    async def revoke(self, kids: Collection[str], at: datetime) -> None:
        """Drop keys at once, published or not; every node learns of all by one announcement."""
        await self._set(kids, revoked_at=at, sealed_private=None)

    async def destroy_private(self, kid: str) -> bool:
        """Delete the private part; False when it was gone already."""
        done = await self._tx.connection.execute(
            sa.update(signing_key)
            .where(signing_key.c.kid == kid, signing_key.c.sealed_private.is_not(None))
            .values(sealed_private=None)
        )
        if done.rowcount != 1:  # asked at each run, for every key that was ever destroyed
            return False
        await self._tx.changing(KEYS_CHANGED)
        return True

    async def _set(self, kids: Collection[str], **values: object) -> None:
        await self._tx.connection.execute(
            sa.update(signing_key).where(signing_key.c.kid.in_(list(kids))).values(**values)
        )
        await self._tx.changing(KEYS_CHANGED, must_not_be_missed=True)
