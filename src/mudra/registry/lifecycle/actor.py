"""Who acts on the registry, and what each may do (decisions, part 4)."""

import enum
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from mudra.registry.lifecycle.refusal import NeedsOperator, NotYours
from mudra.registry.payload.entry import Entry

SUBMIT: Final = "registry:submit"
"""The operator's scope to submit and update entries for anyone."""
DECIDE: Final = "registry:decide"
"""The operator's scope to approve, reject, suspend, restore, retire and roll back."""


class ActorKind(enum.StrEnum):
    """The capacity in which someone acts."""

    OPERATOR = "operator"
    MEMBER_ADMIN = "memberAdmin"
    ENTITY = "entity"
    SCHEDULE = "schedule"


class Actor(Struct, frozen=True):
    """Who acts: `name` for the history, `own` the entities it may act for, and from where."""

    kind: ActorKind
    name: str
    own: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    address: str = ""
    txn_id: str = ""


SCHEDULE: Final = Actor(ActorKind.SCHEDULE, "schedule")


def operator(name: str, address: str = "", txn_id: str = "") -> Actor:
    """Return an operator with all rights over the registry."""
    rights = frozenset({SUBMIT, DECIDE})
    return Actor(ActorKind.OPERATOR, name, scopes=rights, address=address, txn_id=txn_id)


def member_admin(user_id: str, own: Iterable[str], address: str = "", txn_id: str = "") -> Actor:
    """Return an admin of the entities `own`."""
    kind, name = ActorKind.MEMBER_ADMIN, f"user:{user_id}"
    return Actor(kind, name, frozenset(own), address=address, txn_id=txn_id)


def may_submit(actor: Actor, entry: Entry) -> NotYours | NeedsOperator | None:
    """Refuse anyone but an operator who submits for another entity."""
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
