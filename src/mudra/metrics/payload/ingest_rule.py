"""Decides about a checked payload: accept, recognize a duplicate, replace, or refuse.

The same window and content is a duplicate; other content under the same `txnId` is refused, and
under another one replaces. The decision is pure: the caller holds a lock on the AA, calls
`ports.Reports.known`, decides, and writes all in one transaction.
"""

import enum
from datetime import datetime, timedelta

from msgspec import Struct

from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.payload.report_facts import ReportFacts
from mudra.shared.finding import Finding
from mudra.shared.refusal import ErrorCode, Refusal, RefusalKind
from mudra.shared.time_text import iso_ms

LATE_AFTER = timedelta(minutes=10)


class IngestStatus(enum.StrEnum):
    """The field `status` of the response."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    REPLACED = "replaced"


class WindowKey(Struct, frozen=True):
    """One AA, one of the two payloads, one window (its start, UTC)."""

    aa_id: str
    tag: Tag
    window: datetime


class PushKey(Struct, frozen=True):
    """Identifies a push: the AA and its txnId, over both tags."""

    aa_id: str
    txn_id: str


class Receipt(Struct, frozen=True):
    """The proof that content was stored: returned to the AA, which can look it up later."""

    receipt_id: str
    key: WindowKey
    txn_id: str
    content_hash: bytes
    version: int
    """1 for the first content of a window, one more at each replacement."""
    received_at: datetime
    findings: tuple[Finding, ...] = ()
    """Notes that the response contained."""

    @property
    def late(self) -> bool:
        """True when the window was received more than ten minutes after its end."""
        return self.received_at - (self.key.window + WINDOW) > LATE_AFTER


class Known(Struct, frozen=True):
    """Stored data: the receipt of this push, and the current content of this window."""

    push: Receipt | None
    """The receipt returned for this txnId, even if its content was replaced since."""
    current: Receipt | None


class Accept(Struct, frozen=True):
    """The window has no content yet: store it."""

    receipt: Receipt


class Replace(Struct, frozen=True):
    """Store the content as current and keep the previous version."""

    receipt: Receipt
    previous: Receipt


class Duplicate(Struct, frozen=True):
    """Store no counts; return the receipt of the content that is stored.

    `remember` is true for a new txnId: store it with that receipt, so that the
    same txnId with other content is refused later.
    """

    receipt: Receipt
    txn_id: str
    remember: bool


class TxnIdReused(Refusal, frozen=True):
    """Refusal: this AA sent other content under this txnId before; 409 `IdempotencyError`."""

    kind = RefusalKind.CONFLICT
    code = ErrorCode.IDEMPOTENCY_ERROR
    aa_id: str
    txn_id: str
    earlier: Receipt

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        at = iso_ms(self.earlier.received_at)
        return f"$.txnId was used at {at} for other content; use a new txnId for each payload"


Decision = Accept | Replace | Duplicate | TxnIdReused


def keys_of(checked: ReportFacts) -> tuple[PushKey, WindowKey]:
    """Returns the keys to look up before the decision."""
    return (
        PushKey(checked.aa_id, checked.txn_id),
        WindowKey(checked.aa_id, checked.tag, checked.window),
    )


def decide(known: Known, checked: ReportFacts, receipt_id: str, now: datetime) -> Decision:
    """Returns the decision; `receipt_id` is used only when content is stored."""
    push, window = keys_of(checked)
    if known.push is not None:
        if known.push.key == window and known.push.content_hash == checked.content_hash:
            return Duplicate(known.push, push.txn_id, remember=False)
        return TxnIdReused(push.aa_id, push.txn_id, known.push)
    if known.current is None:
        return Accept(_receipt(window, checked, receipt_id, 1, now))
    if known.current.content_hash == checked.content_hash:
        return Duplicate(known.current, push.txn_id, remember=True)
    version = known.current.version + 1
    return Replace(_receipt(window, checked, receipt_id, version, now), known.current)


def status_of(decision: Accept | Replace | Duplicate) -> IngestStatus:
    """Returns the status for the response."""
    match decision:
        case Accept():
            return IngestStatus.ACCEPTED
        case Replace():
            return IngestStatus.REPLACED
        case Duplicate():
            return IngestStatus.DUPLICATE


def _receipt(
    key: WindowKey, checked: ReportFacts, receipt_id: str, version: int, now: datetime
) -> Receipt:
    return Receipt(
        receipt_id, key, checked.txn_id, checked.content_hash, version, now, checked.notes
    )
