"""The copy itself, and how a page of changes changes it. No I/O (docs/reference/registry.md)."""

import hashlib
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from mudra.client.entity_token import Role
from mudra.client.errors import DirectoryUnavailable

_WAY_OUT: Final = "the log has the reason; the library tries again"


class Change(msgspec.Struct, frozen=True):
    """One change of a page; `entry` is null when the entry left the registry."""

    op: Literal["put", "remove"]
    type: Role
    id: str
    entry: msgspec.Raw


class Page(
    msgspec.Struct,
    frozen=True,
    rename={"issued_at": "issuedAt", "valid_until": "validUntil"},
):
    """One answer of `/cr/v2/changes`; times are seconds since 1970."""

    since: int
    upto: int
    more: bool
    complete: bool
    hash: str
    changes: list[Change]
    issued_at: int
    valid_until: int
    registry: str
    reader: str
    epoch: int
    """When the numbering of changes began; a restore begins it again."""


class DirectoryEntry(msgspec.Struct, frozen=True):
    """A live entry of the registry."""

    entity_type: Role
    """What the entity is in the network."""
    entity_id: str
    """Its ID."""
    info: Mapping[str, object]
    """`entityinfo` of the payload."""
    payload: bytes
    """The whole payload as registered, as JSON."""

    @property
    def base_url(self) -> str:
        """The `baseurl` as registered, no address to call: `v2:https://…`, several with commas.

        `dict(one.split(":", 1) for one in base_url.split(","))["v2"]` is the address of
        a version; an entry without versions has one address alone.
        """
        return str(self.info.get("baseurl") or "")

    @property
    def certificate(self) -> Mapping[str, object]:
        """The public key of the entity as a JWK."""
        found = self.info.get("certificate")
        return found if isinstance(found, dict) else {}


class PageRefused(Exception):
    """A page that does not continue the copy; the text says why, for the log."""


class DirectoryCopy(msgspec.Struct, frozen=True):
    """Entries by their ID up to change `upto`. `proven`: the registry's hash was the same there.

    `issued_at` is when the registry signed the page that it follows from, 0 for none.
    """

    upto: int = 0
    entries: Mapping[str, tuple[Role, msgspec.Raw]] = {}
    proven: bool = False
    epoch: int = 0
    issued_at: int = 0

    def check_not_older(self, page: Page) -> None:
        """Raise PageRefused for a page from before this copy: someone repeats an old answer."""
        if page.issued_at < self.issued_at:
            raise PageRefused("it was signed before the last one")
        if page.epoch < self.epoch:
            raise PageRefused("it is of an epoch before the last one")
        if page.epoch == self.epoch and page.upto < self.upto:
            raise PageRefused(f"it goes back from change {self.upto} to {page.upto}")

    def after(self, page: Page) -> "DirectoryCopy":
        """Return the copy after the next page; raises PageRefused for one that does not fit."""
        if page.since != self.upto:
            raise PageRefused(f"it continues change {page.since}, not {self.upto}")
        if page.more and page.upto <= self.upto:
            raise PageRefused("it says that more follows, but not from where")
        entries = {} if page.complete else dict(self.entries)
        for change in page.changes:
            if change.op == "remove":
                entries.pop(change.id, None)
            else:
                entries[change.id] = (change.type, change.entry)
        copy = DirectoryCopy(page.upto, entries, epoch=page.epoch, issued_at=page.issued_at)
        if page.more:
            return copy
        if copy.hash() != page.hash:
            raise PageRefused("its hash is that of another set of entries")
        return msgspec.structs.replace(copy, proven=True)

    def hash(self) -> str:
        """Return the hash of the set, as the registry computes it."""
        lines = sorted(
            f"{kind.value}/{one} {hashlib.sha256(bytes(entry)).hexdigest()}\n".encode()
            for one, (kind, entry) in self.entries.items()
        )
        return hashlib.sha256(b"".join(lines)).hexdigest()

    def find(self, entity_id: str) -> DirectoryEntry | None:
        """Return the entry of this ID; raises DirectoryUnavailable without a proven copy."""
        if not self.proven:
            raise DirectoryUnavailable("there is no proven copy of the registry yet", _WAY_OUT)
        found = self.entries.get(entity_id)
        return None if found is None else _entry(entity_id, *found)

    def of_type(self, role: Role | None) -> list[DirectoryEntry]:
        """Return all entries of a type, or of all, by ID; raises as `find` does."""
        if not self.proven:
            raise DirectoryUnavailable("there is no proven copy of the registry yet", _WAY_OUT)
        return [
            _entry(one, kind, body)
            for one, (kind, body) in sorted(self.entries.items())
            if role is None or kind is role
        ]


class _Payload(msgspec.Struct, frozen=True):
    entityinfo: dict[str, object]


def _entry(entity_id: str, role: Role, body: msgspec.Raw) -> DirectoryEntry:
    info = msgspec.json.decode(body, type=_Payload).entityinfo
    return DirectoryEntry(role, entity_id, info, bytes(body))
