"""What the faults of the sandbox ask of storage and memory."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from mudra.tokens.faults.fault import Fault
from mudra.tokens.ports import KeyMaterial


class Faults(Protocol):
    """Faults at rest, in the caller's transaction."""

    async def now(self) -> datetime:
        """Return the service's time."""

    async def lock(self, entity_id: str) -> bool:
        """Lock the faults of an entity; False when there is no such entity."""

    async def active(self, entity_ids: Sequence[str] | None) -> Sequence[Fault]:
        """List the faults in force of these entities, of all where none are named."""

    async def keys_since(self, entity_id: str, since: datetime) -> int:
        """Count the keys that faults of an entity were given."""

    async def keep(self, fault: Fault, key: KeyMaterial | None) -> None:
        """Store a fault; every node knows it at the commit."""

    async def end(self, fault: Fault, now: datetime) -> None:
        """End a fault; every node knows it at the commit."""


class FaultBoard(Protocol):
    """The faults in force, in memory."""

    async def ready(self) -> None:
        """Return once what memory holds is valid."""

    def of(self, entity_id: str) -> Sequence[Fault]:
        """Return the faults in force of an entity."""

    def all(self) -> Sequence[Fault]:
        """Return all faults in force."""


class FaultKeys(Protocol):
    """The published keys, faults included."""

    async def jwks_of(self, entity_id: str) -> bytes:
        """Return the JWK Set as an entity with these faults is to see it."""
