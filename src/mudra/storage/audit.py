"""The audit journal in PostgreSQL: implements audit/ports.py."""

from datetime import datetime

import sqlalchemy as sa

from mudra.audit.event import Act
from mudra.storage.database import Transaction
from mudra.storage.tables import audit_event


class PostgresJournal:
    """Notes acts in the transaction of the act itself (quality L3)."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def note(self, act: Act) -> None:
        """Note an act at the database's time."""
        at = await self._tx.now()
        await self._tx.connection.execute(sa.insert(audit_event).values(**act_row(act, at)))


def act_row(act: Act, at: datetime) -> dict[str, object]:
    """Write an act as a row."""
    return {
        "at": at,
        "event": act.event.value,
        "actor": act.caller.actor,
        "entity_id": act.entity_id,
        "user_id": act.user_id,
        "address": act.caller.address,
        "txn_id": act.caller.txn_id,
        "reason": act.reason,
        "detail": dict(act.detail),
    }
