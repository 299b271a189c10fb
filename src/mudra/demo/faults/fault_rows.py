"""Faults of the sandbox in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
import sqlalchemy as sa
from msgspec import Struct

from mudra.demo.faults.fault import Fault
from mudra.shared.secret_text import SecretText
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity
from mudra.storage.tables.tokens import sandbox_fault
from mudra.tokens.claims import TokenKind
from mudra.tokens.ports import KeyMaterial
from mudra.tokens.signing_keys.key_lifecycle import PUBLISHED_AFTER

FAULTS_CHANGED: Final = "sandbox-faults"
"""The key under which changes of faults are announced."""
KEY_KEPT: Final = TokenKind.ENTITY.life + PUBLISHED_AFTER
"""So long the key of a fault that is over stays published: its tokens are still valid."""
_C: Final = sandbox_fault.c
_PLACE: Final = ("sandbox_fault", "sealed_private")
_AT: Final = sa.bindparam("at", type_=sa.TIMESTAMP(timezone=True))
_ACTIVE: Final = (
    sa.select(sandbox_fault)
    .where(_C.starts_at <= _AT, _C.ends_at > _AT)
    .order_by(_C.entity_id, _C.starts_at)
)
_ACTIVE_OF: Final = _ACTIVE.where(_C.entity_id.in_(sa.bindparam("entity_ids", expanding=True)))
_KEPT: Final = (
    sa.select(sandbox_fault)
    .where(sa.or_(_C.ends_at > _AT, sa.and_(_C.kid != "", _C.ends_at > sa.bindparam("since"))))
    .order_by(_C.entity_id, _C.starts_at)
)


class FaultKey(Struct, frozen=True):
    """The key of a fault; `private_pem` only while the fault may sign."""

    kid: str
    public_jwk: dict[str, str]
    private_pem: SecretText


class KeptFault(Struct, frozen=True):
    """A fault as memory keeps it, with its key if it has one."""

    fault: Fault
    key: FaultKey | None


class FaultRows:
    """Faults at rest, in the caller's transaction."""

    def __init__(self, transaction: Transaction, encryption: DataEncryption) -> None:
        self._tx = transaction
        self._encryption = encryption

    async def now(self) -> datetime:
        """Return the service's time."""
        return await self._tx.now()

    async def lock(self, entity_id: str) -> bool:
        """Lock the faults of an entity; False when there is no such entity."""
        found = await self._tx.connection.scalar(
            sa.select(entity.c.entity_id)
            .where(entity.c.entity_id == entity_id)
            .with_for_update(key_share=True)
        )
        return found is not None

    async def active(self, entity_ids: Sequence[str] | None) -> Sequence[Fault]:
        """List the faults in force of these entities, of all where none are named."""
        at = await self._tx.now()
        found = (
            await self._tx.connection.execute(_ACTIVE, {"at": at})
            if entity_ids is None
            else await self._tx.connection.execute(
                _ACTIVE_OF, {"at": at, "entity_ids": list(entity_ids)}
            )
        )
        rows = found.mappings()
        return [_fault(row) for row in rows]

    async def keys_since(self, entity_id: str, since: datetime) -> int:
        """Count the keys that faults of an entity were given."""
        found = await self._tx.connection.scalar(
            sa.select(sa.func.count())
            .select_from(sandbox_fault)
            .where(_C.entity_id == entity_id, _C.starts_at >= since, _C.kid != "")
        )
        return int(found or 0)

    async def keep(self, fault: Fault, key: KeyMaterial | None) -> None:
        """Store a fault; no node answers without it after the commit."""
        sealed = (
            self._encryption.encrypt_text(key.private_pem, *_PLACE, fault.fault_id) if key else None
        )
        await self._tx.connection.execute(
            sa.insert(sandbox_fault).values(
                **msgspec.to_builtins(fault, builtin_types=(datetime,)),
                public_jwk=key.public_jwk if key else sa.null(),
                sealed_private=sealed,
            )
        )
        await self._tx.changing(FAULTS_CHANGED, must_not_be_missed=True)

    async def end(self, fault: Fault, now: datetime) -> None:
        """End a fault; no node answers with it after the commit."""
        await self._tx.connection.execute(
            sa.update(sandbox_fault).where(_C.fault_id == fault.fault_id).values(ends_at=now)
        )
        await self._tx.changing(FAULTS_CHANGED, must_not_be_missed=True)

    async def kept(self) -> Sequence[KeptFault]:
        """Read the faults that are not over, and those whose key is still published."""
        at = await self._tx.now()
        found = await self._tx.connection.execute(_KEPT, {"at": at, "since": at - KEY_KEPT})
        rows = found.mappings()
        return [KeptFault(_fault(row), self._key(row)) for row in rows]

    def _key(self, row: sa.RowMapping) -> FaultKey | None:
        if not row["kid"]:
            return None
        pem = self._encryption.decrypt_text(row["sealed_private"], *_PLACE, row["fault_id"])
        return FaultKey(row["kid"], row["public_jwk"], pem)


def _fault(row: sa.RowMapping) -> Fault:
    return msgspec.convert({name: row[name] for name in Fault.__struct_fields__}, Fault)


def is_published(fault: Fault, now: datetime) -> bool:
    """Return whether the key of a fault is still in the JWK Set."""
    return bool(fault.kid) and fault.starts_at <= now < fault.ends_at + KEY_KEPT
