"""The hash chain over the audit rows: pure arithmetic.

Each row's hash is SHA-256 over the previous hash and the row's canonical bytes:
a JSON array in UTF-8 without spaces, `[number, rowId, epoch, xid, event, outcome, at,
actor, entityId, address, txnId, reason, detail]`, `at` in microseconds since 1970
and `detail` with its names sorted. Before the first row of an epoch but the first, the
hash is taken over the epoch's statement too. A program in any language can follow that.

The chain finds what was changed, removed, added or moved. Rows cut off at the end,
an older copy and a table forged as a whole are found by checkpoints: (epoch, count,
head, time), signed, shared by all nodes and kept in a second place. What was sealed
after the last checkpoint is only as safe as the database: `Intact.vouched` says how
far that is. `audit/place.py` finds rows that were written to look like older ones.
"""

import enum
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from msgspec import Struct

from mudra.audit.event import AuditEvent

GENESIS: Final = hashlib.sha256(b"mudra audit chain 1").digest()
"""The head before the first row."""

CHECKPOINT_ROWS: Final = 1000
CHECKPOINT_AGE: Final = timedelta(minutes=10)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_JSON = msgspec.json.Encoder(order="deterministic")


class Row(msgspec.Struct, frozen=True):
    """An event in its place: `number` counts without gaps from 1, `row_id` is the table's own.

    `xid` is the number of the transaction that wrote it, in the cluster of its `epoch`.
    """

    number: int
    row_id: int
    event: AuditEvent
    xid: int = 0
    epoch: int = 1


class SealedRow(msgspec.Struct, frozen=True):
    """A row with the hash that was stored for it."""

    row: Row
    hash: bytes


class Checkpoint(msgspec.Struct, frozen=True):
    """The state of the chain at one moment: the number of rows, and the hash of the last one."""

    count: int
    head: bytes
    at: datetime
    epoch: int = 1

    def statement(self) -> bytes:
        """The bytes to be signed; equal for equal checkpoints and for no others."""
        return _JSON.encode(
            ["mudra-audit-2", self.epoch, self.count, self.head.hex(), _micros(self.at)]
        )


class Epoch(msgspec.Struct, frozen=True):
    """One database cluster's part of the chain; a restore or a fail-over begins the next.

    `cluster` names cluster, timeline, database and table. Of the rows that came with the
    database `found` were sealed already; the first row of the epoch follows row `after`.
    `confirmed_by` is the operator who said that a restore was meant, else empty.
    """

    number: int
    cluster: str
    found: int
    after: int
    at: datetime
    confirmed_by: str = ""

    def statement(self) -> bytes:
        """The bytes to be signed and chained; equal for equal epochs and for no others."""
        return _JSON.encode(
            [
                *("mudra-audit-epoch-1", self.number, self.cluster, self.found, self.after),
                *(_micros(self.at), self.confirmed_by),
            ]
        )


START: Final = Checkpoint(0, GENESIS, _EPOCH)
"""The checkpoint before anything happened; it needs no signature."""


class Fault(enum.StrEnum):
    """The fault of the first bad row."""

    CHANGED = "changed"
    """The row, or one taken out just before it, differs from what was sealed."""
    MISPLACED = "misplaced"
    """Another number is where this one was due: removed, added or moved."""
    CUT = "cut"
    """The rows end before a checkpoint's count."""
    REPLACED = "replaced"
    """The rows agree with each other, but not with a checkpoint."""
    OUT_OF_ORDER = "out of order"
    """Its number in the table or its transaction does not belong to its place."""
    MISDATED = "misdated"
    """Its time disagrees with its place."""
    BLOCK_MISSING = "about a token block that is missing"
    BLOCK_CHANGED = "about a token block that was changed"
    BLOCK_MISPLACED = "about a token block that is not the next one"


class Intact(Struct, frozen=True):
    """Every row is as it was sealed; the first `vouched` also by a checkpoint."""

    count: int
    head: bytes
    vouched: int
    epoch: int = 1


class Broken(Struct, frozen=True):
    """The chain is broken at row `number`; up to `sound` it is vouched for by a checkpoint."""

    number: int
    fault: Fault
    sound: int

    def sentence(self) -> str:
        """Return what an operator reads."""
        return (
            f"audit row {self.number} is {self.fault}; "
            f"rows up to {self.sound} agree with the last good checkpoint"
        )


class CheckpointForged(Exception):
    """A checkpoint or an epoch was not written by this service, or was altered."""


def enter(head: bytes, entered: Iterable[Epoch]) -> bytes:
    """Return what the first row of an epoch is chained to: the head before it, and the epoch."""
    for epoch in entered:
        head = hashlib.sha256(head + epoch.statement()).digest()
    return head


def seal(rows: Iterable[Row], previous: bytes) -> list[bytes]:
    """The hash of each row in turn, the first over `previous` (`GENESIS` at the very start)."""
    hashes = []
    for row in rows:
        previous = _link(previous, row)
        hashes.append(previous)
    return hashes


def verify(
    rows: Iterable[SealedRow],
    checkpoints: Sequence[Checkpoint],
    start: Checkpoint = START,
    epochs: Sequence[Epoch] = (),
) -> Intact | Broken:
    """Return whether the rows after `start` are those that were sealed, and the first that is not.

    Rows come in order of their number and are read once, so that a table of any
    length fits. The caller has checked the signatures of checkpoints and epochs.
    """
    due = _in_order(checkpoints, start)
    next_due = next(due, None)
    head, count, sound, epoch = start.head, start.count, start.count, start.epoch
    for sealed in rows:
        count += 1
        if sealed.row.number != count:
            return Broken(count, Fault.MISPLACED, sound)
        if sealed.row.epoch != epoch:
            entered = [e for e in epochs if epoch < e.number <= sealed.row.epoch]
            if not entered or entered[-1].number != sealed.row.epoch:
                return Broken(count, Fault.MISPLACED, sound)
            head, epoch = enter(head, entered), sealed.row.epoch
        if sealed.hash != _link(head, sealed.row):
            return Broken(count, Fault.CHANGED, sound)
        head = sealed.hash
        while next_due is not None and next_due.count == count:
            if next_due.head != head:
                return Broken(sound + 1, Fault.REPLACED, sound)
            sound, next_due = count, next(due, None)
    if next_due is not None:
        return Broken(count + 1, Fault.CUT, sound)
    return Intact(count, head, sound, epoch)


def checkpoint_due(last: Checkpoint, count: int, now: datetime) -> bool:
    """Return whether to sign a new one: after 1,000 rows, or 10 minutes with anything new."""
    fresh = count - last.count
    return fresh >= CHECKPOINT_ROWS or (fresh > 0 and now - last.at >= CHECKPOINT_AGE)


def _in_order(checkpoints: Sequence[Checkpoint], start: Checkpoint) -> Iterator[Checkpoint]:
    """The checkpoints that say something about the rows after `start`, by count."""
    return iter(sorted((c for c in checkpoints if c.count > start.count), key=lambda c: c.count))


def _link(previous: bytes, row: Row) -> bytes:
    return hashlib.sha256(previous + canonical(row)).digest()


def canonical(row: Row) -> bytes:
    """The bytes that stand for a row: equal for equal rows and for no others."""
    event = row.event
    return _JSON.encode(
        (
            row.number,
            row.row_id,
            row.epoch,
            row.xid,
            event.event,
            event.outcome,
            _micros(event.at),
            event.actor,
            event.entity_id,
            event.address,
            event.txn_id,
            event.reason,
            dict(event.detail),
        )
    )


def _micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND
