"""Decides on suspension, restoring, retirement and rollback; pure."""

import datetime as dt

from msgspec.structs import replace

from mudra.registry.lifecycle.actor import Actor, may_decide, may_retire
from mudra.registry.lifecycle.acts.second_operator import needs_two
from mudra.registry.lifecycle.decision import (
    Decision,
    Facts,
    RegistryAction,
    conflict,
    put_live,
    reason_missing,
    without_pending,
)
from mudra.registry.lifecycle.record import Record, Version
from mudra.registry.lifecycle.refusal import RegistryRefusal, WrongState, unknown_version
from mudra.shared.entry_status import EntityStatus, VersionStatus


def suspend(
    record: Record, actor: Actor, now: dt.datetime, reason: str
) -> Decision | RegistryRefusal:
    """Decide to remove a live entity from the directory and stop its tokens until restored."""
    refusal = may_decide(actor) or reason_missing(RegistryAction.SUSPEND, reason)
    if refusal is not None:
        return refusal
    return _change_status(record, RegistryAction.SUSPEND, actor, now, reason)


def restore(
    record: Record, actor: Actor, now: dt.datetime, reason: str = ""
) -> Decision | RegistryRefusal:
    """Decide to bring a suspended entity back."""
    refusal = may_decide(actor)
    if refusal is not None:
        return refusal
    return _change_status(record, RegistryAction.RESTORE, actor, now, reason)


def retire(
    record: Record, actor: Actor, now: dt.datetime, reason: str
) -> Decision | RegistryRefusal:
    """Decide to end a membership permanently; its ID, handle and keys cannot be used again."""
    refusal = may_retire(actor, record.entity_id) or reason_missing(RegistryAction.RETIRE, reason)
    if refusal is not None:
        return refusal
    return _change_status(record, RegistryAction.RETIRE, actor, now, reason)


_MOVES = {
    RegistryAction.SUSPEND: (frozenset({EntityStatus.LIVE}), EntityStatus.SUSPENDED),
    RegistryAction.RESTORE: (frozenset({EntityStatus.SUSPENDED}), EntityStatus.LIVE),
    RegistryAction.RETIRE: (
        frozenset({EntityStatus.LIVE, EntityStatus.SUSPENDED}),
        EntityStatus.RETIRED,
    ),
}


def _change_status(
    record: Record, action: RegistryAction, actor: Actor, now: dt.datetime, reason: str
) -> Decision | RegistryRefusal:
    allowed, status = _MOVES[action]
    if record.status not in allowed:
        return WrongState(record.entity_id, action, record.status, " or ".join(sorted(allowed)))
    after = replace(record, status=status)
    if status is EntityStatus.RETIRED:
        after = _ended(without_pending(after), now)
    return Decision(action, actor, now, reason.strip(), record, after, version=0)


def _ended(record: Record, now: dt.datetime) -> Record:
    live = record.live
    if live is None:
        return record
    return record.with_version(replace(live, status=VersionStatus.SUPERSEDED, live_until=now))


def roll_back(
    record: Record,
    facts: Facts,
    actor: Actor,
    now: dt.datetime,
    *,
    to: int,
    reason: str,
    one_operator: bool = False,
) -> Decision | RegistryRefusal:
    """Decide to go live with a new version equal to the earlier version `to`.

    A pending version is withdrawn: it is based on what is rolled back. Without
    `one_operator` another operator approves what brings back a key or an address.
    """
    refusal = may_decide(actor) or reason_missing(RegistryAction.ROLL_BACK, reason)
    if refusal is not None:
        return refusal
    if record.status not in {EntityStatus.LIVE, EntityStatus.SUSPENDED}:
        return WrongState(
            record.entity_id, RegistryAction.ROLL_BACK, record.status, "live or suspended"
        )
    previous = record.version(to)
    if previous is None or not previous.was_live:
        return unknown_version(record.entity_id, to)
    if previous.status is VersionStatus.LIVE:
        state = f"at version {to} already"
        return WrongState(record.entity_id, RegistryAction.ROLL_BACK, state, "at another version")
    held = conflict(previous.entry, previous.key, facts)
    if held is not None:
        return held
    waits = not one_operator and needs_two(record, previous.entry)
    version = Version(
        number=record.next_number,
        entry=previous.entry,
        key=previous.key,
        status=VersionStatus.SUBMITTED,
        submitted_by=actor.name,
        submitted_at=now,
        submitted_person=actor.person,
        decided_by="" if waits else actor.name,
        decided_at=None if waits else now,
        reason=reason.strip(),
        equal_to=to,
    )
    base = without_pending(record)
    after = base.with_version(version) if waits else put_live(base, version, now)
    return Decision(
        RegistryAction.ROLL_BACK, actor, now, reason.strip(), record, after, version.number
    )
