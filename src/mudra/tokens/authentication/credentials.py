"""Credentials of entities in this node's memory, as long as cache_invalidation.py permits."""

from collections.abc import Mapping, Sequence
from typing import Final

from mudra.storage.caching.cache_invalidation import CacheInvalidation, entity_key
from mudra.storage.caching.node_cache import NodeCache
from mudra.storage.database.database import Database
from mudra.tokens.ports import EntityCredentials
from mudra.tokens.secrets.secret_store import Secrets

_MAX_COUNT: Final = 20_000
"""Cached entries, those of unknown entities included; a network has a thousand members."""
_MAX_BATCH: Final = 500


class Credentials:
    """Implements tokens/ports.py CredentialSource."""

    def __init__(
        self,
        database: Database,
        invalidation: CacheInvalidation,
        *,
        network_enforces: bool = False,
        most: int = _MAX_COUNT,
    ) -> None:
        """`network_enforces`: credentials of all entities are bound to their listed addresses."""
        self._network_enforces = network_enforces
        self._database = database
        self._cache = NodeCache[EntityCredentials | None](
            invalidation,
            (entity_key(""),),
            self._read,
            most=most,
            at_once=_MAX_BATCH,
            without_database=True,
        )

    def get_cached(self, entity_id: str) -> EntityCredentials | None:
        """Return them from memory, or None when the database must be asked."""
        known = self._cache.known(entity_id)
        return None if known is None else known.value

    def is_known_absent(self, entity_id: str) -> bool:
        """Return whether memory proves that there is no such entity."""
        known = self._cache.known(entity_id)
        return known is not None and known.value is None

    def __len__(self) -> int:
        """Return how many entities are remembered, unknown ones included."""
        return len(self._cache)

    async def find(self, entity_id: str) -> EntityCredentials | None:
        """Return them; None when there is no such entity."""
        if not entity_id.isprintable():
            return None  # PostgreSQL takes no NUL, and a failed read would fail for others too
        return await self._cache.find(entity_id)

    async def _read(self, entity_ids: Sequence[str]) -> Mapping[str, EntityCredentials | None]:
        async with self._database.transaction() as transaction:
            found = await Secrets(transaction).credentials(
                entity_ids, network_enforces=self._network_enforces
            )
        return {entity_id: found.get(entity_id) for entity_id in entity_ids}
