"""The signing keys in this node's memory, loaded once and read again when they change."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

import msgspec
from joserfc.jwk import RSAKey

from mudra.shared.shared_read import SharedRead
from mudra.shared.unavailable import Outage, ServiceUnavailable
from mudra.storage.caching.cache_invalidation import KEYS_CHANGED, CacheInvalidation
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.crypto.token_signer import TokenSigner
from mudra.storage.database.database import Database
from mudra.storage.tokens.signing_keys import PostgresSigningKeys
from mudra.tokens.issuing.claims import Claims, TokenKind
from mudra.tokens.signing_keys.key_lifecycle import SigningKey, published, signing

_REREAD_AFTER_S: Final = 60.0
_CHOICE_HOLDS: Final = timedelta(seconds=1)
"""A key is published long before and after it signs, so a second more or less does not matter."""


class NoSigningKey(ServiceUnavailable):
    """No key can sign: the service is not ready."""

    def __init__(self, kind: str) -> None:
        super().__init__(Outage.SIGNING_KEY, kind)


class NodeKeys:
    """Implements tokens/ports.py Signer."""

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
        self._keys: Sequence[SigningKey] = ()
        self._signers: dict[str, TokenSigner] = {}
        self._public: dict[str, RSAKey] = {}
        self._signing: dict[TokenKind, tuple[datetime, TokenSigner]] = {}
        """The signer of each kind, and when it was chosen; used again for `_CHOICE_HOLDS`."""
        self._stale = True
        self._changed_unread = False
        """Whether keys changed, or may have, and were not read since: memory is not used then."""
        self._read_at = float("-inf")
        self._reading = SharedRead()
        invalidation.on_change(self._changed)

    def _changed(self, key: str) -> None:
        if key in {"*", KEYS_CHANGED}:
            self._stale = True
        if key == KEYS_CHANGED:
            self._changed_unread = True

    def is_ready(self) -> bool:
        """Return whether the keys in memory are valid now."""
        if self._stale:
            return False
        if self._invalidation.is_valid(KEYS_CHANGED):
            return monotonic() - self._read_at < _REREAD_AFTER_S
        return not self._changed_unread and self._invalidation.is_usable_for_tokens(KEYS_CHANGED)

    async def ready(self) -> None:
        """Return once the keys in memory are valid; reads them when they changed.

        Keys in memory are used even without the database, since which of them signs depends on
        time alone; but not once this node knows of a change: one of them may have been dropped.
        """
        if self.is_ready():
            return
        called_at = monotonic()
        try:
            async with self._reading.turn():
                # A read that began while this call waited serves every call that waited.
                if self._stale or self._read_at < called_at:
                    await self._read()
        except ServiceUnavailable:
            if not self._keys or self._changed_unread:
                raise

    async def _read(self) -> None:
        generation, started_at = self._invalidation.generation, monotonic()
        async with self._database.transaction() as transaction:
            store = PostgresSigningKeys(transaction, self._encryption)
            keys = await store.all_keys()
            changed = self._stale or not self._public.keys() >= {key.kid for key in keys}
            private = await store.private_parts() if changed else None
        if private is not None:  # a key destroyed in the database leaves memory too
            self._signers = {
                kid: self._signers.get(kid) or TokenSigner(kid, pem, self._header_type)
                for kid, pem in private.items()
            }
        self._public = {
            key.kid: self._public.get(key.kid) or RSAKey.import_key(dict(key.public_jwk))
            for key in keys
        }
        self._keys = keys
        self._signing.clear()
        self._read_at = started_at
        self._stale = generation != self._invalidation.generation
        # What a fence announced may be committed after this read.
        self._changed_unread = self._changed_unread and (
            self._stale or self._invalidation.is_fenced(KEYS_CHANGED)
        )

    def sign(self, kind: TokenKind, claims: Claims) -> str:
        """Sign claims with the key that signs now; about 0.25 ms of CPU."""
        return self._signer(kind).sign(claims)

    def signing_kid(self, kind: TokenKind) -> str:
        """Return the ID of the key that signs now."""
        return self._signer(kind).kid

    def sign_detached(self, kind: TokenKind, body: bytes) -> str:
        """Sign a response's bytes as a detached JWS (RFC 7515 appendix F, RFC 7797)."""
        return self._signer(kind).sign_detached(body)

    def _signer(self, kind: TokenKind) -> TokenSigner:
        now = self._clock()
        chosen = self._signing.get(kind)
        if chosen is not None and now - chosen[0] < _CHOICE_HOLDS:
            return chosen[1]
        key = signing(self._keys, kind, now)
        signer = self._signers.get(key.kid) if key else None
        if signer is None:
            raise NoSigningKey(kind.value)
        self._signing[kind] = now, signer
        return signer

    def published_kids(self) -> Sequence[str]:
        """Return the IDs of the keys in the JWK Set."""
        return [key.kid for key in published(self._keys, self._clock())]

    def find_key(self, kid: str) -> tuple[TokenKind, RSAKey] | None:
        """Find a published key."""
        for key in published(self._keys, self._clock()):
            if key.kid == kid:
                return key.kind, self._public[kid]
        return None

    def issuer_of(self, kid: str) -> str:
        """Return the other issuer of an imported key; empty for a key of this service."""
        return next((key.issuer for key in self._keys if key.kid == kid), "")

    async def jwks(self) -> bytes:
        """Return the published keys as a JWK Set (RFC 7517 5), also without the database."""
        await self.ready()
        return msgspec.json.encode(
            {"keys": [key.public_jwk for key in published(self._keys, self._clock())]}
        )
