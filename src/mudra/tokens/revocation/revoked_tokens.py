"""Revoked entity tokens in this node's memory, as long as cache_invalidation.py permits."""

from collections.abc import Mapping, Sequence
from typing import Final

from mudra.storage.caching.cache_invalidation import CacheInvalidation, revoked_key
from mudra.storage.caching.node_cache import NodeCache
from mudra.storage.database.database import Database
from mudra.tokens.authentication.issued_token_store import IssuedTokens

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
