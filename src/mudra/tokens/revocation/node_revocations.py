"""Revoked tokens and the signed revocation list in this node's memory.

Both are kept as long as cache_invalidation.py permits.
"""

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Final

from msgspec import Struct

from mudra.storage.caching.cache_invalidation import CacheInvalidation, entity_key, revoked_key
from mudra.storage.caching.node_cache import NodeCache
from mudra.storage.database.database import Database
from mudra.tokens.authentication.issued_token_store import IssuedTokens
from mudra.tokens.claims import TokenKind
from mudra.tokens.ports import Signer
from mudra.tokens.revocation.ended_token_store import ended_tokens
from mudra.tokens.revocation.revocation_list import EndedTokens, revocation_list

_MAX_COUNT: Final = 50_000
"""Tokens that were presented, about 10 MB."""
_MAX_BATCH: Final = 500


class RevokedTokens:
    """Implements tokens/ports.py Revocations: each token is looked up once, and then known."""

    def __init__(
        self, database: Database, invalidation: CacheInvalidation, most: int = _MAX_COUNT
    ) -> None:
        self._database = database
        self._cache = NodeCache(
            invalidation, (revoked_key(""),), self._read, most=most, at_once=_MAX_BATCH
        )

    def __len__(self) -> int:
        """Return how many tokens are remembered."""
        return len(self._cache)

    async def is_revoked(self, jti: str) -> bool:
        """Return whether a token was revoked, from memory where it is valid."""
        return await self._cache.find(jti)

    async def _read(self, jtis: Sequence[str]) -> Mapping[str, bool]:
        async with self._database.transaction() as transaction:
            revoked = await IssuedTokens(transaction).revoked_of(jtis)
        return {jti: jti in revoked for jti in jtis}


class SignedList(Struct, frozen=True):
    """The revocation list as it is sent."""

    body: bytes
    signature: str
    """A detached JWS over the body (RFC 7797)."""


_LIFE_S: Final = 10.0


class _Made(Struct, frozen=True):
    """The last list: it is sent again while nothing in it changes, so that its ETag holds."""

    of: EndedTokens
    signed: SignedList
    at: float


class RevocationLists:
    """Implements tokens/ports.py RevocationLists."""

    def __init__(
        self,
        database: Database,
        invalidation: CacheInvalidation,
        signer: Signer,
        issuer: str,
    ) -> None:
        self._database = database
        self._signer = signer
        self._issuer = issuer
        self._made = _Made(EndedTokens((), {}), SignedList(b"", ""), float("-inf"))
        self._cache = NodeCache(
            invalidation, (entity_key(""), revoked_key("")), self._read, lives_s=_LIFE_S
        )

    async def current(self) -> SignedList:
        """Return a list that is seconds old at most and has every committed revocation."""
        return await self._cache.find("")

    async def _read(self, keys: Sequence[str]) -> Mapping[str, SignedList]:
        await self._signer.ready()
        read_at = monotonic()
        async with self._database.transaction() as transaction:
            # One clock for all nodes: members refuse a list that is older than their last one.
            now = await transaction.now()
            ended = await ended_tokens(transaction)
        if ended != self._made.of or read_at - self._made.at >= _LIFE_S:
            body = revocation_list(self._issuer, ended, now)
            signed = SignedList(body, self._signer.sign_detached(TokenKind.ENTITY, body))
            self._made = _Made(ended, signed, read_at)
        return dict.fromkeys(keys, self._made.signed)
