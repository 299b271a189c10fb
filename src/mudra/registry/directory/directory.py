"""The directory: what the registry shows to whom, and how a mirror follows it.

The directory is the sum of a log of changes. The log's sequence numbers have
no gaps; a caller is shown those changes that it may see, together with the
number up to which nothing was left out, and a hash of all it sees there.
"""

import datetime as dt
import hashlib
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct, field

from mudra.registry.payload.entry import digest
from mudra.shared.entity_type import EntityType

MAX_PAGE: Final = 500
"""Changes in one response; the next request continues from the last number."""

_VISIBLE_TYPES: Final = {
    EntityType.AA: frozenset({EntityType.FIP, EntityType.FIU}),
    EntityType.FIU: frozenset({EntityType.AA, EntityType.FIP}),
    EntityType.FIP: frozenset({EntityType.AA}),
}
_ALL: Final = frozenset(EntityType)


class Visibility(Struct, frozen=True):
    """The entries that one caller sees: all of these types, and its own."""

    types: frozenset[EntityType]
    own: str = ""

    def sees(self, entity_type: EntityType | None, entity_id: str) -> bool:
        """Return whether an entry of that type and ID may be shown."""
        return entity_type is not None and (entity_type in self.types or entity_id == self.own)

    def within(self, entity_type: EntityType) -> "Visibility":
        """Return the same visibility of one type: equal for all callers who see the same of it."""
        if entity_type in self.types:
            return Visibility(frozenset({entity_type}))
        return Visibility(frozenset(), self.own)


OPERATOR_VISIBILITY: Final = Visibility(_ALL)


def visibility_of(entity_type: EntityType, entity_id: str, *, opened: bool = False) -> Visibility:
    """Return what an entity sees; `opened` is the setting that shows everything to all."""
    return Visibility(_ALL) if opened else Visibility(_VISIBLE_TYPES[entity_type], entity_id)


class Change(Struct, frozen=True):
    """One row of the log: an entry was added or changed (`body`), or removed (no body).

    A row without a type marks a change of the visibility setting.
    """

    sequence: int
    at: dt.datetime
    entity_type: EntityType | None
    entity_id: str
    body: bytes | None


class Listed(Struct, frozen=True):
    """An entry of the directory, with the change that added it."""

    entity_type: EntityType
    entity_id: str
    body: bytes
    digest: str
    sequence: int


class Directory(Struct, frozen=True):
    """All entries after the change `sequence`; each caller sees a part of them."""

    sequence: int = 0
    listed: Mapping[str, Listed] = field(default_factory=dict)
    changed_at: Mapping[str, dt.datetime] = field(default_factory=dict)
    """When each entity was last added, changed or removed; removed ones stay in it."""

    def after(self, changes: Iterable[Change]) -> "Directory":
        """Return the directory after further changes.

        Raises `ValueError` at a gap: what would be shown then would be wrong.
        """
        following, sequence = list(changes), self.sequence
        for change in following:
            if change.sequence != sequence + 1:
                raise ValueError(f"change {change.sequence} follows {sequence}: one is missing")
            sequence = change.sequence
        return _applied(self, following)

    @staticmethod
    def of_last(changes: Iterable[Change]) -> "Directory":
        """Return the directory after the last change of each entity, in order of their numbers.

        What came before them shows no more, so a log of years is as fast to read as one of days.
        """
        return _applied(Directory(), changes)

    def visible(
        self, visibility: Visibility, entity_type: EntityType | None = None
    ) -> tuple[Listed, ...]:
        """Return the entries that a caller sees, of one type or all, sorted by type and ID."""
        seen = (
            one
            for one in self.listed.values()
            if visibility.sees(one.entity_type, one.entity_id)
            and entity_type in {None, one.entity_type}
        )
        return tuple(sorted(seen, key=lambda one: (one.entity_type, one.entity_id)))

    def one(self, visibility: Visibility, entity_type: EntityType, entity_id: str) -> Listed | None:
        """Return one entry, or None when it is not there or not for this caller."""
        found = self.listed.get(entity_id)
        if found is None or found.entity_type is not entity_type:
            return None
        return found if visibility.sees(entity_type, entity_id) else None

    def hash(self, visibility: Visibility) -> str:
        """Return the hash of everything a caller sees: see `set_hash`."""
        return set_hash(
            (one.entity_type, one.entity_id, one.digest) for one in self.visible(visibility)
        )


def _applied(directory: Directory, changes: Iterable[Change]) -> Directory:
    listed, changed_at = dict(directory.listed), dict(directory.changed_at)
    sequence = directory.sequence
    for change in changes:
        sequence = change.sequence
        changed_at[change.entity_id] = change.at
        if change.body is None or change.entity_type is None:
            listed.pop(change.entity_id, None)
        else:
            listed[change.entity_id] = Listed(
                change.entity_type, change.entity_id, change.body, digest(change.body), sequence
            )
    return Directory(sequence, listed, changed_at)


class DirectoryListing(Struct, frozen=True):
    """The finished body of a read, its strong ETag, and when it last changed."""

    body: bytes
    etag: str
    last_modified: dt.datetime | None


def listing(
    directory: Directory, visibility: Visibility, entity_type: EntityType
) -> DirectoryListing:
    """Return `GET /cr/v2/entityInfo/{type}`: an array of whole payloads."""
    bodies = (one.body for one in directory.visible(visibility, entity_type))
    body = b"[" + b",".join(bodies) + b"]"
    return DirectoryListing(
        body, f'"{digest(body)}"', _last_change(directory, visibility, entity_type)
    )


def single(
    directory: Directory, visibility: Visibility, entity_type: EntityType, entity_id: str
) -> DirectoryListing | None:
    """Return `GET /cr/v2/entityInfo/{type}/{id}`: one payload, or None for a 404."""
    found = directory.one(visibility, entity_type, entity_id)
    if found is None:
        return None
    return DirectoryListing(found.body, f'"{found.digest}"', directory.changed_at[entity_id])


def set_hash(entries: Iterable[tuple[str, str, str]]) -> str:
    """Return the hash by which a mirror verifies that it is complete.

    SHA-256, in hexadecimal, over one line `TYPE/ID DIGEST` and a line feed for
    each entry, lines sorted bytewise; DIGEST is the SHA-256 of the entry in its
    canonical form (RFC 8785), in hexadecimal.
    """
    lines = sorted(f"{kind}/{entity_id} {one}\n".encode() for kind, entity_id, one in entries)
    return hashlib.sha256(b"".join(lines)).hexdigest()


def _last_change(
    directory: Directory, visibility: Visibility, entity_type: EntityType
) -> dt.datetime | None:
    """Return the time of the last change that can have touched a listing.

    The type of a removed entry is not known any more, so any removal counts: a time
    too late costs one needless response, one too early would hide a change.
    """
    touched = (
        at
        for entity_id, at in directory.changed_at.items()
        if (one := directory.listed.get(entity_id)) is None
        or (one.entity_type is entity_type and visibility.sees(entity_type, entity_id))
    )
    return max(touched, default=None)
