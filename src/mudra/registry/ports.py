"""Questions that the registry's use cases ask of storage, all in the caller's transaction."""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from mudra.registry.directory.directory import Change, Directory
from mudra.registry.lifecycle.actor import Actor
from mudra.registry.lifecycle.decision import Decision, Facts, RegistryAction
from mudra.registry.lifecycle.grants import Grant
from mudra.registry.lifecycle.record import Record
from mudra.registry.lifecycle.refusal import RegistryRefusal
from mudra.registry.payload.entry import Entry
from mudra.registry.payload.fields.certificate import KeyFacts
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.refusals import PayloadNotChecked
from mudra.registry.payload.validation import CheckedPayload
from mudra.registry.payload.vocabulary import Vocabulary
from mudra.shared.finding import Finding


class Address(NamedTuple):
    """The address to which a payload was sent; `entity_id` is None for a first submission."""

    entity_type: str
    entity_id: str | None


class CheckSubmission(Protocol):
    """Checks a payload without keeping other requests waiting; it may take 0.1 s."""

    async def __call__(
        self,
        payload: object,
        policy: AddressPolicy,
        vocabulary: Vocabulary,
        address: Address,
        caller: str,
    ) -> CheckedPayload | list[Finding] | PayloadNotChecked:
        """Return the checked payload, or its findings; callers take turns."""
        ...


class Registry(Protocol):
    """The entries with all their versions, in one transaction."""

    @property
    def one_operator(self) -> bool:
        """Return whether one operator may approve what the same one submitted (a setting)."""
        ...

    async def lock(self) -> dt.datetime:
        """Lock the registry until the transaction ends; returns the time of its decisions.

        One lock covers all entities: uniqueness over the registry and a log
        without gaps need it, and writes are rare. The time may precede the log's
        last change, whose clock was ahead: the log alone never goes back.
        """
        ...

    async def has_right_now(self, actor: Actor, entity_id: str) -> bool:
        """Return whether they have the right by which they came, also after waiting.

        Of a person it is the right that they hold, of an entity that its token still counts.
        """
        ...

    async def record(
        self, entity_id: str, *, version: int = 0, entry: Entry | None = None
    ) -> Record | None:
        """Return what decides about an entity, however many versions it has.

        These are its live, its pending and its newest version; the one of number
        `version`; and of those that are equal to `entry` the first and the last.
        """
        ...

    async def history(self, entity_id: str) -> Record | None:
        """Return the newest `MAX_HISTORY` versions of an entity, the live and the pending one."""
        ...

    async def live_count(self) -> int:
        """Return the number of live entries."""
        ...

    async def live_entries(self) -> Sequence[bytes]:
        """Return the canonical form of every live entry, in the order of type and ID."""
        ...

    async def facts(self, entry: Entry, key: KeyFacts, now: dt.datetime) -> Facts:
        """Return what other entities hold of the entry, and who onboarded it (`Facts`)."""
        ...

    async def grants(self, entity_id: str, after: dt.datetime) -> Sequence[Grant]:
        """Return which rights of operators and of the entity were given after a time.

        And those of former admins who read a secret of the entity that is still valid.
        """
        ...

    async def due(self, now: dt.datetime) -> Sequence[str]:
        """Return the IDs of entities with an approved version whose time has come."""
        ...

    async def keep(self, decision: Decision) -> None:
        """Carry out a decision, all of it in this transaction.

        Stores versions and status, publishes with the next sequence number,
        stops or resumes tokens, writes the audit row, notifies the other nodes, and
        queues the emails to the member.
        """
        ...

    async def keep_refusal(
        self, action: RegistryAction, entity_id: str, actor: Actor, refusal: RegistryRefusal
    ) -> None:
        """Write the audit row of a refusal."""
        ...


class DirectoryLog(Protocol):
    """The directory and its log of changes, cached by each process."""

    async def current(self) -> Directory:
        """Return the directory after the last committed change."""
        ...

    async def following(self, since: int, most: int) -> Sequence[Change]:
        """Return the log's rows after `since` in order, at most that many."""
        ...

    async def last_until(self, moment: dt.datetime) -> Sequence[Change]:
        """Return the last change of each entity up to a moment, in order of their numbers."""
        ...

    async def epoch(self) -> int:
        """Return when the numbering of changes began, in milliseconds since 1970; 0 at first.

        A restore and a fail-over begin it again: a number may then be lower than one before.
        """
        ...

    async def opened_at(self) -> int:
        """Return the sequence of the last marker of a visibility change; 0 if there is none.

        A service that starts with another visibility setting than the last one
        writes that marker into the log: a `Change` without type and entity.
        """
        ...
