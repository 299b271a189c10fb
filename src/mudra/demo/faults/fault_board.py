"""The faults of a sandbox in this node's memory, and what they do to credentials and signatures.

`wiring.py` puts these in front of the sources that they change, in a sandbox only.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from time import monotonic
from typing import Final

import msgspec
import sqlalchemy as sa
from joserfc.jwk import RSAKey
from msgspec import Struct

from mudra.demo.faults.fault import Fault, FaultKind, jump_of, moved, with_faults
from mudra.http.dependencies import SandboxNotice
from mudra.shared.secret_text import SecretText
from mudra.shared.unavailable import ServiceUnavailable
from mudra.shared.waiting.fair_queue import Queue
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.database import Database
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity
from mudra.storage.tables.tokens import sandbox_fault
from mudra.tokens.claims import Claims, TokenKind
from mudra.tokens.ports import CredentialSource, EntityCredentials, KeyMaterial, Signer
from mudra.tokens.signing_keys.key_lifecycle import PUBLISHED_AFTER
from mudra.tokens.signing_keys.token_signer import TokenSigner

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


_CHANGE_S: Final = 2.0
_READ_S: Final = 1.0
_PAUSE_S: Final = 2.0
"""After a read that failed, what is known is used for so long."""


class FaultBoard:
    """The faults in force, read again when they changed."""

    def __init__(
        self,
        database: Database,
        encryption: DataEncryption,
        invalidation: CacheInvalidation,
        clock: Callable[[], datetime],
        header_type: str,
    ) -> None:
        self._database = database
        self._encryption = encryption
        self._invalidation = invalidation
        self._clock = clock
        self._header_type = header_type
        self._kept: Sequence[KeptFault] = ()
        self._signers: Mapping[str, TokenSigner] = {}
        self._public: Mapping[str, RSAKey] = {}
        self._stale = True
        self._again_at = self._changed_at = float("-inf")
        self._reading = Queue(1)
        invalidation.on_change(self._on_change)

    def _on_change(self, key: str) -> None:
        if key in {"*", FAULTS_CHANGED}:
            self._stale, self._changed_at = True, monotonic()

    def is_ready(self) -> bool:
        """Return whether what memory holds is valid now.

        A change that was announced a moment ago may not be committed yet. Without any, a database
        that hangs must not hold requests up: a sandbox may see a change late then.
        """
        settled = monotonic() - self._changed_at > _CHANGE_S
        return not self._stale and (settled or self._invalidation.is_valid(FAULTS_CHANGED))

    async def ready(self) -> None:
        """Return once what memory holds is valid; reads it where it is not.

        Without the database what was read last holds on: keys are served without it too.
        """
        if self.is_ready() or monotonic() < self._again_at:
            return
        async with self._reading.turn():
            if self.is_ready() or monotonic() < self._again_at:  # another call has tried meanwhile
                return
            try:
                await self._read()
            except ServiceUnavailable:
                self._again_at = monotonic() + _PAUSE_S

    async def _read(self) -> None:
        generation = self._invalidation.generation
        async with self._database.transaction(within_s=_READ_S) as transaction:
            kept = await FaultRows(transaction, self._encryption).kept()
        keys = [one.key for one in kept if one.key is not None]
        self._signers = {
            key.kid: self._signers.get(key.kid)
            or TokenSigner(key.kid, key.private_pem, self._header_type)
            for key in keys
        }
        self._public = {
            key.kid: self._public.get(key.kid) or RSAKey.import_key(dict(key.public_jwk))
            for key in keys
        }
        self._kept = kept
        self._stale = generation != self._invalidation.generation

    def of(self, entity_id: str) -> Sequence[Fault]:
        """Return the faults in force of an entity."""
        return [one for one in self.all() if one.entity_id == entity_id]

    def all(self) -> Sequence[Fault]:
        """Return all faults in force."""
        if not self._kept:
            return ()
        now = self._clock()
        return [one.fault for one in self._kept if one.fault.active(now)]

    def signer_of(self, entity_id: str) -> TokenSigner | None:
        """Return what signs tokens of an entity whose key has changed."""
        kid = next((one.kid for one in self.of(entity_id) if one.kid), "")
        return self._signers[kid] if kid else None

    def find_key(self, kid: str) -> RSAKey | None:
        """Return the published key of a fault."""
        return self._public[kid] if any(kid == one.kid for one in self._published()) else None

    def published(self) -> Mapping[str, dict[str, str]]:
        """Return the published keys of faults by their ID."""
        kids = {one.kid for one in self._published()}
        keys = [one.key for one in self._kept if one.key is not None]
        return {key.kid: key.public_jwk for key in keys if key.kid in kids}

    def notices(self, entity_id: str) -> Sequence[SandboxNotice]:
        """Return what pages warn of: the faults in force of an entity, of all for an empty ID."""
        faults = self.of(entity_id) if entity_id else self.all()
        return [SandboxNotice(one.entity_id, one.kind, one.ends_at) for one in faults]

    def _published(self) -> Sequence[Fault]:
        if not self._kept:
            return ()
        now = self._clock()
        return [one.fault for one in self._kept if is_published(one.fault, now)]


class FaultyCredentials:
    """Implements tokens/ports.py CredentialSource: those of an entity as its faults show them."""

    def __init__(self, source: CredentialSource, board: FaultBoard) -> None:
        self._source = source
        self._board = board

    def get_cached(self, entity_id: str) -> EntityCredentials | None:
        """Return them from memory; None for an entity with faults, whose requests take longer."""
        return None if self._is_concerned(entity_id) else self._source.get_cached(entity_id)

    def is_known_absent(self, entity_id: str) -> bool:
        """Return whether memory proves that there is no such entity."""
        return not self._is_concerned(entity_id) and self._source.is_known_absent(entity_id)

    async def find(self, entity_id: str) -> EntityCredentials | None:
        """Return them; None when there is no such entity."""
        await self._board.ready()
        found = await self._source.find(entity_id)
        faults = self._board.of(entity_id)
        return with_faults(found, faults) if found is not None and faults else found

    def _is_concerned(self, entity_id: str) -> bool:
        return not self._board.is_ready() or bool(self._board.of(entity_id))


class FaultySigner:
    """Implements tokens/ports.py Signer: other keys and times for entities with such faults."""

    def __init__(self, signer: Signer, board: FaultBoard) -> None:
        self._signer = signer
        self.board = board

    def is_ready(self) -> bool:
        """Return whether the keys in memory are valid now."""
        return self._signer.is_ready() and self.board.is_ready()

    async def ready(self) -> None:
        """Return once the keys in memory are valid."""
        await self.board.ready()
        await self._signer.ready()

    def sign(self, kind: TokenKind, claims: Claims) -> str:
        """Sign claims with the key that signs for their subject now."""
        subject = claims["sub"]
        if kind is not TokenKind.ENTITY or not isinstance(subject, str):
            return self._signer.sign(kind, claims)
        jump = jump_of(self.board.of(subject))
        if jump is not None:
            claims = moved(claims, jump)
        own = self.board.signer_of(subject)
        return own.sign(claims) if own else self._signer.sign(kind, claims)

    def signing_kid(self, kind: TokenKind) -> str:
        """Return the ID of the key that signs now, but for entities with a key of their own."""
        return self._signer.signing_kid(kind)

    def sign_detached(self, kind: TokenKind, body: bytes) -> str:
        """Sign a response's bytes as a detached JWS (RFC 7515 appendix F, RFC 7797)."""
        return self._signer.sign_detached(kind, body)

    def published_kids(self) -> Sequence[str]:
        """Return the IDs of the service's keys: fetches of a fault's key are not counted."""
        return self._signer.published_kids()

    def find_key(self, kid: str) -> tuple[TokenKind, RSAKey] | None:
        """Find a published key, which a fault may have made for tokens of entities."""
        own = self.board.find_key(kid)
        return (TokenKind.ENTITY, own) if own else self._signer.find_key(kid)

    def issuer_of(self, kid: str) -> str:
        """Return the other issuer of an imported key; empty for a key of this service."""
        return self._signer.issuer_of(kid)

    async def jwks(self) -> bytes:
        """Return the published keys with the keys of all faults."""
        await self.board.ready()
        whole = msgspec.json.decode(await self._signer.jwks())
        return msgspec.json.encode({"keys": [*self.board.published().values(), *whole["keys"]]})

    async def jwks_of(self, entity_id: str) -> bytes:
        """Return the keys as an entity is to see them: after a drop the new one alone."""
        await self.board.ready()
        for one in self.board.of(entity_id):
            if one.kind is FaultKind.KEY_DROP:
                return msgspec.json.encode({"keys": [self.board.published()[one.kid]]})
        return await self.jwks()
