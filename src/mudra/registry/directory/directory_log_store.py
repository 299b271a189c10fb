"""The directory and its log in PostgreSQL: implements registry/ports.py `DirectoryLog`.

Each process keeps the directory in memory and applies the log's new rows to it;
the copy is valid as long as cache_invalidation.py says that nothing was missed.
It begins with the last row of each entity: the log keeps growing, and has no end.

A fail-over or a restore may lose rows that this process has applied, and other rows
may bear their numbers since. So each read asks for the last applied row again, and
begins again when the log has another one in its place.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import sqlalchemy as sa
from msgspec import Struct

from mudra.registry.directory.directory import Change, Directory
from mudra.registry.lifecycle.registry_store import REGISTRY_CHANGED, RegistryStore
from mudra.shared.entity_type import EntityType
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.caching.node_cache import NodeCache
from mudra.storage.database.database import Database
from mudra.storage.database.replica import ReplicaReads
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_epoch
from mudra.storage.tables.registry import registry_change

MOST_APPLIED: Final = 1000
"""Beyond so many new rows the directory begins again, which reads one row of each entity."""
_C: Final = registry_change.c
_FROM: Final = (
    sa.select(registry_change)
    .where(_C.sequence >= sa.bindparam("first"))
    .order_by(_C.sequence)
    .limit(MOST_APPLIED + 1)
)
_FOLLOWING: Final = (
    sa.select(registry_change)
    .where(_C.sequence > sa.bindparam("since"))
    .order_by(_C.sequence)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_UPTO: Final = (
    sa.select(_C.sequence)
    .where(_C.at <= sa.bindparam("moment"))
    .order_by(_C.at.desc(), _C.sequence.desc())
    .limit(1)
)


_EPOCH: Final = sa.select(sa.func.max(audit_epoch.c.at))


class _Applied(Struct, frozen=True):
    """The directory after the rows that were read, the last of them, and the last marker."""

    directory: Directory
    last: Change | None = None
    marker: int = 0


class DirectoryLogStore:
    """Reads the directory and its log of changes; one per process."""

    def __init__(self, database: ReplicaReads, invalidation: CacheInvalidation) -> None:
        self._database = database
        self._applied = _Applied(Directory())
        self._cache = NodeCache(invalidation, (REGISTRY_CHANGED,), self._read)

    async def current(self) -> Directory:
        """Return the directory after the last committed change."""
        return (await self._cache.find("")).directory

    async def _read(self, keys: Sequence[str]) -> Mapping[str, _Applied]:
        before = self._applied
        directory, last, marker = before.directory, before.last, before.marker
        async with self._database.transaction() as transaction:
            changes = [] if last is None else await _changes_from(transaction, last.sequence)
            if last is None or changes[:1] != [last] or len(changes) > MOST_APPLIED:
                changes = await _last_of_each(transaction, _ALL)
                directory, last, marker = Directory.of_last(changes), None, 0
            else:
                del changes[0]
                directory = directory.after(changes) if changes else directory
        if changes:
            last = changes[-1]
            markers = [one.sequence for one in changes if one.entity_type is None]
            marker = max([marker, *markers])
        # After all that may fail: a proof alone can make memory valid again.
        self._applied = _Applied(directory, last, marker)
        return dict.fromkeys(keys, self._applied)

    async def following(self, since: int, most: int) -> Sequence[Change]:
        """Return the log's rows after `since` in order, at most that many."""
        async with self._database.transaction() as transaction:
            rows = await transaction.connection.execute(_FOLLOWING, {"since": since, "most": most})
            return _changes(rows)

    async def last_until(self, moment: dt.datetime) -> Sequence[Change]:
        """Return the last change of each entity up to a moment, in order of their numbers."""
        async with self._database.transaction() as transaction:
            upto = await transaction.connection.scalar(_UPTO, {"moment": moment})
            return [] if upto is None else await _last_of_each(transaction, upto)

    async def epoch(self) -> int:
        """Return when the numbering of changes began, in milliseconds since 1970; 0 at first.

        The audit begins an epoch in each cluster and timeline that the database comes to (0090).
        """
        async with self._database.transaction() as transaction:
            began = await transaction.connection.scalar(_EPOCH)
        return 0 if began is None else int(began.timestamp() * 1000)

    async def opened_at(self) -> int:
        """Return the sequence of the last marker of a visibility change; 0 if there is none."""
        return (await self._cache.find("")).marker


_OPENED: Final = "registry-open"
_ALL: Final = 2**63 - 1
_LAST_OF_EACH: Final = sa.text("""
    WITH RECURSIVE last AS (
        (SELECT entity_id, sequence FROM registry_change WHERE sequence <= :upto
         ORDER BY entity_id DESC, sequence DESC LIMIT 1)
        UNION ALL
        SELECT next.entity_id, next.sequence FROM last, LATERAL (
            SELECT entity_id, sequence FROM registry_change
            WHERE entity_id < last.entity_id AND sequence <= :upto
            ORDER BY entity_id DESC, sequence DESC LIMIT 1
        ) next
    )
    SELECT registry_change.* FROM last JOIN registry_change USING (sequence) ORDER BY sequence
""")
"""One look into the index for each entity: grouping would read all that was ever changed."""


async def keep_visibility(database: Database, *, opened: bool) -> None:
    """Write the marker into the log if the setting differs from the last start's."""
    async with database.transaction() as transaction:
        await RegistryStore(transaction).keep_visibility(_OPENED, "true" if opened else "false")


async def _changes_from(transaction: Transaction, sequence: int) -> list[Change]:
    return _changes(await transaction.connection.execute(_FROM, {"first": sequence}))


async def _last_of_each(transaction: Transaction, upto: int) -> list[Change]:
    return _changes(await transaction.connection.execute(_LAST_OF_EACH, {"upto": upto}))


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
