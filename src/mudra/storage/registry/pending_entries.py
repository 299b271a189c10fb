"""Versions awaiting approval in PostgreSQL: implements registry/lifecycle/pending_entries.py."""

from collections.abc import Sequence

import sqlalchemy as sa

from mudra.registry.lifecycle.pending_entries import PendingEntry
from mudra.registry.lifecycle.record import PENDING, EntityStatus, Version, VersionStatus
from mudra.shared.entity_type import EntityType
from mudra.storage.database.database import Transaction
from mudra.storage.registry.rows import read_version
from mudra.storage.registry.tables import registry_entity, registry_version


class PostgresPendingEntries:
    """Pending versions and the live ones that they replace, in two statements."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def waiting(self, limit: int) -> Sequence[PendingEntry]:
        """Return the pending versions, the longest waiting first, at most that many."""
        e, v = registry_entity.c, registry_version.c
        rows = (
            await self._tx.connection.execute(
                sa.select(e.type, e.status.label("entity_status"), registry_version)
                .join(registry_version, v.entity_id == e.entity_id)
                .where(v.status.in_([status.value for status in PENDING]))
                .order_by(v.submitted_at, v.entity_id)
                .limit(limit)
            )
        ).mappings()
        pending = [
            (row["type"], row["entity_status"], row["entity_id"], read_version(row)) for row in rows
        ]
        live = await self._live([entity_id for _, _, entity_id, _ in pending])
        return [
            PendingEntry(
                entity_id, EntityType(kind), EntityStatus(status), version, live.get(entity_id)
            )
            for kind, status, entity_id, version in pending
        ]

    async def _live(self, entity_ids: Sequence[str]) -> dict[str, Version]:
        v = registry_version.c
        rows = await self._tx.connection.execute(
            sa.select(registry_version).where(
                v.entity_id.in_(entity_ids), v.status == VersionStatus.LIVE.value
            )
        )
        return {row["entity_id"]: read_version(row) for row in rows.mappings()}
