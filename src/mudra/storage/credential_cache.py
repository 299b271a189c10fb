"""Credentials of entities in this node's memory, believed as freshness.py allows."""

from collections import OrderedDict
from typing import Final

from mudra.storage.database import Database
from mudra.storage.freshness import Freshness
from mudra.storage.seal import Seal
from mudra.storage.tokens import PostgresSecrets, entity_key
from mudra.tokens.ports import EntityCredentials

_MOST: Final = 20_000
"""Entries kept, those of unknown entities included; a network has a thousand members."""


class CredentialCache:
    """Implements http/service.py Credentials."""

    def __init__(self, database: Database, seal: Seal, freshness: Freshness) -> None:
        self._database = database
        self._seal = seal
        self._freshness = freshness
        self._kept: OrderedDict[str, EntityCredentials | None] = OrderedDict()
        freshness.on_change(self._forget)

    def at_hand(self, entity_id: str) -> EntityCredentials | None:
        """Give them from memory, or None when the database must be asked."""
        kept = self._kept.get(entity_id)
        if kept is not None and self._freshness.believable(entity_key(entity_id)):
            return kept
        return None

    async def of(self, entity_id: str) -> EntityCredentials | None:
        """Give them; None when there is no such entity."""
        key = entity_key(entity_id)
        if entity_id in self._kept and self._freshness.believable(key):
            return self._kept[entity_id]
        generation = self._freshness.generation
        async with self._database.transaction() as transaction:
            found = await PostgresSecrets(transaction, self._seal).credentials(entity_id)
        # What changed while it was read is not kept: it may be the former state.
        if generation == self._freshness.generation and self._freshness.believable(key):
            self._kept[entity_id] = found
            self._kept.move_to_end(entity_id)
            if len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return found

    def _forget(self, key: str) -> None:
        if key == "*":
            self._kept.clear()
        elif key.startswith("entity:"):
            self._kept.pop(key.removeprefix("entity:"), None)
