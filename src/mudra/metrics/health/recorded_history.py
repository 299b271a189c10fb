"""Windows of the past, stored as if each had been received in its own time.

For the sandbox: its network has a history from the first minute on. Each payload
passes the check and the decision that a push passes; only the writing is done
for many windows at once.
"""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.payload.ingest_rule import Accept, Known, TxnIdReused, decide, keys_of
from mudra.metrics.payload.report_facts import StorableReport
from mudra.metrics.ports import Receipts, Reports
from mudra.metrics.rollup.coverage import TimeRange


class PastReport(Struct, frozen=True):
    """A checked payload and the time at which it was received."""

    checked: StorableReport
    receipt_id: str
    received_at: datetime
    replaces: bool = False
    """Replaces the stored content of its window, if any; else that content stays."""


class HistoryService(Struct, frozen=True):
    """The ports that filling the history needs."""

    reports: Reports
    receipts: Receipts
    audit_log: AuditLog


async def take_history(
    aa_id: str, reports: Sequence[PastReport], watched_from: datetime, history: HistoryService
) -> int:
    """Stores the reports of one AA for windows without content; returns how many were stored.

    Incidents are detected in windows from `watched_from` on.
    """
    if not reports:
        return 0
    await history.reports.lock(aa_id)
    windows = [one.checked.window for one in reports]
    known = await history.receipts.windows(aa_id, TimeRange(min(windows), max(windows) + WINDOW))
    stored = {(tag, window) for tag, found in known.items() for window in found}
    fresh: list[tuple[Accept, StorableReport]] = []
    replaced = 0
    for one in reports:
        if (one.checked.tag, one.checked.window) not in stored:
            decision = decide(Known(None, None), one.checked, one.receipt_id, one.received_at)
            assert isinstance(decision, Accept), "nothing is known of it"
            fresh.append((decision, one.checked))
        elif one.replaces:
            replaced += await _replace(one, history.reports)
    await history.reports.accept_all(fresh, watched_from)
    await history.audit_log.append(
        AuditEntry(
            EventName.SANDBOX_HISTORY_FILL,
            Caller("sandbox"),
            aa_id,
            detail={
                "payloads": len(fresh) + replaced,
                "from": min(windows).isoformat(),
                "to": (max(windows) + WINDOW).isoformat(),
            },
        )
    )
    return len(fresh) + replaced


async def _replace(one: PastReport, store: Reports) -> int:
    known = await store.known(*keys_of(one.checked))
    decision = decide(known, one.checked, one.receipt_id, one.received_at)
    if isinstance(decision, TxnIdReused):
        return 0
    await store.carry_out(decision, one.checked)
    return 1
