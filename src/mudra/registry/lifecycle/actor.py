"""Who acts on the registry, and what each may do (decisions, part 4)."""

import enum
from typing import Final

from msgspec import Struct

from mudra.registry.lifecycle.refusal import NeedsOperator, NotYours
from mudra.registry.payload.entry import Entry

SUBMIT: Final = "registry:submit"
"""The operator's scope to submit and update entries for anyone."""
DECIDE: Final = "registry:decide"
"""The operator's scope to approve, reject, suspend, restore, retire and roll back."""


class ActorKind(enum.StrEnum):
    """In what capacity someone acts."""

    OPERATOR = "operator"
    MEMBER_ADMIN = "memberAdmin"
    ENTITY = "entity"
    SCHEDULE = "schedule"


class Actor(Struct, frozen=True):
    """The one who acts: `name` for the history, `own` the entities it may act for."""

    kind: ActorKind
    name: str
    own: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()


SCHEDULE: Final = Actor(ActorKind.SCHEDULE, "schedule")


def may_submit(actor: Actor, entry: Entry) -> NotYours | NeedsOperator | None:
    """Refuse one who submits for another: only an operator may."""
    if actor.kind is ActorKind.OPERATOR:
        return None if SUBMIT in actor.scopes else NeedsOperator(SUBMIT)
    if entry.entityinfo.id not in actor.own or entry.requester.id not in actor.own:
        return NotYours(entry.entityinfo.id)
    return None


def may_decide(actor: Actor) -> NeedsOperator | None:
    """Refuse everyone but an operator with the scope to decide."""
    decides = actor.kind is ActorKind.OPERATOR and DECIDE in actor.scopes
    return None if decides else NeedsOperator(DECIDE)


def may_retire(actor: Actor, entity_id: str) -> NotYours | NeedsOperator | None:
    """Refuse all but an operator and the entity's own admin.

    The entity itself may not: a stolen Entity Access Token of one day would end
    a membership for good.
    """
    if actor.kind is ActorKind.MEMBER_ADMIN:
        return None if entity_id in actor.own else NotYours(entity_id)
    return may_decide(actor)
