"""The signing keys in this node's memory, loaded once and read again when they change."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec
from joserfc.jwk import RSAKey
from msgspec import Struct

from mudra.shared.unavailable import Outage, ServiceUnavailable
from mudra.storage.caching.cache_invalidation import KEYS_CHANGED, CacheInvalidation
from mudra.storage.caching.node_cache import NodeCache
from mudra.storage.database.database import Database
from mudra.tokens.claims import Claims, TokenKind
from mudra.tokens.signing_keys.key_lifecycle import SigningKey, published, signing
from mudra.tokens.signing_keys.signing_key_store import SigningKeys
from mudra.tokens.signing_keys.token_signer import TokenSigner

_LIFE_S: Final = 60.0
_CHOICE_HOLDS: Final = timedelta(seconds=1)
"""A key is published long before and after it signs, so a second more or less does not matter."""


class NoSigningKey(ServiceUnavailable):
    """No key can sign: the service is not ready."""

    def __init__(self, kind: str) -> None:
        super().__init__(Outage.SIGNING_KEY, kind)


class _Keys(Struct, frozen=True):
    """The keys, what signs with them by kid, and what verifies."""

    all: Sequence[SigningKey] = ()
    signers: Mapping[str, TokenSigner] = {}
    public: Mapping[str, RSAKey] = {}


class NodeKeys:
    """Implements tokens/ports.py Signer."""

    def __init__(
        self,
        database: Database,
        invalidation: CacheInvalidation,
        clock: Callable[[], datetime],
        header_type: str,
    ) -> None:
        self._database = database
        self._clock = clock
        self._header_type = header_type
        self._keys = _Keys()
        """As they were read last; used after `ready` alone."""
        self._signing: dict[TokenKind, tuple[datetime, TokenSigner]] = {}
        """The signer of each kind, and when it was chosen; used again for `_CHOICE_HOLDS`."""
        self._cache = NodeCache(
            invalidation, (KEYS_CHANGED,), self._read, lives_s=_LIFE_S, without_database=True
        )

    def is_ready(self) -> bool:
        """Return whether the keys in memory are valid now."""
        return self._cache.known("") is not None

    async def ready(self) -> None:
        """Return once the keys in memory are valid; reads them when they changed.

        Keys in memory are used even without the database, since which of them signs depends on
        time alone; but not once this node knows of a change: one of them may have been dropped.
        """
        try:
            await self._cache.find("")
        except ServiceUnavailable:
            if self._cache.last("") is None:
                raise

    async def _read(self, names: Sequence[str]) -> Mapping[str, _Keys]:
        async with self._database.transaction() as transaction:
            store = SigningKeys(transaction)
            keys = await store.all_keys()
            private = await store.private_parts(self._keys.signers.keys())
        before = self._keys
        # A key destroyed in the database leaves memory too.
        signers = {
            kid: before.signers[kid] if pem is None else TokenSigner(kid, pem, self._header_type)
            for kid, pem in private.items()
        }
        public = {
            key.kid: before.public.get(key.kid) or RSAKey.import_key(dict(key.public_jwk))
            for key in keys
        }
        self._keys = _Keys(keys, signers, public)
        self._signing.clear()
        return dict.fromkeys(names, self._keys)

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
        key = signing(self._keys.all, kind, now)
        signer = self._keys.signers.get(key.kid) if key else None
        if signer is None:
            raise NoSigningKey(kind.value)
        self._signing[kind] = now, signer
        return signer

    def published_kids(self) -> Sequence[str]:
        """Return the IDs of the keys in the JWK Set."""
        return [key.kid for key in published(self._keys.all, self._clock())]

    def find_key(self, kid: str) -> tuple[TokenKind, RSAKey] | None:
        """Find a published key."""
        for key in published(self._keys.all, self._clock()):
            if key.kid == kid:
                return key.kind, self._keys.public[kid]
        return None

    def issuer_of(self, kid: str) -> str:
        """Return the other issuer of an imported key; empty for a key of this service."""
        return next((key.issuer for key in self._keys.all if key.kid == kid), "")

    async def jwks(self) -> bytes:
        """Return the published keys as a JWK Set (RFC 7517 5), also without the database."""
        await self.ready()
        return msgspec.json.encode(
            {"keys": [key.public_jwk for key in published(self._keys.all, self._clock())]}
        )
