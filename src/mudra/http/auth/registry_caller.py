"""Who writes to the registry: an entity, a member's admin or an operator."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from mudra.http.auth.bearer import calling_entity, calling_user, verified_bearer
from mudra.http.request.request_context import RequestContext, address_of
from mudra.http.response.json_response import HandlerResult
from mudra.identity.operators.operator import Scope
from mudra.registry.lifecycle.actor import Actor, ActorKind, member_admin, operator
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.bearer import EntityCaller, UserCaller
from mudra.tokens.authentication.token_check import VerifiedToken
from mudra.tokens.issuing.claims import TokenKind
from mudra.unit_of_work import UnitOfWork

T = TypeVar("T")
RegistryHandler: TypeAlias = Callable[[UnitOfWork, Actor, T], Awaitable[HandlerResult]]
"""Calls one use case in an open unit of work, with what the request holds."""


async def as_registry_actor(
    context: RequestContext, received: T | Refusal, handler: RegistryHandler[T]
) -> HandlerResult:
    """Let an entity, a member's admin or an operator act on the registry, in one transaction.

    An operator is one with the scope `registry`. Who acts is checked before what was
    sent: `received` is that, or the refusal of a body or query that was not accepted.
    """
    token = await verified_bearer(context)
    entity: EntityCaller | None = None
    if isinstance(token, VerifiedToken) and token.kind is TokenKind.ENTITY:
        found = await calling_entity(context.request, context.service)
        if isinstance(found, Refusal):
            return found
        entity = found
    address = address_of(context.request, context.service)
    async with context.service.unit_of_work() as work:
        if entity is not None:
            name, own = f"entity:{entity.entity_id}", frozenset({entity.entity_id})
            actor = Actor(ActorKind.ENTITY, name, own, address=address, txn_id=context.txn_id)
        else:
            caller = await calling_user(token, context, work)
            if isinstance(caller, Refusal):
                return caller
            actor = await _user_actor(caller, work, address, context.txn_id)
        return received if isinstance(received, Refusal) else await handler(work, actor, received)


async def _user_actor(caller: UserCaller, work: UnitOfWork, address: str, txn_id: str) -> Actor:
    user = caller.user
    if Scope.REGISTRY in await work.memberships.scopes(user.user_id):
        return operator(f"operator:{user.email}", address, txn_id)
    return member_admin(user.user_id, user.administers, address, txn_id)
