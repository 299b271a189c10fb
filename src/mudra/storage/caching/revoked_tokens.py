"""Revoked entity tokens in this node's memory, as long as cache_invalidation.py permits."""

from typing import Final

import sqlalchemy as sa

from mudra.shared.shared_read import SharedRead
from mudra.storage.caching.cache_invalidation import CacheInvalidation, revoked_key
from mudra.storage.database.database import Database
from mudra.storage.database.tables import revoked_entity_token
from mudra.storage.tokens.tokens import PostgresIssuedTokens
from mudra.tokens.revocation.revocation_list import accepted_beyond

_PREFIX: Final = revoked_key("")
_MAX_COUNT: Final = 50_000
"""Cached tokens, about 6 MB; beyond it the database is asked about each."""


class RevokedTokenCache:
    """Implements tokens/ports.py Revocations."""

    def __init__(self, database: Database, invalidation: CacheInvalidation) -> None:
        self._database = database
        self._invalidation = invalidation
        self._known: frozenset[str] | None = None
        self._announced: set[str] = set()
        """Announced since the set was read; a fenced transaction may still be rolled back."""
        self._too_many = False
        self._changes = 0
        self._reading = SharedRead()
        invalidation.on_change(self._on_change)

    def _on_change(self, key: str) -> None:
        if key != "*" and not key.startswith(_PREFIX):
            return
        self._changes += 1
        if key == "*":
            self._known, self._too_many = None, False
        else:
            self._announced.add(key.removeprefix(_PREFIX))
            if len(self._announced) > _MAX_COUNT:
                self._announced.clear()
                self._known = None

    async def is_revoked(self, jti: str) -> bool:
        """Return whether a token was revoked, from memory where it is valid."""
        await self._ready()
        if (
            self._known is not None
            and jti not in self._announced
            and self._invalidation.is_valid(revoked_key(jti))
        ):
            return jti in self._known
        async with self._database.transaction() as transaction:
            return await PostgresIssuedTokens(transaction).entity_token_revoked(jti)

    async def _ready(self) -> None:
        if self._known is not None or self._too_many:
            return
        async with self._reading.turn():
            await self._read()

    async def _read(self) -> None:
        if self._known is not None:  # another call has read it in the meantime
            return
        changes = self._changes
        c = revoked_entity_token.c
        async with self._database.transaction() as transaction:
            expired = accepted_beyond(await transaction.now())
            rows = await transaction.connection.scalars(
                sa.select(c.jti).where(c.expires_at > expired).limit(_MAX_COUNT + 1)
            )
            found = frozenset(str(jti) for jti in rows)
        # What changed during the read is not cached: it may be the previous state.
        if changes != self._changes:
            return
        self._announced.clear()
        self._too_many = len(found) > _MAX_COUNT
        self._known = None if self._too_many else found
