"""Audit of entity tokens, written behind in batches (decision 0002).

A round trip for each token would cost as much as its signature. What an entity gets
within a batch by the same credential becomes one row with each token's `jti`, which is packed
later; refusals are counted. A regular stop loses nothing; a kill loses at most
the last second. Tokens, refusals of entities and those of unknown callers are written apart,
each in slices, so that none keeps another from its place.
"""

from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

import structlog

from mudra.audit.audit_log_store import ANONYMOUS, count_anonymous
from mudra.audit.event import EVENT_COLUMNS, AuditEvent, EventName, Outcome, event_row
from mudra.audit.token_issue_store import add_issues
from mudra.audit.token_issues import GRACE, SECRET, TokenIssue
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.caching.write_behind import WriteBehind
from mudra.storage.database.bulk_insert import bulk_insert, parameter_of
from mudra.storage.database.database import Database
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_event
from mudra.tokens.issuing.token_count_store import add_counts
from mudra.tokens.secrets.secret_use_store import Used, add_uses

SLICE_GROUPS: Final = 2000
SLICE_JTIS: Final = 20_000
"""What one transaction writes: far less than its three seconds on a busy database."""

Key: TypeAlias = tuple[str, str, str, int]
"""Entity, address, reason, version of the secret; no version for what was refused."""


@dataclass(slots=True)
class Group:
    """Equal events within a batch; `txn_id` is that of the first."""

    txn_id: str
    count: int = 0
    jtis: list[str] = field(default_factory=list)


Slice: TypeAlias = list[tuple[Key, Group]]


class WaitingGroups:
    """Events of one kind, by what is equal of them. What is being written counts for the bounds."""

    def __init__(self, most_groups: int, most_jtis: int) -> None:
        self._most_groups = most_groups
        self._most_jtis = most_jtis
        self._groups: dict[Key, Group] = {}
        self._taken = 0
        self._jtis = 0

    def __len__(self) -> int:
        """Return the number of groups, those being written included."""
        return len(self._groups) + self._taken

    def events(self) -> int:
        """Return the number of events that wait; those being written are not among them."""
        return sum(group.count for group in self._groups.values())

    def add(self, key: Key, txn_id: str, jti: str = "") -> bool:
        """Add an event; returns False when there is no room for it, and it is lost."""
        group = self._groups.get(key)
        if (jti and self._jtis >= self._most_jtis) or (
            group is None and len(self) >= self._most_groups
        ):
            return False
        if group is None:
            group = self._groups[key] = Group(txn_id)
        group.count += 1
        if jti:
            group.jtis.append(jti)
            self._jtis += 1
        return True

    def take(self) -> list[Slice]:
        """Take all that waits; each slice is then either `written` or `put_back`."""
        groups, self._groups = self._groups, {}
        slices = list(_slices(groups))
        self._taken += sum(map(len, slices))
        return slices

    def written(self, one: Slice) -> None:
        """Forget a slice that was stored."""
        self._taken -= len(one)
        self._jtis -= sum(len(group.jtis) for _, group in one)

    def put_back(self, slices: Iterable[Slice]) -> None:
        """Let slices that were not stored wait again, after what came since."""
        for one in slices:
            self._taken -= len(one)
            for key, group in one:
                held = self._groups.setdefault(key, group)
                if held is not group:
                    held.txn_id = group.txn_id
                    held.count += group.count
                    held.jtis += group.jtis


def _slices(groups: dict[Key, Group]) -> Iterator[Slice]:
    current: Slice = []
    jtis = 0
    for key, group in groups.items():
        for piece in _pieces(group):
            if current and (len(current) >= SLICE_GROUPS or jtis + len(piece.jtis) > SLICE_JTIS):
                yield current
                current, jtis = [], 0
            current.append((key, piece))
            jtis += len(piece.jtis)
    if current:
        yield current


def _pieces(group: Group) -> Iterator[Group]:
    """Give a group, in several ones where it has more tokens than a slice may have."""
    if len(group.jtis) <= SLICE_JTIS:
        yield group
        return
    for start in range(0, len(group.jtis), SLICE_JTIS):
        jtis = group.jtis[start : start + SLICE_JTIS]
        yield Group(group.txn_id, len(jtis), jtis)


_EVERY_S: Final = 0.5
_MAX_GROUPS: Final = 50_000
_MAX_JTIS: Final = 500_000
"""Some 50 MB."""
_INSERT: Final = bulk_insert(audit_event, *EVENT_COLUMNS)
_NO_VERSION: Final = 0

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Part:
    """Events of one kind, written in transactions of their own."""

    kind: str
    store: Callable[[Transaction, Slice, datetime], Awaitable[None]]
    waiting: WaitingGroups


