"""The audit log in PostgreSQL: implements audit/ports.py."""

from datetime import UTC, datetime
from typing import Final

import sqlalchemy as sa

from mudra.audit.event import AuditEntry, AuditEvent
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import audit_event

_STAMPED_BY_THE_DATABASE: Final = datetime.min.replace(tzinfo=UTC)

EVENT_COLUMNS: Final = (
    "at",
    "event",
    "outcome",
    "actor",
    "entity_id",
    "address",
    "txn_id",
    "reason",
    "detail",
)
"""What `event_row` gives."""


class PostgresAuditLog:
    """Appends entries in the transaction of the action itself (quality L3)."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def append(self, entry: AuditEntry) -> None:
        """Append an entry at the database's time."""
        row = event_row(entry.at(_STAMPED_BY_THE_DATABASE)) | {"at": self._tx.this_moment}
        await self._tx.connection.execute(sa.insert(audit_event).values(**row))


def event_row(event: AuditEvent) -> dict[str, object]:
    """Return an event as a row."""
    return {
        "at": event.at,
        "event": event.event.value,
        "outcome": event.outcome.value,
        "actor": event.actor,
        "entity_id": event.entity_id,
        "address": event.address,
        "txn_id": event.txn_id,
        "reason": event.reason,
        "detail": dict(event.detail),
    }
