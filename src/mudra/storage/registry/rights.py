"""Rights to change the registry, as they are under its lock."""

import sqlalchemy as sa

from mudra.identity.accounts.user import UserState
from mudra.identity.operators.operator import Scope
from mudra.registry.lifecycle.actor import Actor, ActorKind
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import entity_admin, user_account
from mudra.storage.identity.tables import operator_scope
from mudra.storage.tokens.entity_status import entity_accepts


async def has_right_now(transaction: Transaction, actor: Actor, entity_id: str) -> bool:
    """Return whether a person has the right by which they came, and an entity's token counts."""
    if actor.kind is ActorKind.ENTITY:
        return await _accepts_token(transaction, actor)
    if not actor.person:
        return True  # a command on the service's machine, or what was scheduled
    user_id = actor.person.removeprefix("user:")
    u, scope, admin = user_account.c, operator_scope.c, entity_admin.c
    asked = sa.select(u.user_id).where(u.user_id == user_id)
    if actor.kind is ActorKind.OPERATOR:
        decides = sa.and_(scope.user_id == u.user_id, scope.scope == Scope.REGISTRY.value)
        asked = asked.where(u.state == UserState.ACTIVE.value).join(operator_scope, decides)
    elif entity_id in actor.own:
        administers = sa.and_(admin.user_id == u.user_id, admin.entity_id == entity_id)
        asked = asked.where(u.state != UserState.DISABLED.value).join(entity_admin, administers)
    else:
        return True  # they never had it, and the decision refuses them
    return await transaction.connection.scalar(asked) is not None


async def _accepts_token(transaction: Transaction, actor: Actor) -> bool:
    """Ask about the entity itself, whatever it writes about: the decision asks the latter."""
    (entity_id,), issued_at = actor.own, actor.token_issued_at
    return issued_at is not None and await entity_accepts(transaction, entity_id, issued_at)
