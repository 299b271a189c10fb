"""Credentials of entities in this node's memory, as long as cache_invalidation.py permits."""

import asyncio
from collections import OrderedDict
from collections.abc import Collection
from typing import Final

from mudra.storage.caching.cache_invalidation import CacheInvalidation, entity_key
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.database import Database
from mudra.storage.tokens.tokens import PostgresSecrets
from mudra.tokens.ports import EntityCredentials

_MAX_COUNT: Final = 20_000
"""Cached entries, those of unknown entities included; a network has a thousand members."""
_MAX_BATCH: Final = 500


class CredentialCache:
    """Implements tokens/ports.py CredentialSource.

    What is requested while a read is in progress goes together into the next
    one. A node whose cache is invalid for a moment, most likely under load,
    would otherwise open a transaction for each token, and never catch up.
    """

    def __init__(
        self,
        database: Database,
        encryption: DataEncryption,
        invalidation: CacheInvalidation,
        *,
        network_enforces: bool = False,
    ) -> None:
        """`network_enforces`: credentials of all entities are bound to their listed addresses."""
        self._network_enforces = network_enforces
        self._database = database
        self._encryption = encryption
        self._invalidation = invalidation
        self._cached: OrderedDict[str, EntityCredentials | None] = OrderedDict()
        self._wanted: dict[str, asyncio.Future[EntityCredentials | None]] = {}
        self._reading: asyncio.Task[None] | None = None
        invalidation.on_change(self._forget)

    def get_cached(self, entity_id: str) -> EntityCredentials | None:
        """Return them from memory, or None when the database must be asked."""
        return self._cached[entity_id] if self._is_cached(entity_id) else None

    def is_known_absent(self, entity_id: str) -> bool:
        """Return whether memory proves that there is no such entity."""
        return self._is_cached(entity_id) and self._cached[entity_id] is None

    async def find(self, entity_id: str) -> EntityCredentials | None:
        """Return them; None when there is no such entity."""
        if self._is_cached(entity_id):
            return self._cached[entity_id]
        if not entity_id.isprintable():
            return None  # PostgreSQL takes no NUL, and a failed read would fail for others too
        wanted = self._wanted.get(entity_id)
        if wanted is None:
            wanted = self._wanted[entity_id] = asyncio.get_running_loop().create_future()
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_wanted(), name="credentials")
        # Others may wait for the same result: a caller that gives up must not cancel it for them.
        return await asyncio.shield(wanted)

    def _is_cached(self, entity_id: str) -> bool:
        return entity_id in self._cached and self._invalidation.is_usable_for_tokens(
            entity_key(entity_id)
        )

    async def _read_wanted(self) -> None:
        try:
            while self._wanted:
                entity_ids = list(self._wanted)[:_MAX_BATCH]
                # A later caller may know of a change that this read does not see.
                batch = {entity_id: self._wanted.pop(entity_id) for entity_id in entity_ids}
                try:
                    found = await self._read(batch)
                except Exception as error:  # noqa: BLE001  # raised in each caller that waits
                    for future in batch.values():
                        future.set_exception(error)
                        future.exception()  # the caller may be gone
                    continue
                for entity_id, future in batch.items():
                    future.set_result(found.get(entity_id))
        finally:
            self._reading = None

    async def _read(self, entity_ids: Collection[str]) -> dict[str, EntityCredentials]:
        generation = self._invalidation.generation
        async with self._database.transaction() as transaction:
            found = await PostgresSecrets(transaction, self._encryption).credentials(
                entity_ids, network_enforces=self._network_enforces
            )
        # What changed during the read is not cached: it may be the previous state.
        if generation == self._invalidation.generation:
            for entity_id in entity_ids:
                if self._invalidation.is_valid(entity_key(entity_id)):
                    self._cached[entity_id] = found.get(entity_id)
                    self._cached.move_to_end(entity_id)
            while len(self._cached) > _MAX_COUNT:
                self._cached.popitem(last=False)
        return found

    def _forget(self, key: str) -> None:
        if key == "*":
            self._cached.clear()
        elif key.startswith("entity:"):
            self._cached.pop(key.removeprefix("entity:"), None)
