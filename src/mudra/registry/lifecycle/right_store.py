"""Rights to change the registry, as they are under its lock."""

from typing import Final

import sqlalchemy as sa

from mudra.identity.accounts.user import UserState
from mudra.identity.memberships.entity_status_store import entity_accepts
from mudra.identity.operators.operator import Scope
from mudra.registry.lifecycle.actor import Actor, ActorKind
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity_admin, operator_scope, user_account

_U: Final = user_account.c
_PERSON: Final = sa.select(_U.user_id).where(_U.user_id == sa.bindparam("user_id"))
_DECIDES: Final = _PERSON.where(_U.state == UserState.ACTIVE.value).join(
    operator_scope,
    sa.and_(operator_scope.c.user_id == _U.user_id, operator_scope.c.scope == Scope.REGISTRY.value),
)
_ADMINISTERS: Final = _PERSON.where(_U.state != UserState.DISABLED.value).join(
    entity_admin,
    sa.and_(
        entity_admin.c.user_id == _U.user_id,
        entity_admin.c.entity_id == sa.bindparam("entity_id"),
    ),
)


async def has_right_now(transaction: Transaction, actor: Actor, entity_id: str) -> bool:
    """Return whether a person has the right by which they came, and an entity's token counts."""
    if actor.kind is ActorKind.ENTITY:
        return await _accepts_token(transaction, actor)
    if not actor.person:
        return True  # a command on the service's machine, or what was scheduled
    asked = {"user_id": actor.person.removeprefix("user:")}
    if actor.kind is ActorKind.OPERATOR:
        found = await transaction.connection.scalar(_DECIDES, asked)
    elif entity_id in actor.own:
        asked["entity_id"] = entity_id
        found = await transaction.connection.scalar(_ADMINISTERS, asked)
    else:
        return True  # they never had it, and the decision refuses them
    return found is not None


async def _accepts_token(transaction: Transaction, actor: Actor) -> bool:
    """Ask about the entity itself, whatever it writes about: the decision asks the latter."""
    (entity_id,), issued_at = actor.own, actor.token_issued_at
    return issued_at is not None and await entity_accepts(transaction, entity_id, issued_at)
