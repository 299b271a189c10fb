"""The use cases that change the registry: one transaction each, a refusal is returned and kept.

Each opens the registry's lock, reads what the pure decision needs, and keeps
what it decided. Which decisions there are: submission.py, approval.py, standing.py.
"""

import datetime as dt
from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from mudra.registry.lifecycle.actor import Actor, may_decide, may_retire
from mudra.registry.lifecycle.approval import approve, go_live, reject
from mudra.registry.lifecycle.decision import Decision, Facts, RegistryAction
from mudra.registry.lifecycle.entity_status import restore, retire, roll_back, suspend
from mudra.registry.lifecycle.record import Record
from mudra.registry.lifecycle.refusal import RegistryRefusal, UnknownEntity, UnknownVersion
from mudra.registry.lifecycle.submission import Repeat, submit, update
from mudra.registry.payload.validation import CheckedPayload
from mudra.registry.ports import HeldRegistry, Registry
from mudra.shared.entity_type import EntityType

Outcome: TypeAlias = Decision | RegistryRefusal


class Command(Struct, frozen=True):
    """An operator's word on an entity: what to do, to which version, from when, and why.

    `version` is the one to roll back to, or the one that was looked at before
    approving or rejecting (0 for whichever is pending). `entity_type` is the
    type under which the entity was addressed, None where it was not.
    """

    act: RegistryAction
    entity_id: str
    actor: Actor
    reason: str = ""
    version: int = 0
    goes_live_at: dt.datetime | None = None
    entity_type: EntityType | None = None


async def submit_entry(
    registry: Registry, checked: CheckedPayload, actor: Actor, *, approved: bool = False
) -> Outcome:
    """Take a first submission; `approved` approves it at once, as an operator's import does."""
    async with registry.held() as held:
        entity_id = checked.entry.entityinfo.id
        barred = may_decide(actor) if approved else None
        if barred is not None:
            return await _keep(held, RegistryAction.SUBMIT, entity_id, actor, barred)
        record = await held.record(entity_id)
        facts = await held.facts(checked.entry, checked.key)
        outcome = submit(record, checked, facts, actor, held.now)
        kept = await _keep(held, RegistryAction.SUBMIT, entity_id, actor, outcome)
        if approved and isinstance(kept, Decision):
            return await _approve_at_once(held, kept.after, facts, actor)
        return kept


async def update_entry(
    registry: Registry, checked: CheckedPayload, actor: Actor, *, approved: bool = False
) -> Outcome | Repeat:
    """Take an update of an entry; `approved` as in `submit_entry`."""
    async with registry.held() as held:
        entity_id = checked.entry.entityinfo.id
        barred = may_decide(actor) if approved else None
        if barred is not None:
            return await _keep(held, RegistryAction.UPDATE, entity_id, actor, barred)
        record = await held.record(entity_id)
        facts = await held.facts(checked.entry, checked.key)
        outcome = update(record, checked, facts, actor, held.now)
        if isinstance(outcome, Repeat):
            return outcome
        kept = await _keep(held, RegistryAction.UPDATE, entity_id, actor, outcome)
        if approved and isinstance(kept, Decision) and kept.after.pending is not None:
            return await _approve_at_once(held, kept.after, facts, actor)
        return kept


async def preview_submission(
    registry: Registry, checked: CheckedPayload, actor: Actor
) -> Outcome | Repeat:
    """Tell what a submission or update would come to, and keep nothing of it."""
    async with registry.held() as held:
        record = await held.record(checked.entry.entityinfo.id)
        facts = await held.facts(checked.entry, checked.key)
        if record is None:
            return submit(record, checked, facts, actor, held.now)
        return update(record, checked, facts, actor, held.now)


async def decide(registry: Registry, order: Command) -> Outcome:
    """Carry out an order: approve, reject, suspend, restore, retire or roll back."""
    async with registry.held() as held:
        record = await held.record(order.entity_id)
        if record is None or order.entity_type not in {None, record.entity_type}:
            # Rights come first: who may not act is not told which entries there are.
            outcome: Outcome = _barred(order) or UnknownEntity(order.entity_id)
        else:
            outcome = await _decided(held, record, order)
        return await _keep(held, order.act, order.entity_id, order.actor, outcome)


async def put_due_live(registry: Registry) -> int:
    """Put every version live whose time has come; gives their number."""
    async with registry.held() as held:
        decisions = [go_live(record, held.now) for record in await held.due()]
        due = [decision for decision in decisions if decision is not None]
        for decision in due:
            await held.keep(decision)
        return len(due)


def _barred(order: Command) -> RegistryRefusal | None:
    if order.act is RegistryAction.RETIRE:
        return may_retire(order.actor, order.entity_id)
    return may_decide(order.actor)


async def _decided(held: HeldRegistry, record: Record, order: Command) -> Outcome:
    actor, now = order.actor, held.now
    if order.act is RegistryAction.APPROVE:
        facts = await _facts_of_pending(held, record)
        due = order.goes_live_at
        return approve(record, facts, actor, now, goes_live_at=due, expected=order.version)
    if order.act is RegistryAction.REJECT:
        return reject(record, actor, now, order.reason, expected=order.version)
    if order.act is RegistryAction.ROLL_BACK:
        former = record.version(order.version)
        if former is None:
            return UnknownVersion(order.entity_id, order.version)
        facts = await held.facts(former.entry, former.key)
        return roll_back(record, facts, actor, now, to=order.version, reason=order.reason)
    return _STANDING[order.act](record, actor, now, order.reason)


_STANDING: dict[RegistryAction, Callable[[Record, Actor, dt.datetime, str], Outcome]] = {
    RegistryAction.SUSPEND: suspend,
    RegistryAction.RESTORE: restore,
    RegistryAction.RETIRE: retire,
}


async def _facts_of_pending(held: HeldRegistry, record: Record) -> Facts:
    pending = record.pending
    return Facts() if pending is None else await held.facts(pending.entry, pending.key)


async def _approve_at_once(
    held: HeldRegistry, record: Record, facts: Facts, actor: Actor
) -> Outcome:
    outcome = approve(record, facts, actor, held.now)
    return await _keep(held, RegistryAction.APPROVE, record.entity_id, actor, outcome)


async def _keep(
    held: HeldRegistry, act: RegistryAction, entity_id: str, actor: Actor, outcome: Outcome
) -> Outcome:
    if isinstance(outcome, Decision):
        await held.keep(outcome)
    else:
        await held.keep_refusal(act, entity_id, actor.name, outcome)
    return outcome