class BatchedIssueLog:
    """Implements tokens/ports.py EntityTokenLog."""

    def __init__(
        self,
        database: Database,
        count_refused: Callable[[str], None] = lambda _: None,
        count_lost: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`count_lost` takes the kind of what came beyond the bounds: `issued`, `refused`."""
        self._database = database
        self._count_refused = count_refused
        self._count_lost = count_lost
        self._issued = _Part("issued", _store_issues, WaitingGroups(_MAX_GROUPS, _MAX_JTIS))
        self._refused = _Part("refused", _store_refusals, WaitingGroups(_MAX_GROUPS, 0))
        self._strangers = _Part("refused", _count_strangers, WaitingGroups(_MAX_GROUPS, 0))
        self._parts = (self._issued, self._refused, self._strangers)
        self._behind = WriteBehind("issue-log", _EVERY_S, self._write)

    def __len__(self) -> int:
        """Return how many groups of equal events are not yet stored."""
        return sum(len(part.waiting) for part in self._parts)

    def issued(  # each argument is one fact of the record
        self, entity_id: str, address: str, txn_id: str, *, version: int, in_grace: bool, jti: str
    ) -> None:
        """Record a token that was issued; it is stored within a second."""
        reason = GRACE if in_grace else ""
        self._add(self._issued, (entity_id, address, reason, version), txn_id, jti)

    def refused(self, entity_id: str, address: str, txn_id: str, reason: str) -> None:
        """Record a refused secret; `entity_id` is empty when there is no such entity."""
        self._count_refused(reason)
        part = self._refused if entity_id else self._strangers
        self._add(part, (entity_id, address, reason, _NO_VERSION), txn_id)

    def _add(self, part: _Part, key: Key, txn_id: str, jti: str = "") -> None:
        if part.waiting.add(key, txn_id, jti):
            self._behind.due()
        else:
            self._count_lost(part.kind)

    def start(self) -> None:
        """Write batches from now on."""
        self._behind.start()

    async def stop(self) -> None:
        """Write what is left; the log says what is lost, since the database was away."""
        try:
            await self._behind.stop()
        finally:
            for part in self._parts:
                if lost := part.waiting.events():
                    _log.error("audit of entity tokens is lost", kind=part.kind, events=lost)

    async def _write(self) -> None:
        """Write all that waits; an error that is no outage is raised when the rest is written."""
        errors = [error for part in self._parts for error in await self._write_part(part)]
        if errors:
            raise errors[0]

    async def _write_part(self, part: _Part) -> list[Exception]:
        """Write a part in slices and put back what was not written; gives unexpected errors.

        An outage ends it, and what failed is tried last the next time; after another error of a
        slice the others are tried all the same.
        """
        slices = deque(part.waiting.take())
        errors: list[Exception] = []
        failed: list[Slice] = []
        while slices:
            try:
                async with self._database.transaction() as transaction:
                    await part.store(transaction, slices[0], await transaction.now())
            except DatabaseUnavailable as error:
                failed.append(slices.popleft())
                _log.warning(
                    "audit of entity tokens waits for the database",
                    kind=part.kind,
                    groups=len(part.waiting),
                    cause=error.cause,
                )
                break
            except Exception as error:  # noqa: BLE001  # raised when the other slices are written
                failed.append(slices.popleft())
                errors.append(error)
            else:
                part.waiting.written(slices.popleft())
        if failed:
            part.waiting.put_back([*slices, *failed])
            self._behind.due()
        return errors


async def _store_issues(transaction: Transaction, one: Slice, at: datetime) -> None:
    await add_issues(transaction, [_issue(key, group, at) for key, group in one], at)
    uses = _uses(one)
    await add_uses(transaction, uses, at)
    await add_counts(transaction, _by_entity(uses), at)


async def _store_refusals(transaction: Transaction, one: Slice, at: datetime) -> None:
    rows = [event_row(_refusal(key, group, at)) for key, group in one]
    await transaction.connection.execute(_INSERT, parameter_of(rows))


async def _count_strangers(transaction: Transaction, one: Slice, at: datetime) -> None:
    await count_anonymous(transaction, [_refusal(key, group, at) for key, group in one])


def _uses(issues: Slice) -> list[Used]:
    return [
        Used(entity_id, version, address, group.count, reason == GRACE)
        for (entity_id, address, reason, version), group in issues
    ]


def _by_entity(uses: Iterable[Used]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for use in uses:
        counts[use.entity_id] += use.count
    return counts


def _issue(key: Key, group: Group, at: datetime) -> TokenIssue:
    entity_id, address, reason, version = key
    credential = GRACE if reason == GRACE else SECRET
    jtis = tuple(group.jtis)
    return TokenIssue(0, at, entity_id, address, group.txn_id, credential, version, jtis)


def _refusal(key: Key, group: Group, at: datetime) -> AuditEvent:
    entity_id, address, reason, _ = key
    return AuditEvent(
        event=EventName.ENTITY_TOKEN_REFUSE,
        outcome=Outcome.REFUSED,
        at=at,
        actor=f"entity:{entity_id}" if entity_id else ANONYMOUS,
        txn_id=group.txn_id,
        entity_id=entity_id,
        address=address,
        reason=reason,
        detail={"count": group.count},
    )
