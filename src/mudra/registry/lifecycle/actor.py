"""The people who act on the registry, and what each may do."""

import datetime as dt
import enum
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from mudra.registry.lifecycle.refusal import NOT_YOUR_ENTRY, RETIRED_BY_PEOPLE, NeedsOperator
from mudra.registry.payload.entry import Entry
from mudra.shared.refusal import PlainRefusal

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
    """The author of a change: `name` for the history, `own` the entities that it may act for.

    Of an operator `own` are the entities that the same `person` administers. An entity comes by
    a token, of `token_issued_at`.
    """

    kind: ActorKind
    name: str
    own: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    address: str = ""
    txn_id: str = ""
    person: str = ""
    token_issued_at: dt.datetime | None = None


SCHEDULE: Final = Actor(ActorKind.SCHEDULE, "schedule")


def operator(
    name: str,
    address: str = "",
    txn_id: str = "",
    *,
    user_id: str = "",
    administers: Iterable[str] = (),
) -> Actor:
    """Return an operator with all rights over the registry, who may be a member's admin too."""
    return Actor(
        ActorKind.OPERATOR,
        name,
        frozenset(administers),
        scopes=frozenset({SUBMIT, DECIDE}),
        address=address,
        txn_id=txn_id,
        person=f"user:{user_id}" if user_id else "",
    )


def member_admin(user_id: str, own: Iterable[str], address: str = "", txn_id: str = "") -> Actor:
    """Return an admin of the entities `own`."""
    kind, name = ActorKind.MEMBER_ADMIN, f"user:{user_id}"
    return Actor(kind, name, frozenset(own), address=address, txn_id=txn_id, person=name)


def may_submit(actor: Actor, entry: Entry) -> PlainRefusal | NeedsOperator | None:
    """Refuse anyone but an operator who submits for another entity."""
    if actor.kind is ActorKind.OPERATOR:
        return None if SUBMIT in actor.scopes else NeedsOperator(SUBMIT)
    if entry.entityinfo.id not in actor.own or entry.requester.id not in actor.own:
        return NOT_YOUR_ENTRY
    return None


def may_decide(actor: Actor) -> NeedsOperator | None:
    """Refuse everyone but an operator with the scope to decide."""
    decides = actor.kind is ActorKind.OPERATOR and DECIDE in actor.scopes
    return None if decides else NeedsOperator(DECIDE)


def may_retire(actor: Actor, entity_id: str) -> PlainRefusal | NeedsOperator | None:
    """Refuse all but an operator and the entity's own admin.

    The entity itself may not: a stolen Entity Access Token of one day would end
    a membership for good.
    """
    if actor.kind is ActorKind.MEMBER_ADMIN:
        return None if entity_id in actor.own else NOT_YOUR_ENTRY
    return RETIRED_BY_PEOPLE if actor.kind is ActorKind.ENTITY else may_decide(actor)
