"""Notes in the audit that another version of Mudra began to run, once for each change."""

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.storage.database.transaction import Transaction
from mudra.timeline.audit_store import TimelineEvents


async def note_release(tx: Transaction, version: str) -> bool:
    """Record that this version runs, unless the latest note says so; returns whether it did.

    Nodes that start at once wait for each other, so that one of them records it.
    """
    await tx.lock_name("release")
    before = await TimelineEvents(tx).release()
    if before == version:
        return False
    detail = {"version": version, "before": before}
    entry = AuditEntry(EventName.SERVICE_RELEASE_START, Caller("system"), detail=detail)
    await AuditLog(tx).append(entry)
    return True
