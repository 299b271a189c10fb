"""Who writes to the registry: an entity, a member's admin or an operator."""

from collections.abc import Mapping

from mudra.http.auth.bearer import (
    TokenRefusal,
    admitted_entity,
    calling_user,
    verified_token,
)
from mudra.http.endpoint import B, Call, Endpoint, Handler, P, called
from mudra.http.request.request_context import Admitted, Document, RequestContext, address_of
from mudra.http.response.json_response import HandlerResult
from mudra.identity.operators.operator import Scope
from mudra.registry.lifecycle.actor import Actor, ActorKind, member_admin, operator
from mudra.registry.payload.refusals import PayloadNotChecked, too_many_writes
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.bearer import AdmittedEntity, EntityCaller
from mudra.tokens.authentication.token_check import VerifiedToken
from mudra.tokens.issuing.claims import TokenKind
from mudra.unit_of_work import UnitOfWork


class RegistryCall(Call[B], frozen=True, kw_only=True):
    """A request of one who may act on the registry, in an open unit of work."""

    work: UnitOfWork
    actor: Actor


def as_registry_actor(handler: Handler[RegistryCall[B], P]) -> Endpoint:
    """Let an entity, a member's admin or an operator act on the registry, in one transaction.

    An operator is one with the scope `registry`. Who acts is checked before what was sent.
    Each caller has one turn at a time, so that none takes all connections of this process.
    """

    async def respond(
        context: RequestContext, received: object, path: Mapping[str, object]
    ) -> HandlerResult:
        # From memory, which may need a connection: before the transaction is opened.
        caller = await _confirmed(context)
        if isinstance(caller, Refusal):
            return caller
        subject = _subject(caller)
        async with context.dependencies.registry_turns.turn(subject) as admitted:
            if not admitted:
                return PayloadNotChecked()
            if isinstance(received, Document):
                await context.dependencies.prepare_check(subject)
            async with context.dependencies.unit_of_work() as work:
                actor = (
                    await _entity_actor(caller, context, work)
                    if isinstance(caller, EntityCaller)
                    else await _user_actor(caller, context, work)
                )
                if isinstance(actor, Refusal):
                    return actor
                if isinstance(received, Refusal):
                    return received
                call = RegistryCall(context=context, body=received, work=work, actor=actor)
                return await called(handler, call, path)

    return Endpoint(handler=handler, respond=respond, bearer=True, admit=_admit)


async def _admit(context: RequestContext) -> Admitted | Refusal:
    """Refuse one without a token of ours, and one who sends too much, before it is read."""
    token = await verified_token(context)
    if not isinstance(token, VerifiedToken):
        return token
    admitted: Admitted = token
    if token.kind is TokenKind.ENTITY:
        entity = await admitted_entity(token, context)
        if isinstance(entity, Refusal):
            return entity
        admitted = entity
    wait_s = context.dependencies.registry_rate.wait_s(token.subject)
    return too_many_writes(wait_s) if wait_s else admitted


async def _confirmed(context: RequestContext) -> EntityCaller | VerifiedToken | Refusal:
    """Check what may have changed of an admitted token while the body came; use its proof up.

    Whether it was revoked is asked again in the transaction that decides.
    """
    admitted, bearer = context.admitted, context.dependencies.bearer
    assert admitted is not None  # by _admit
    token = admitted.caller.token if isinstance(admitted, AdmittedEntity) else admitted
    verified = await bearer.verified_before(token)
    if not isinstance(verified, VerifiedToken) or not isinstance(admitted, AdmittedEntity):
        return verified
    return await bearer.use_proof(admitted)


def _subject(caller: EntityCaller | VerifiedToken) -> str:
    return caller.entity_id if isinstance(caller, EntityCaller) else caller.subject


async def _entity_actor(
    entity: EntityCaller, context: RequestContext, work: UnitOfWork
) -> Actor | TokenRefusal:
    """Authenticate again in the transaction that decides."""
    refused = await context.dependencies.bearer.check_again(entity, work.tokens)
    if refused is not None:
        return refused
    name, own = f"entity:{entity.entity_id}", frozenset({entity.entity_id})
    return Actor(
        ActorKind.ENTITY,
        name,
        own,
        address=address_of(context.request, context.dependencies),
        txn_id=context.txn_id,
        token_issued_at=entity.token.issued_at,
    )


async def _user_actor(
    token: VerifiedToken, context: RequestContext, work: UnitOfWork
) -> Actor | TokenRefusal:
    caller = await calling_user(token, context, work)
    if isinstance(caller, Refusal):
        return caller
    user, address = caller.user, address_of(context.request, context.dependencies)
    if Scope.REGISTRY in await work.memberships.scopes(user.user_id):
        return operator(
            f"operator:{user.email}",
            address,
            context.txn_id,
            user_id=user.user_id,
            administers=user.administers,
        )
    return member_admin(user.user_id, user.administers, address, context.txn_id)
