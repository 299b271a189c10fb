"""What the registry's use cases ask of storage, each a question of one use case."""

import datetime as dt
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from mudra.registry.directory.directory import Change, Directory
from mudra.registry.lifecycle.decision import Decision, Facts
from mudra.registry.lifecycle.record import Record
from mudra.registry.lifecycle.refusal import RegistryRefusal
from mudra.registry.payload.certificate import KeyFacts
from mudra.registry.payload.entry import Entry
from mudra.registry.payload.vocabulary import Addition


class HeldRegistry(Protocol):
    """The registry while one transaction holds its lock. Left without error, it commits."""

    @property
    def now(self) -> dt.datetime:
        """The database's time of this transaction, never before the log's last change."""
        ...

    async def record(self, entity_id: str) -> Record | None:
        """Give all that is kept of an entity."""
        ...

    async def facts(self, entry: Entry, key: KeyFacts) -> Facts:
        """Tell which other entities hold the entry's handle, `kid` and modulus.

        Holders are versions that are approved or were ever live (`Facts`).
        """
        ...

    async def due(self) -> Sequence[Record]:
        """Give the entities with an approved version whose time has come."""
        ...

    async def keep(self, decision: Decision) -> None:
        """Carry a decision out, all of it in this transaction.

        Versions and standing, the publication with the next sequence number,
        tokens stopped or resumed, the audit row, word to the other nodes.
        """
        ...

    async def keep_refusal(
        self, act: str, entity_id: str, actor: str, refusal: RegistryRefusal
    ) -> None:
        """Write the audit row of a refusal."""
        ...


class Registry(Protocol):
    """Opens transactions on the registry."""

    def held(self) -> AbstractAsyncContextManager[HeldRegistry]:
        """Lock the registry for writing.

        One lock for all entities: uniqueness over the registry and a log
        without gaps need it, and writes are rare.
        """
        ...

    async def history(self, entity_id: str) -> Record | None:
        """Give all that is kept of an entity, for reading."""
        ...


class DirectoryLog(Protocol):
    """Reads the directory and its log of changes."""

    async def current(self) -> Directory:
        """Give the directory after the last committed change."""
        ...

    async def following(self, since: int, most: int) -> Sequence[Change]:
        """Give the log's rows after `since` in order, at most that many."""
        ...

    async def until(self, moment: dt.datetime) -> Sequence[Change]:
        """Give the log's rows up to a moment, in order."""
        ...

    async def opened_at(self) -> int:
        """Give the sequence of the marker of the last change of visibility; 0 for none.

        Whoever starts with another setting than the last one writes that marker
        into the log: a `Change` without type and entity.
        """
        ...


class Wordbook(Protocol):
    """Keeps the operator's additions to the vocabulary."""

    async def additions(self) -> Sequence[Addition]:
        """Give all additions in the order in which they were made."""
        ...

    async def add(self, addition: Addition, actor: str) -> None:
        """Keep one addition, with its audit row."""
        ...
