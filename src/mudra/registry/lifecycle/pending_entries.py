"""Entries awaiting approval: a pending version, and the live one that it replaces."""

from typing import Final

from msgspec import Struct

from mudra.registry.lifecycle.difference import FieldChange, difference
from mudra.registry.lifecycle.record import Version
from mudra.registry.payload.fields.field_rules import Risk
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import EntityStatus

MAX_PENDING: Final = 1000
"""Pending versions that are listed at most."""


class PendingEntry(Struct, frozen=True):
    """A pending version of an entity, and what it would replace (None for a first entry)."""

    entity_id: str
    entity_type: EntityType
    status: EntityStatus
    pending: Version
    live: Version | None

    @property
    def changes(self) -> tuple[FieldChange, ...]:
        """The fields in which the two differ; none for a first entry."""
        return () if self.live is None else difference(self.live.entry, self.pending.entry)

    @property
    def risks(self) -> tuple[Risk, ...]:
        """The risks of the changes, each once, in the order of `Risk`."""
        found = {change.risk for change in self.changes}
        return tuple(risk for risk in Risk if risk in found and risk is not Risk.NONE)
