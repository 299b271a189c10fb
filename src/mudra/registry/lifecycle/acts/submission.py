"""Decides on submissions and updates: `decide`-style functions, pure."""

import datetime as dt

from msgspec import Struct

from mudra.registry.lifecycle.actor import Actor, may_submit
from mudra.registry.lifecycle.decision import (
    Decision,
    Facts,
    RegistryAction,
    conflict,
    put_live,
    without_pending,
)
from mudra.registry.lifecycle.difference import difference, needs_approval
from mudra.registry.lifecycle.record import Record, Version
from mudra.registry.lifecycle.refusal import (
    RegistryRefusal,
    WrongState,
    duplicate_entity,
    unknown_entity,
)
from mudra.registry.payload.validation import CheckedPayload
from mudra.shared.entry_status import EntityStatus, VersionStatus


class Repeat(Struct, frozen=True):
    """The same submission or update again, from a sender who lost the response: nothing to do."""

    record: Record
    version: int
    status: VersionStatus
    """What the response says: for a submission as the first time, else as the version is now."""


def submit(
    record: Record | None, checked: CheckedPayload, facts: Facts, actor: Actor, now: dt.datetime
) -> Decision | Repeat | RegistryRefusal:
    """Decide on a first submission; it is pending until an operator approves it.

    The same content under the same `txnid` is a `Repeat`, unless an operator
    rejected it: then it is submitted again.
    """
    entry = checked.entry
    refusal = may_submit(actor, entry)
    if refusal is not None:
        return refusal
    if record is not None and not _may_start_again(record):
        same = next((one for one in record.versions if one.entry == entry), None)
        if same is None or record.status is EntityStatus.RETIRED:
            return duplicate_entity(entry.entityinfo.id)
        return Repeat(record, same.number, VersionStatus.SUBMITTED)
    held = conflict(entry, checked.key, facts)
    if held is not None:
        return held
    versions = record.versions if record else ()
    base = Record(entry.entityinfo.id, entry.type, EntityStatus.UNLISTED, versions)
    version = _next(base, checked, actor, now)
    return Decision(
        RegistryAction.SUBMIT, actor, now, "", record, base.with_version(version), version.number
    )


def update(
    record: Record | None, checked: CheckedPayload, facts: Facts, actor: Actor, now: dt.datetime
) -> Decision | Repeat | RegistryRefusal:
    """Decide on an update: live at once, or pending when it touches what needs approval.

    The content of any version under the same `txnid` is a `Repeat`: a return to it needs
    another `txnid`.
    """
    entry = checked.entry
    refusal = may_submit(actor, entry)
    if refusal is not None:
        return refusal
    if record is None or record.entity_type is not entry.type:
        return unknown_entity(entry.entityinfo.id)
    if record.status is EntityStatus.RETIRED:
        return WrongState(
            record.entity_id, RegistryAction.UPDATE, record.status, "live or suspended"
        )
    # In any version: what is sent again must not take back what came after it.
    same = next((one for one in reversed(record.versions) if one.entry == entry), None)
    if same is not None:
        return Repeat(record, same.number, same.status)
    held = conflict(entry, checked.key, facts)
    if held is not None:
        return held
    version = _next(record, checked, actor, now)
    base = without_pending(record)
    live = record.live
    if live is not None and not needs_approval(difference(live.entry, entry)):
        after = put_live(base, version, now)
    else:
        after = base.with_version(version)
    return Decision(RegistryAction.UPDATE, actor, now, "", record, after, version.number)


def _may_start_again(record: Record) -> bool:
    """Return whether the entity was never live and has no pending version."""
    return record.status is EntityStatus.UNLISTED and record.pending is None


def _next(record: Record, checked: CheckedPayload, actor: Actor, now: dt.datetime) -> Version:
    return Version(
        number=record.next_number,
        entry=checked.entry,
        key=checked.key,
        status=VersionStatus.SUBMITTED,
        submitted_by=actor.name,
        submitted_at=now,
        submitted_person=actor.person,
    )
