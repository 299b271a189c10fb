"""Entity tokens that were revoked, in this node's memory, believed as freshness.py allows."""

import asyncio
from typing import Final

import sqlalchemy as sa

from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database
from mudra.storage.database.tables import revoked_entity_token
from mudra.storage.tokens.tokens import PostgresIssuedTokens, revoked_key

_PREFIX: Final = revoked_key("")
_MAX_COUNT: Final = 50_000
"""Tokens kept, about 6 MB; beyond it the database is asked about each."""


class RevokedTokens:
    """Implements http/dependencies.py `Revocations`."""

    def __init__(self, database: Database, invalidation: CacheInvalidation) -> None:
        self._database = database
        self._freshness = invalidation
        self._known: frozenset[str] | None = None
        self._announced: set[str] = set()
        """Heard of since the set was read; a held transaction may still come to nothing."""
        self._too_many = False
        self._times_heard = 0
        self._reading = asyncio.Lock()
        invalidation.on_change(self._heard)

    def _heard(self, key: str) -> None:
        if key != "*" and not key.startswith(_PREFIX):
            return
        self._times_heard += 1
        if key == "*":
            self._known, self._too_many = None, False
        else:
            self._announced.add(key.removeprefix(_PREFIX))
            if len(self._announced) > _MAX_COUNT:
                self._known = None

    async def holds(self, jti: str) -> bool:
        """Tell whether a token was revoked, from memory where memory may be believed."""
        await self._ready()
        if (
            self._known is not None
            and jti not in self._announced
            and self._freshness.is_valid(revoked_key(jti))
        ):
            return jti in self._known
        async with self._database.transaction() as transaction:
            return await PostgresIssuedTokens(transaction).entity_token_revoked(jti)

    async def _ready(self) -> None:
        if self._known is not None or self._too_many:
            return
        async with self._reading:
            await self._read()

    async def _read(self) -> None:
        if self._known is not None:  # another call has read it meanwhile
            return
        times_heard = self._times_heard
        c = revoked_entity_token.c
        async with self._database.transaction() as transaction:
            rows = await transaction.connection.scalars(
                sa.select(c.jti).where(c.expires_at > await transaction.now()).limit(_MAX_COUNT + 1)
            )
            found = frozenset(str(jti) for jti in rows)
        # What changed while it was read is not kept: it may be the former state.
        if times_heard != self._times_heard:
            return
        self._announced.clear()
        self._too_many = len(found) > _MAX_COUNT
        self._known = None if self._too_many else found
