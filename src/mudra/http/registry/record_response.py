"""Entries and their history as members of an answer, for the operator's API and the commands."""

from datetime import datetime

from mudra.http.request.envelope import Body
from mudra.registry.lifecycle.difference import FieldChange
from mudra.registry.lifecycle.history import KeyPeriod, Step, history, key_periods
from mudra.registry.lifecycle.pending_entries import PendingEntry
from mudra.registry.lifecycle.record import Record
from mudra.shared.time_text import iso_ms


def record_fields(record: Record) -> Body:
    """Write all that is kept of an entity."""
    return {
        "entityId": record.entity_id,
        "type": record.entity_type.value,
        "standing": record.standing.value,
        "versions": [_step(step) for step in history(record)],
        "keys": [_key(period) for period in key_periods(record)],
    }


def pending_fields(waiting: PendingEntry) -> Body:
    """Write one row of the approver's queue."""
    pending = waiting.pending
    return {
        "entityId": waiting.entity_id,
        "type": waiting.entity_type.value,
        "name": pending.entry.entityinfo.name,
        "standing": waiting.standing.value,
        "version": pending.number,
        "status": pending.status.value,
        "submittedBy": pending.submitted_by,
        "submittedAt": iso_ms(pending.submitted_at),
        "goesLiveAt": _time(pending.goes_live_at),
        "first": waiting.live is None,
        "risks": [risk.value for risk in waiting.risks],
        "changes": [_change(change) for change in waiting.changes],
    }


def _step(step: Step) -> Body:
    version = step.version
    return {
        "version": version.number,
        "status": version.status.value,
        "submittedBy": version.submitted_by,
        "submittedAt": iso_ms(version.submitted_at),
        "decidedBy": version.decided_by,
        "decidedAt": _time(version.decided_at),
        "reason": version.reason,
        "goesLiveAt": _time(version.goes_live_at),
        "liveFrom": _time(version.live_from),
        "liveUntil": _time(version.live_until),
        "equalTo": version.equal_to,
        "changes": [_change(change) for change in step.changes],
    }


def _change(change: FieldChange) -> Body:
    return {
        "path": change.path,
        "before": change.before,
        "after": change.after,
        "needsApproval": change.needs_approval,
        "risk": change.risk.value,
    }


def _key(period: KeyPeriod) -> Body:
    return {
        "kid": period.kid,
        "thumbprint": period.thumbprint,
        "since": iso_ms(period.since),
        "until": _time(period.until),
    }


def _time(at: datetime | None) -> str | None:
    return None if at is None else iso_ms(at)
