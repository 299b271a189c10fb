"""Two people for what members' traffic and trust hang on: the pure rule.

A key, an address or a gateway that an operator submitted for a member, another operator
approves; one who administers the member approves none of its own. An account that one of the
two gave the other lately is no second person (grants.py).
"""

from collections.abc import Sequence

from mudra.registry.lifecycle.actor import Actor
from mudra.registry.lifecycle.difference import difference, needs_approval
from mudra.registry.lifecycle.grants import Grant, untied_at
from mudra.registry.lifecycle.record import Record, Version
from mudra.registry.lifecycle.refusal import SecondOperatorNeeded, SecondOperatorTied
from mudra.registry.payload.entry import Entry


def needs_two(record: Record, entry: Entry) -> bool:
    """Return whether an entry would change what two people decide on; a first one always does."""
    live = record.live
    return live is None or needs_approval(difference(live.entry, entry))


def second_operator_needed(
    record: Record, version: Version, actor: Actor, grants: Sequence[Grant]
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
    until = untied_at(record, version, actor, grants)
    return None if until is None else SecondOperatorTied(record.entity_id, until)
