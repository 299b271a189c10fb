"""Credentials of entities in this node's memory, believed as freshness.py allows."""

import asyncio
from collections import OrderedDict
from collections.abc import Collection
from typing import Final

from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.database import Database
from mudra.storage.tokens.tokens import PostgresSecrets, entity_key
from mudra.tokens.ports import EntityCredentials

_MAX_COUNT: Final = 20_000
"""Entries kept, those of unknown entities included; a network has a thousand members."""
_MAX_TOGETHER: Final = 500


class CredentialCache:
    """Implements http/dependencies.py Credentials.

    What is asked for while a reading is under way goes together into the next
    one. A node that believes nothing for a moment, under load most likely,
    would otherwise open a transaction for each token, and fall behind for good.
    """

    def __init__(
        self, database: Database, seal: DataEncryption, invalidation: CacheInvalidation
    ) -> None:
        self._database = database
        self._seal = seal
        self._freshness = invalidation
        self._kept: OrderedDict[str, EntityCredentials | None] = OrderedDict()
        self._wanted: dict[str, asyncio.Future[EntityCredentials | None]] = {}
        self._reading: asyncio.Task[None] | None = None
        invalidation.on_change(self._forget)

    def get_cached(self, entity_id: str) -> EntityCredentials | None:
        """Give them from memory, or None when the database must be asked."""
        return self._kept[entity_id] if self._is_kept(entity_id) else None

    def is_known_absent(self, entity_id: str) -> bool:
        """Tell from memory that there is no such entity; False when the database must be asked."""
        return self._is_kept(entity_id) and self._kept[entity_id] is None

    async def of(self, entity_id: str) -> EntityCredentials | None:
        """Give them; None when there is no such entity."""
        if self._is_kept(entity_id):
            return self._kept[entity_id]
        if not entity_id.isprintable():
            return None  # PostgreSQL takes no NUL, and a refused reading would fail for others too
        wanted = self._wanted.get(entity_id)
        if wanted is None:
            wanted = self._wanted[entity_id] = asyncio.get_running_loop().create_future()
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_wanted(), name="credentials")
        # Others may wait for the same: a caller that gives up must not end it for them.
        return await asyncio.shield(wanted)

    def _is_kept(self, entity_id: str) -> bool:
        return entity_id in self._kept and self._freshness.is_valid(entity_key(entity_id))

    async def _read_wanted(self) -> None:
        try:
            while self._wanted:
                asked = list(self._wanted)[:_MAX_TOGETHER]
                # Whoever asks from here on may know of a change that this reading does not see.
                batch = {entity_id: self._wanted.pop(entity_id) for entity_id in asked}
                try:
                    found = await self._read(batch)
                except Exception as error:  # noqa: BLE001  # told to each that waits for it
                    for future in batch.values():
                        future.set_exception(error)
                        future.exception()  # whoever asked may have gone
                    continue
                for entity_id, future in batch.items():
                    future.set_result(found.get(entity_id))
        finally:
            self._reading = None

    async def _read(self, entity_ids: Collection[str]) -> dict[str, EntityCredentials]:
        generation = self._freshness.generation
        async with self._database.transaction() as transaction:
            found = await PostgresSecrets(transaction, self._seal).credentials(entity_ids)
        # What changed while it was read is not kept: it may be the former state.
        if generation == self._freshness.generation:
            for entity_id in entity_ids:
                if self._freshness.is_valid(entity_key(entity_id)):
                    self._kept[entity_id] = found.get(entity_id)
                    self._kept.move_to_end(entity_id)
            while len(self._kept) > _MAX_COUNT:
                self._kept.popitem(last=False)
        return found

    def _forget(self, key: str) -> None:
        if key == "*":
            self._kept.clear()
        elif key.startswith("entity:"):
            self._kept.pop(key.removeprefix("entity:"), None)
