"""`GET /cr/v2/changes?since=N`: pages of changes, and how a mirror follows them."""

import datetime as dt
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from mudra.registry.directory.directory import MAX_PAGE, Change, Directory, Visibility, set_hash
from mudra.registry.payload.entry import digest
from mudra.registry.payload.fields.timestamp import wire_time
from mudra.registry.ports import DirectoryLog
from mudra.shared.entity_type import EntityType

PUT: Final = "put"
REMOVE: Final = "remove"


class WireChange(
    msgspec.Struct,
    frozen=True,
    rename={"entity_type": "type", "entity_id": "id"},
):
    """One change as a mirror reads it. `entry` is null when the entry left."""

    sequence: int
    at: str
    op: str
    entity_type: EntityType
    entity_id: str
    entry: msgspec.Raw


class Page(msgspec.Struct, frozen=True):
    """A page of changes. Nothing that the caller may see is missing after `since` up to `upto`.

    Sequence numbers that are not there belong to changes that the caller may
    not see. With `complete` the page is no difference: it holds every entry
    that the caller sees, and the mirror drops what it held. `hash` is that of
    the full set at `upto` (see `directory.set_hash`); it is empty while `more`
    pages follow.
    """

    since: int
    upto: int
    more: bool
    complete: bool
    hash: str
    changes: tuple[WireChange, ...]


class Stamp(Struct, frozen=True):
    """The facts that make a page fresh: by whom, for whom and when it was signed (seconds since 1970).

    Without it, anyone between registry and mirror could repeat an old page for ever.
    """

    registry: str
    """The base address of the token service, whose keys sign."""
    reader: str
    issued_at: int
    epoch: int


PAGE_LIFE_S: Final = 300
"""How long a page may be relied on after it was signed."""


class StampedPage(
    Page,
    frozen=True,
    kw_only=True,
    rename={"issued_at": "issuedAt", "valid_until": "validUntil"},
):
    """A page as it is signed and sent."""

    issued_at: int
    valid_until: int
    registry: str
    reader: str
    epoch: int


def stamped(found: Page, stamp: Stamp) -> StampedPage:
    """Return a page with its stamp."""
    return StampedPage(
        **{name: getattr(found, name) for name in Page.__struct_fields__},
        issued_at=stamp.issued_at,
        valid_until=stamp.issued_at + PAGE_LIFE_S,
        registry=stamp.registry,
        reader=stamp.reader,
        epoch=stamp.epoch,
    )


async def changes_since(log: DirectoryLog, visibility: Visibility, since: int) -> Page:
    """Return the caller's next page of changes after `since`."""
    directory = await log.current()
    if needs_whole(since, directory, await log.opened_at()):
        return whole(directory, visibility, since)
    following = await log.following(since, MAX_PAGE)
    # A change that was committed after `current` was read belongs to the next page.
    seen = [one for one in following if one.sequence <= directory.sequence]
    return page(directory, seen, visibility, since)


async def directory_at(log: DirectoryLog, moment: dt.datetime) -> Directory:
    """Return the directory as it was at a moment."""
    return Directory.of_last(await log.last_until(moment))


def needs_whole(since: int, directory: Directory, opened_at: int) -> bool:
    """Return whether a mirror at `since` can only be helped by the full set.

    So for a new mirror, for one that is ahead (the registry was restored from
    a backup), and for one from before the setting of visibility last changed,
    marked in the log at the sequence `opened_at`: entries became visible or
    invisible to it without a change of their own.
    """
    return since <= 0 or since > directory.sequence or since < opened_at


def whole(directory: Directory, visibility: Visibility, since: int) -> Page:
    """Return every entry that the caller sees, in the order in which they last changed."""
    listed = sorted(directory.visible(visibility), key=lambda one: one.sequence)
    changes = tuple(
        WireChange(
            one.sequence,
            wire_time(directory.changed_at[one.entity_id]),
            PUT,
            one.entity_type,
            one.entity_id,
            msgspec.Raw(one.body),
        )
        for one in listed
    )
    upto = directory.sequence
    return Page(
        since, upto, more=False, complete=True, hash=directory.hash(visibility), changes=changes
    )


def page(
    directory: Directory,
    following: Sequence[Change],
    visibility: Visibility,
    since: int,
    longest: int = MAX_PAGE,
) -> Page:
    """Return the changes after `since` that the caller may see.

    `following` are the log's rows after `since`, without a gap, at least
    `longest` of them or all up to the directory's sequence.
    """
    page_changes = following[:longest]
    upto = page_changes[-1].sequence if page_changes else since
    more = upto < directory.sequence
    changes = tuple(
        _wire(one, one.entity_type)
        for one in page_changes
        if one.entity_type is not None and visibility.sees(one.entity_type, one.entity_id)
    )
    shown_hash = "" if more else directory.hash(visibility)
    return Page(since, upto, more=more, complete=False, hash=shown_hash, changes=changes)


def _wire(change: Change, entity_type: EntityType) -> WireChange:
    body = msgspec.Raw(b"null" if change.body is None else change.body)
    op = REMOVE if change.body is None else PUT
    at = wire_time(change.at)
    return WireChange(change.sequence, at, op, entity_type, change.entity_id, body)


class Mirror(Struct, frozen=True):
    """A member's copy: the entries' bytes by type and ID, and how far it has come."""

    upto: int
    bodies: dict[tuple[EntityType, str], bytes]

    def follow(self, received: Page) -> "Mirror":
        """Return the copy after one more page."""
        bodies = {} if received.complete else dict(self.bodies)
        for change in received.changes:
            key = (change.entity_type, change.entity_id)
            if change.op == REMOVE:
                bodies.pop(key, None)
            else:
                bodies[key] = bytes(change.entry)
        return Mirror(received.upto, bodies)

    def hash(self) -> str:
        """Return the hash of the copy, to compare with the page's."""
        return set_hash((kind, one, digest(body)) for (kind, one), body in self.bodies.items())
