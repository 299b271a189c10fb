"""Incidents as people read them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.localization.language import translatable
from mudra.metrics.incidents.explanation import causes_of
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.ports import Incidents
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.refusal import Refusal, RefusalKind

MAX_OPEN: Final = 10_000


class NoSuchIncident(Refusal, frozen=True):
    """No incident has this ID."""

    kind = RefusalKind.NOT_FOUND
    sentence = translatable("no incident of this ID")


class IncidentService(Struct, frozen=True):
    """Lists incidents in the caller's transaction."""

    store: Incidents

    async def latest(
        self, *, only_open: bool = False, entity_id: str | None = None, limit: int
    ) -> Sequence[StoredIncident]:
        """Returns the latest incidents, newest first; `entity_id` None is for all entities."""
        return await self.store.latest(only_open=only_open, entity_id=entity_id, limit=limit)

    async def to_handle(
        self, *, entity_id: str | None = None, limit: int
    ) -> Sequence[StoredIncident]:
        """Returns those that operators have to act on, newest first.

        The open ones, as people decided where they did against the evidence.
        """
        found = await self.store.latest(
            only_open=True, entity_id=entity_id, limit=MAX_OPEN, with_reopened=True
        )
        return [one for one in found if one.is_open][:limit]

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

    async def of_ids(self, incident_ids: Collection[str]) -> Sequence[StoredIncident]:
        """Returns the incidents of these IDs that there are, however old."""
        return await self.store.of_ids(sorted(incident_ids)) if incident_ids else ()

    async def find(self, incident_id: str) -> StoredIncident | NoSuchIncident:
        """Returns the incident of this ID, however old."""
        return await self.store.find(incident_id) or NoSuchIncident()
