"""The record of the registry about one entity: its status, and every version with who and when.

Status of the entity                  Status of a version
  unlisted ── goes live ──► live        submitted ─► approved (goes live later) ─► live
  live ◄──► suspended                       │             │                        │
  live, suspended ──► retired               ▼             ▼                        ▼
                                        rejected      withdrawn                superseded

At most one version is live, at most one is pending (submitted or approved).
"""

import datetime as dt

from msgspec import Struct
from msgspec.structs import replace

from mudra.registry.payload.entry import Entry, canonical, digest
from mudra.registry.payload.fields.certificate import KeyFacts
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import PENDING, EntityStatus, VersionStatus


class Version(Struct, frozen=True):
    """One version of an entry. `live_from` and `live_until` are the dates of its key, too."""

    number: int
    entry: Entry
    key: KeyFacts
    status: VersionStatus
    submitted_by: str
    submitted_at: dt.datetime
    decided_by: str = ""
    decided_at: dt.datetime | None = None
    reason: str = ""
    goes_live_at: dt.datetime | None = None
    live_from: dt.datetime | None = None
    live_until: dt.datetime | None = None
    submitted_person: str = ""
    """The same submitter as `user:ID`, whatever address that person has; empty for an entity."""
    equal_to: int = 0
    """The earlier version that a rollback restored with this one; 0 for none."""

    @property
    def was_live(self) -> bool:
        """Return whether counterparties ever saw this version."""
        return self.live_from is not None

    @property
    def hash(self) -> str:
        """Return the SHA-256 of what this version holds, in hexadecimal."""
        return digest(canonical(self.entry))


class Record(Struct, frozen=True):
    """The stored state of one entity; versions in order of their numbers, which begin at 1.

    There may be more versions than these, but the live, the pending and the newest are here.
    """

    entity_id: str
    entity_type: EntityType
    status: EntityStatus
    versions: tuple[Version, ...]

    @property
    def live(self) -> Version | None:
        """The version that counterparties see, or would see were it not suspended."""
        return next((one for one in self.versions if one.status is VersionStatus.LIVE), None)

    @property
    def pending(self) -> Version | None:
        """The version that awaits approval or its scheduled time."""
        return next((one for one in self.versions if one.status in PENDING), None)

    @property
    def scheduled(self) -> Version | None:
        """The version that is approved and goes live at its time."""
        return next((one for one in self.versions if one.status is VersionStatus.APPROVED), None)

    @property
    def next_number(self) -> int:
        """Return the number of the version that comes next."""
        return self.versions[-1].number + 1 if self.versions else 1

    @property
    def left_out(self) -> int:
        """Return how many versions are stored and not among these."""
        return self.next_number - 1 - len(self.versions)

    def version(self, number: int) -> Version | None:
        """Return the version of that number."""
        return next((one for one in self.versions if one.number == number), None)

    def with_version(self, version: Version) -> "Record":
        """Return the record with that version added, or replaced if it has it already."""
        others = (one for one in self.versions if one.number != version.number)
        versions = sorted((*others, version), key=lambda one: one.number)
        return replace(self, versions=tuple(versions))
