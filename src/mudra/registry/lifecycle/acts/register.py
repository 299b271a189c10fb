"""The use cases that change the registry, each within its caller's transaction.

Each takes the registry's lock, reads what the pure decision needs, and stores
what was decided, a refusal too. The decisions: submission.py, approval.py,
entity_status.py.
"""

import datetime as dt
from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mudra.registry.lifecycle.actor import DECIDE, Actor, ActorKind, may_decide, may_retire
from mudra.registry.lifecycle.acts.approval import Reviewed, approve, go_live, reject
from mudra.registry.lifecycle.acts.entity_status import restore, retire, roll_back, suspend
from mudra.registry.lifecycle.acts.submission import Repeat, submit, update
from mudra.registry.lifecycle.decision import Decision, Facts, RegistryAction
from mudra.registry.lifecycle.grants import tied_since
from mudra.registry.lifecycle.record import Record
from mudra.registry.lifecycle.refusal import (
    NOT_YOUR_ENTRY,
    NeedsOperator,
    RegistryRefusal,
    unknown_entity,
    unknown_version,
)
from mudra.registry.payload.validation import CheckedPayload
from mudra.registry.ports import Registry
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import VersionStatus
from mudra.shared.refusal import PlainRefusal

Outcome: TypeAlias = Decision | RegistryRefusal


class Command(Struct, frozen=True):
    """A decision that someone asks for: what to do, to which version, from when, and why.

    `version` is the one to roll back to, or the one that was reviewed before approving or
    rejecting (0 to reject whichever is pending), and `hash` that of what was shown of it, if it
    is known. `entity_type` is the type under which the entity was addressed, None where it was not.
    """

    action: RegistryAction
    entity_id: str
    actor: Actor
    reason: str = ""
    version: int = 0
    goes_live_at: dt.datetime | None = None
    entity_type: EntityType | None = None
    hash: str = ""


_DecideOn = Callable[
    [Record | None, CheckedPayload, Facts, Actor, dt.datetime], Decision | Repeat | RegistryRefusal
]


async def submit_entry(
    registry: Registry, checked: CheckedPayload, actor: Actor, *, approved: bool = False
) -> Outcome | Repeat:
    """Take a first submission; `approved` approves it at once, as an operator's import does.

    So it approves what another operator's import submitted; what the same one did stays pending,
    with a `SecondOperatorNeeded`.
    """
    return await _take(registry, RegistryAction.SUBMIT, submit, checked, actor, approved=approved)


async def update_entry(
    registry: Registry, checked: CheckedPayload, actor: Actor, *, approved: bool = False
) -> Outcome | Repeat:
    """Take an update of an entry; `approved` as in `submit_entry`."""
    return await _take(registry, RegistryAction.UPDATE, update, checked, actor, approved=approved)


async def _take(
    registry: Registry,
    action: RegistryAction,
    decide_on: _DecideOn,
    checked: CheckedPayload,
    actor: Actor,
    *,
    approved: bool,
) -> Outcome | Repeat:
    now, entity_id = await registry.lock(), checked.entry.entityinfo.id
    barred = await _lost_right(registry, actor, entity_id)
    if barred is None and approved:
        barred = may_decide(actor)
    if barred is not None:
        return await _keep(registry, action, entity_id, actor, barred)
    record = await registry.record(entity_id, entry=checked.entry)
    facts = await registry.facts(checked.entry, checked.key, now)
    outcome = decide_on(record, checked, facts.of_import if approved else facts, actor, now)
    if isinstance(outcome, Repeat):
        if approved and _awaits_approval(outcome):
            return await _approve_at_once(registry, outcome.record, actor, now)
        return outcome
    kept = await _keep(registry, action, entity_id, actor, outcome)
    if approved and isinstance(kept, Decision) and kept.after.pending is not None:
        return await _approve_at_once(registry, kept.after, actor, now)
    return kept


async def submit_or_update(
    registry: Registry, checked: CheckedPayload, actor: Actor, *, approved: bool = False
) -> Outcome | Repeat:
    """Submit what the registry has no record of, update what it has."""
    if await registry.record(checked.entry.entityinfo.id) is None:
        return await submit_entry(registry, checked, actor, approved=approved)
    return await update_entry(registry, checked, actor, approved=approved)


async def preview_submission(
    registry: Registry, checked: CheckedPayload, actor: Actor
) -> Outcome | Repeat:
    """Return what an approved submission or update would come to; stores nothing.

    Of one that needs a second operator it is what would be stored, pending.
    """
    now = await registry.lock()
    record = await registry.record(checked.entry.entityinfo.id, entry=checked.entry)
    facts = await registry.facts(checked.entry, checked.key, now)
    decide_on = submit if record is None else update
    outcome = decide_on(record, checked, facts.of_import, actor, now)
    if isinstance(outcome, Repeat) and _awaits_approval(outcome):
        return await _approval_of_import(registry, outcome.record, actor, now)
    return outcome


