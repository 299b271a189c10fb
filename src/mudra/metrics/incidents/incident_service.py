"""Incidents as people read and acknowledge them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.ports import AuditLog
from mudra.metrics.incidents.explanation import causes_of
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.ports import Incidents
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.refusal import Refusal

MAX_OPEN: Final = 10_000


class NoSuchIncident(Refusal, frozen=True):
    """No incident has this ID."""


class Acknowledged(Refusal, frozen=True):
    """Someone else acknowledged the incident after the caller had opened it."""

    by: str


class IncidentService(Struct, frozen=True):
    """Lists and acknowledges incidents in the caller's transaction."""

    store: Incidents
    audit_log: AuditLog

    async def latest(
        self, *, only_open: bool = False, entity_id: str | None = None, limit: int
    ) -> Sequence[StoredIncident]:
        """Returns the latest incidents, newest first; `entity_id` None is for all entities."""
        return await self.store.latest(only_open=only_open, entity_id=entity_id, limit=limit)

    async def since(self, moment: datetime) -> Sequence[StoredIncident]:
        """Returns incidents that are open or ended after this moment, oldest first."""
        return await self.store.since(moment)

    async def open_causes(self) -> Sequence[StoredIncident]:
        """Returns the causes of the network's current troubles, the oldest first.

        This is the one answer to "what is wrong now": each open incident is one cause.
        """
        found = await self.store.latest(only_open=True, entity_id=None, limit=MAX_OPEN)
        return found[::-1]

    async def causes_within(self, within: TimeRange) -> Sequence[StoredIncident]:
        """Returns the causes of a time, open or over, the oldest first; no withdrawn ones."""
        return causes_of(await self.store.since(within.start), within)

    async def find(self, incident_id: str) -> StoredIncident | NoSuchIncident:
        """Returns the incident of this ID, however old."""
        return await self.store.find(incident_id) or NoSuchIncident()

    async def acknowledge(
        self, incident_id: str, caller: Caller, *, instead_of: str | None = None
    ) -> StoredIncident | NoSuchIncident | Acknowledged:
        """Assigns an incident to the caller.

        `instead_of` is its owner when the caller decided, empty for none; None replaces any owner.
        """
        changed = await self.store.acknowledge(incident_id, caller.actor, instead_of)
        stored = await self.find(incident_id)
        if isinstance(stored, NoSuchIncident):
            return stored
        if not changed:
            return stored if stored.acknowledged_by == caller.actor else Acknowledged(stored.owner)
        await self.audit_log.append(
            AuditEntry(EventName.METRICS_INCIDENT_ACKNOWLEDGE, caller, incident_id)
        )
        return stored
