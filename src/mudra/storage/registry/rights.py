"""Rights to change the registry, as they are under its lock."""

import sqlalchemy as sa

from mudra.identity.accounts.user import UserState
from mudra.identity.operators.operator import Scope
from mudra.registry.lifecycle.actor import Actor, ActorKind
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import entity_admin, user_account
from mudra.storage.identity.tables import operator_scope


async def has_right_now(transaction: Transaction, actor: Actor, entity_id: str) -> bool:
    """Return whether a person has the right by which they came; who is no person has it."""
    if not actor.person:
        return True
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
