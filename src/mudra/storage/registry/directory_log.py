"""The directory and its log in PostgreSQL: implements registry/ports.py `DirectoryLog`.

The directory is kept in memory and brought up to date by the log's new rows;
it is believed as long as freshness.py says that nothing was missed.
"""

import asyncio
import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Final

import sqlalchemy as sa

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.registry.directory.directory import Change, Directory
from mudra.registry.payload.vocabulary import Addition, WordKind
from mudra.shared.entity_type import EntityType
from mudra.storage.audit.audit_log import PostgresAuditLog
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database
from mudra.storage.registry.registry import REGISTRY_CHANGED, PostgresRegistry
from mudra.storage.registry.tables import registry_change, registry_word


class PostgresDirectoryLog:
    """Reads the directory and its log of changes; one for each process."""

    def __init__(self, database: Database, invalidation: CacheInvalidation) -> None:
        self._database = database
        self._freshness = invalidation
        self._directory = Directory()
        self._marker = 0
        self._stale = True
        self._reading = asyncio.Lock()
        invalidation.on_change(self._changed)

    def _changed(self, key: str) -> None:
        if key in {"*", REGISTRY_CHANGED}:
            self._stale = True

    @property
    def _believable(self) -> bool:
        return not self._stale and self._freshness.is_valid(REGISTRY_CHANGED)

    async def current(self) -> Directory:
        """Give the directory after the last committed change."""
        if self._believable:
            return self._directory
        async with self._reading:
            if not self._believable:
                await self._read()
            return self._directory

    async def _read(self) -> None:
        generation = self._freshness.generation
        c = registry_change.c
        async with self._database.transaction() as transaction:
            newest = await transaction.connection.scalar(sa.select(sa.func.max(c.sequence)))
            if (newest or 0) < self._directory.sequence:
                # The database was replaced by an older one: what memory holds never happened.
                self._directory, self._marker = Directory(), 0
            rows = await transaction.connection.execute(
                sa.select(registry_change)
                .where(c.sequence > self._directory.sequence)
                .order_by(c.sequence)
            )
            changes = _changes(rows)
        if changes:
            self._directory = self._directory.after(changes)
            markers = [one.sequence for one in changes if one.entity_type is None]
            self._marker = max([self._marker, *markers])
        self._stale = generation != self._freshness.generation

    async def following(self, since: int, most: int) -> Sequence[Change]:
        """Give the log's rows after `since` in order, at most that many."""
        c = registry_change.c
        async with self._database.transaction() as transaction:
            rows = await transaction.connection.execute(
                sa.select(registry_change)
                .where(c.sequence > since)
                .order_by(c.sequence)
                .limit(most)
            )
            return _changes(rows)

    async def until(self, moment: dt.datetime) -> Sequence[Change]:
        """Give the log's rows up to a moment, in order."""
        c = registry_change.c
        async with self._database.transaction() as transaction:
            rows = await transaction.connection.execute(
                sa.select(registry_change).where(c.at <= moment).order_by(c.sequence)
            )
            return _changes(rows)

    async def opened_at(self) -> int:
        """Give the sequence of the marker of the last change of visibility; 0 for none."""
        await self.current()
        return self._marker


_OPENED: Final = "registry-open"


async def note_visibility(database: Database, *, opened: bool) -> None:
    """Write the marker into the log when the setting is not the one of the last start."""
    async with PostgresRegistry(database, Caller("system")).held() as held:
        await held.note_visibility(_OPENED, "true" if opened else "false")


class PostgresWordbook:
    """Keeps the operator's additions to the vocabulary."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def additions(self) -> Sequence[Addition]:
        """Give all additions in the order in which they were made."""
        c = registry_word.c
        async with self._database.transaction() as transaction:
            rows = await transaction.connection.execute(
                sa.select(c.kind, c.word, c.variants).order_by(c.number)
            )
            return [Addition(WordKind(kind), word, tuple(more)) for kind, word, more in rows]

    async def add(self, addition: Addition, actor: str) -> None:
        """Keep one addition, with its audit row."""
        async with self._database.transaction() as transaction:
            await transaction.connection.execute(
                sa.insert(registry_word).values(
                    kind=addition.kind.value,
                    word=addition.word,
                    variants=list(addition.variants),
                    added_by=actor,
                    added_at=await transaction.now(),
                )
            )
            await PostgresAuditLog(transaction).note(
                AuditEntry(
                    EventName.REGISTRY_VOCABULARY_CHANGE,
                    Caller(actor),
                    detail={"list": addition.kind.value, "word": addition.word},
                )
            )


def _changes(rows: Iterable[sa.Row[tuple[object, ...]]]) -> list[Change]:
    return [
        Change(
            row.sequence,
            row.at,
            EntityType(row.type) if row.type else None,
            row.entity_id,
            row.body,
        )
        for row in rows
    ]
