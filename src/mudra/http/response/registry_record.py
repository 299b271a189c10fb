"""Entries, their history and decisions, as the operator's API and the commands show them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct, field

from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.registry.lifecycle.decision import Decision
from mudra.registry.lifecycle.difference import FieldChange
from mudra.registry.lifecycle.history import KeyPeriod, Step, history, key_periods
from mudra.registry.lifecycle.pending_entries import PendingEntry
from mudra.registry.lifecycle.record import Record
from mudra.shared.time_text import iso_ms

_FieldValue: TypeAlias = Annotated[object, Meta(description="any JSON value; null for none")]


class FieldChangeResponse(Struct, frozen=True, rename="camel"):
    """A field that differs. A list differs as a whole."""

    path: str
    before: _FieldValue
    after: _FieldValue
    needs_approval: bool
    risk: str


class VersionResponse(Struct, frozen=True, rename="camel"):
    """A version of an entry, with what it changed."""

    version: int
    hash: str
    status: str
    submitted_by: str
    submitted_at: DateTime
    decided_by: str
    decided_at: DateTime | None
    reason: str
    goes_live_at: DateTime | None
    live_from: DateTime | None
    live_until: DateTime | None
    equal_to: int
    changes: Sequence[FieldChangeResponse]


class KeyPeriodResponse(Struct, frozen=True):
    """A key and the time in which it was live; `until` is null while it is."""

    kid: str
    thumbprint: str
    since: DateTime
    until: DateTime | None


class RecordResponse(ResponseBody, kw_only=True):
    """The newest versions of an entry, and its keys."""

    entity_id: str = field(name="entityId")
    type: str
    entity_status: str = field(name="standing")
    versions: Sequence[VersionResponse]
    keys: Sequence[KeyPeriodResponse]


class PendingEntryResponse(Struct, frozen=True, rename="camel"):
    """A pending version, and what it would change of the live one."""

    entity_id: str
    type: str
    name: str
    entity_status: str = field(name="standing")
    version: int
    hash: str
    status: str
    submitted_by: str
    submitted_at: DateTime
    goes_live_at: DateTime | None
    first: bool
    risks: Sequence[str]
    changes: Sequence[FieldChangeResponse]


class PendingEntriesResponse(ResponseBody, kw_only=True):
    """Versions awaiting approval, the longest waiting first."""

    waiting: Sequence[PendingEntryResponse]


class DecisionResponse(ResponseBody, kw_only=True):
    """What was decided, and the entry's state afterwards."""

    entity_id: str = field(name="entityId")
    act: str
    status: str
    entity_status: str = field(name="standing")
    version: int


def record_response(record: Record) -> RecordResponse:
    """Return the response that shows the history of an entry."""
    return RecordResponse(
        entity_id=record.entity_id,
        type=record.entity_type.value,
        entity_status=record.status.value,
        versions=[_version(step) for step in history(record)],
        keys=[_key(period) for period in key_periods(record)],
    )


def pending_response(entries: Sequence[PendingEntry]) -> PendingEntriesResponse:
    """Return the response that lists what awaits approval."""
    return PendingEntriesResponse(waiting=[_pending(one) for one in entries])


def decision_response(decision: Decision) -> DecisionResponse:
    """Return the response of a decision."""
    return DecisionResponse(
        entity_id=decision.after.entity_id,
        act=decision.action.value,
        status=decision.status,
        entity_status=decision.after.status.value,
        version=decision.version,
    )


def _pending(entry: PendingEntry) -> PendingEntryResponse:
    pending = entry.pending
    return PendingEntryResponse(
        entity_id=entry.entity_id,
        type=entry.entity_type.value,
        name=pending.entry.entityinfo.name,
        entity_status=entry.status.value,
        version=pending.number,
        hash=pending.hash,
        status=pending.status.value,
        submitted_by=pending.submitted_by,
        submitted_at=iso_ms(pending.submitted_at),
        goes_live_at=_time(pending.goes_live_at),
        first=entry.live is None,
        risks=[risk.value for risk in entry.risks],
        changes=[_change(change) for change in entry.changes],
    )


def _version(step: Step) -> VersionResponse:
    version = step.version
    return VersionResponse(
        version=version.number,
        hash=version.hash,
        status=version.status.value,
        submitted_by=version.submitted_by,
        submitted_at=iso_ms(version.submitted_at),
        decided_by=version.decided_by,
        decided_at=_time(version.decided_at),
        reason=version.reason,
        goes_live_at=_time(version.goes_live_at),
        live_from=_time(version.live_from),
        live_until=_time(version.live_until),
        equal_to=version.equal_to,
        changes=[_change(change) for change in step.changes],
    )


def _change(change: FieldChange) -> FieldChangeResponse:
    return FieldChangeResponse(
        change.path, change.before, change.after, change.needs_approval, change.risk.value
    )


def _key(period: KeyPeriod) -> KeyPeriodResponse:
    return KeyPeriodResponse(
        period.kid, period.thumbprint, iso_ms(period.since), _time(period.until)
    )


def _time(at: datetime | None) -> str | None:
    return None if at is None else iso_ms(at)