async def decide(registry: Registry, command: Command) -> Outcome:
    """Carry out a command: approve, reject, suspend, restore, retire or roll back."""
    now = await registry.lock()
    lost = await _lost_right(registry, command.actor, command.entity_id)
    record = await registry.record(command.entity_id, version=command.version)
    if lost is not None:
        outcome: Outcome = lost
    elif record is None or command.entity_type not in {None, record.entity_type}:
        # The right comes first: a caller without it must not learn which entries exist.
        outcome = _barred(command) or unknown_entity(command.entity_id)
    else:
        outcome = await _decided(registry, record, command, now)
    return await _keep(registry, command.action, command.entity_id, command.actor, outcome)


async def _lost_right(
    registry: Registry, actor: Actor, entity_id: str
) -> NeedsOperator | PlainRefusal | None:
    """Refuse who lost the right while they waited for the lock: each act sees the one before."""
    if await registry.has_right_now(actor, entity_id):
        return None
    is_operator = actor.kind is ActorKind.OPERATOR
    return NeedsOperator(DECIDE) if is_operator else NOT_YOUR_ENTRY


async def put_live_if_due(registry: Registry, entity_id: str) -> bool:
    """Put an entity's scheduled version live if its time has come; returns whether it did."""
    now = await registry.lock()
    record = await registry.record(entity_id)
    decision = None if record is None else go_live(record, now)
    if decision is None:
        return False
    await registry.keep(decision)
    return True


def _barred(command: Command) -> RegistryRefusal | None:
    if command.action is RegistryAction.RETIRE:
        return may_retire(command.actor, command.entity_id)
    return may_decide(command.actor)


async def _decided(
    registry: Registry, record: Record, command: Command, now: dt.datetime
) -> Outcome:
    actor = command.actor
    if command.action is RegistryAction.APPROVE:
        facts = await _facts_of_pending(registry, record, now)
        due = command.goes_live_at
        return approve(
            record,
            facts,
            actor,
            now,
            goes_live_at=due,
            reviewed=Reviewed(command.version, command.hash, command.reason),
            one_operator=registry.one_operator,
        )
    if command.action is RegistryAction.REJECT:
        return reject(record, actor, now, command.reason, expected=command.version)
    if command.action is RegistryAction.ROLL_BACK:
        previous = record.version(command.version)
        if previous is None:
            return unknown_version(command.entity_id, command.version)
        facts = await registry.facts(previous.entry, previous.key, now)
        return roll_back(
            record,
            facts,
            actor,
            now,
            to=command.version,
            reason=command.reason,
            one_operator=registry.one_operator,
        )
    return _CHANGES_OF_STATUS[command.action](record, actor, now, command.reason)


_CHANGES_OF_STATUS: dict[RegistryAction, Callable[[Record, Actor, dt.datetime, str], Outcome]] = {
    RegistryAction.SUSPEND: suspend,
    RegistryAction.RESTORE: restore,
    RegistryAction.RETIRE: retire,
}


async def _facts_of_pending(registry: Registry, record: Record, now: dt.datetime) -> Facts:
    pending = record.pending
    if pending is None:
        return Facts()
    facts = await registry.facts(pending.entry, pending.key, now)
    grants = await registry.grants(record.entity_id, tied_since(pending))
    return replace(facts, grants=tuple(grants))


def _awaits_approval(repeat: Repeat) -> bool:
    pending = repeat.record.pending
    return (
        pending is not None
        and pending.number == repeat.version
        and pending.status is VersionStatus.SUBMITTED
    )


async def _approve_at_once(
    registry: Registry, record: Record, actor: Actor, now: dt.datetime
) -> Outcome:
    outcome = await _approval_of_import(registry, record, actor, now)
    return await _keep(registry, RegistryAction.APPROVE, record.entity_id, actor, outcome)


async def _approval_of_import(
    registry: Registry, record: Record, actor: Actor, now: dt.datetime
) -> Outcome:
    """Decide on what an import holds: its file is what was reviewed."""
    facts = (await _facts_of_pending(registry, record, now)).of_import
    number = record.pending.number if record.pending else 0
    alone = registry.one_operator
    return approve(record, facts, actor, now, reviewed=Reviewed(number), one_operator=alone)


async def _keep(
    registry: Registry, action: RegistryAction, entity_id: str, actor: Actor, outcome: Outcome
) -> Outcome:
    if isinstance(outcome, Decision):
        await registry.keep(outcome)
    else:
        await registry.keep_refusal(action, entity_id, actor, outcome)
    return outcome
