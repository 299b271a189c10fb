"""Events of the audit as rows of their table."""

from typing import Final

from mudra.audit.event import AuditEvent

EVENT_COLUMNS: Final = (
    "at",
    "event",
    "outcome",
    "actor",
    "entity_id",
    "address",
    "txn_id",
    "reason",
    "detail",
)
"""What `event_row` gives."""


def event_row(event: AuditEvent) -> dict[str, object]:
    """Return an event as a row."""
    return {
        "at": event.at,
        "event": event.event.value,
        "outcome": event.outcome.value,
        "actor": event.actor,
        "entity_id": event.entity_id,
        "address": event.address,
        "txn_id": event.txn_id,
        "reason": event.reason,
        "detail": dict(event.detail),
    }
