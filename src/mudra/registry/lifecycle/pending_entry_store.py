"""Versions awaiting approval in PostgreSQL: implements registry/lifecycle/pending_entries.py."""

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa

from mudra.registry.lifecycle.pending_entries import PendingEntry
from mudra.registry.lifecycle.record import Version
from mudra.registry.lifecycle.record_store import read_version
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import PENDING, EntityStatus, VersionStatus
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.registry import registry_entity, registry_version

_E: Final = registry_entity.c
_V: Final = registry_version.c
_WAITING: Final = (
    sa.select(_E.type, _E.status.label("entity_status"), registry_version)
    .join(registry_version, _V.entity_id == _E.entity_id)
    .where(_V.status.in_([status.value for status in PENDING]))
    .order_by(_V.submitted_at, _V.entity_id)
    .limit(sa.bindparam("most", type_=sa.Integer))
)


class PendingEntries:
    """Pending versions and the live ones that they replace, in two statements."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def waiting(self, limit: int) -> Sequence[PendingEntry]:
        """Return the pending versions, the longest waiting first, at most that many."""
        rows = (await self._tx.connection.execute(_WAITING, {"most": limit})).mappings()
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
        rows = await self._tx.connection.execute(
            sa.select(registry_version).where(
                _V.entity_id.in_(entity_ids), _V.status == VersionStatus.LIVE.value
            )
        )
        return {row["entity_id"]: read_version(row) for row in rows.mappings()}
