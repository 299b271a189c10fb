"""What a change of the metrics means for the first database, kept with the change itself.

Where the metrics are apart, one commit cannot cover both. So an event of the audit, a notice to
members and an announcement are rows of the metrics' own transaction, and a job carries them over
(carry_over.py): nothing is lost or doubled, whenever a process ends.
"""

from collections.abc import Mapping
from datetime import datetime

import msgspec
import sqlalchemy as sa
from msgspec import Struct

from mudra.audit.event import AuditEntry, AuditEvent
from mudra.identity.ports import NoticeKind
from mudra.shared.ids import fresh_id
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.apart.tables import handover


class HandedEvent(Struct, frozen=True, tag="event"):
    """An event of the audit, at its own time."""

    event: AuditEvent


class HandedNotice(Struct, frozen=True, tag="notice"):
    """An email to the admins of a member."""

    entity_id: str
    kind: NoticeKind
    facts: dict[str, str]


class HandedChange(Struct, frozen=True, tag="change"):
    """A key whose change all nodes must hear of."""

    key: str


Handed = HandedEvent | HandedNotice | HandedChange


class HandedOverAudit:
    """Implements audit/ports.py AuditLog in the database of the metrics."""

    def __init__(self, metrics: Transaction) -> None:
        self._metrics = metrics

    async def append(self, entry: AuditEntry) -> None:
        """Keep an entry with its time, to be appended to the audit."""
        at = await self._metrics.now()
        await hand_over(self._metrics, entry.entity_id, HandedEvent(entry.at(at)), at)


class HandedOverNotices:
    """Implements the notices of a push in the database of the metrics."""

    def __init__(self, metrics: Transaction) -> None:
        self._metrics = metrics

    async def notify(self, entity_id: str, kind: NoticeKind, facts: Mapping[str, str]) -> None:
        """Keep a notice, to be sent to each recipient once."""
        notice = HandedNotice(entity_id, kind, dict(facts))
        await hand_over(self._metrics, entity_id, notice, await self._metrics.now())


async def hand_over(metrics: Transaction, aa_id: str, what: Handed, at: datetime) -> None:
    """Keep it in the transaction of the metrics."""
    await metrics.connection.execute(
        sa.insert(handover).values(
            aa_id=aa_id, handover_id=fresh_id(), noted_at=at, body=msgspec.json.encode(what)
        )
    )
