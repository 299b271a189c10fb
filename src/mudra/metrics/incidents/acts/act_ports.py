"""The ports of acts on incidents to storage."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from mudra.metrics.incidents.acts.act import Act
from mudra.metrics.incidents.incident import StoredIncident


class IncidentActs(Protocol):
    """Stored acts, and the incidents that they change."""

    async def now(self) -> datetime:
        """Returns the time."""
        ...

    async def lock(self, incident_id: str) -> StoredIncident | None:
        """Returns an incident that no one else changes until the transaction ends."""
        ...

    async def of(self, incident_id: str) -> Sequence[Act]:
        """Returns the acts on an incident, the oldest first."""
        ...

    async def add(self, before: StoredIncident, after: StoredIncident, act: Act) -> None:
        """Stores an act on a locked incident, and the owner and decision after it."""
        ...

    async def notes(self, incident_ids: Sequence[str]) -> Mapping[str, Act]:
        """Returns what was written last about each: its post-mortem, else a reason or comment."""
        ...

    async def owners(self) -> Sequence[str]:
        """Returns the addresses of the operators who may own incidents, in their order."""
        ...
