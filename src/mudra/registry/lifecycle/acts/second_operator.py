"""Two people for what members' traffic and trust hang on: the pure rule.

A name, key, address or gateway that an operator submitted for a member, another operator
approves; one who administers the member approves none of its own, and one who onboarded it not
its first entry. An account that one of the two gave the other lately is no second person
(grants.py).
"""

from typing import Final

from mudra.registry.lifecycle.actor import Actor
from mudra.registry.lifecycle.decision import Facts
from mudra.registry.lifecycle.difference import difference, needs_approval
from mudra.registry.lifecycle.grants import hands, tie
from mudra.registry.lifecycle.record import Record, Version
from mudra.registry.lifecycle.refusal import SecondOperatorNeeded, SecondOperatorTied
from mudra.registry.payload.entry import Entry
from mudra.shared.entry_status import EntityStatus

_TWO: Final = 2
"""Operators who may approve: from then on the first entry of a member takes another one."""


def needs_two(record: Record, entry: Entry) -> bool:
    """Return whether an entry would change what two people decide on; a first one always does."""
    live = record.live
    return live is None or needs_approval(difference(live.entry, entry))


def second_operator_needed(
    record: Record, version: Version, actor: Actor, facts: Facts
) -> SecondOperatorNeeded | SecondOperatorTied | None:
    """Refuse an approval by the one who submitted, or who administers the member, or is tied."""
    if not needs_two(record, version.entry):
        return None
    # A member's admin can read its secret, and so submit as the entity itself.
    if record.entity_id in actor.own:
        return SecondOperatorNeeded(record.entity_id, is_admin=True)
    same_person = bool(actor.person) and version.submitted_person == actor.person
    if same_person or version.submitted_by == actor.name:
        return SecondOperatorNeeded(record.entity_id, is_admin=False)
    if record.status is EntityStatus.UNLISTED and facts.deciders >= _TWO:
        approvers = hands([actor.person] if actor.person else [], facts.grants)
        if facts.onboarded_by in approvers:
            return SecondOperatorNeeded(record.entity_id, is_admin=False, onboarded=True)
    tied = tie(record, version, actor, facts.grants)
    return None if tied is None else SecondOperatorTied(record.entity_id, tied.until)
