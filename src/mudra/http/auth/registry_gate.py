"""The gate of writers to the registry: an entity, a member's admin or an operator."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Final

from mudra.http.auth.bearer import TokenRefusal, admitted_entity, calling_user, verified_token
from mudra.http.endpoint import B, Call, Gate, Opening
from mudra.http.request.request_context import Admitted, Document, RequestContext, address_of
from mudra.identity.operators.operator import Scope
from mudra.identity.operators.operator_store import Operators
from mudra.registry.lifecycle.actor import Actor, ActorKind, member_admin, operator
from mudra.registry.payload.refusals import PayloadNotChecked, too_fast_writes, too_many_checks
from mudra.shared.refusal import Refusal
from mudra.storage.database.transaction import Transaction
from mudra.tokens.authentication.bearer import AdmittedEntity, EntityCaller
from mudra.tokens.authentication.issued_token_store import IssuedTokens
from mudra.tokens.authentication.token_check import VerifiedToken
from mudra.tokens.claims import TokenKind


class RegistryCall(Call[B], frozen=True, kw_only=True):
    """A request of one who may act on the registry, in an open transaction."""

    tx: Transaction
    actor: Actor


class RegistryGate(Gate[RegistryCall[Any]], frozen=True):
    """Lets an entity, a member's admin or an operator act on the registry, in one transaction.

    An operator is one with the scope `registry`. Who acts is checked before what was sent.
    Each caller has one turn at a time, so that none takes all connections of this process.
    """

    admits_first: ClassVar[bool] = True
    checks_only: bool = False
    """Whether the call stores nothing: such calls have a limit of their own."""
    of_people: bool = False
    """Whether the use case refuses entities: what a stolen token must not be able to do."""

    @property
    def needs(self) -> str:
        """Return which tokens a caller may present."""
        people = "User Access Token of its admin, or of an operator with the scope `registry`"
        return people if self.of_people else f"Entity Access Token of this entity, or {people}"

    @asynccontextmanager
    async def enter(
        self, context: RequestContext, received: object, opening: Opening
    ) -> AsyncIterator[RegistryCall[Any] | Refusal]:
        """Check the admitted caller again in its turn, in the transaction of the call."""
        # From memory, which may need a connection: before the transaction is opened.
        caller = await _confirmed(context)
        if isinstance(caller, Refusal):
            yield caller
            return
        subject, dependencies = _subject(caller), context.dependencies
        async with dependencies.registry_turns.turn(subject) as admitted:
            if not admitted:
                yield PayloadNotChecked()
                return
            if isinstance(received, Document):
                await dependencies.prepare_check(subject)
            async with dependencies.transaction(within_s=opening.within_s) as tx:
                actor = (
                    await _entity_actor(caller, context, tx)
                    if isinstance(caller, EntityCaller)
                    else await _user_actor(caller, context, tx)
                )
                if isinstance(actor, Refusal):
                    yield actor
                else:
                    yield RegistryCall(context=context, body=received, tx=tx, actor=actor)

    async def admit(self, context: RequestContext) -> Admitted | Refusal:
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
        dependencies = context.dependencies
        rate = dependencies.check_rate if self.checks_only else dependencies.registry_rate
        wait_s = rate.wait_s(token.subject)
        if not wait_s:
            return admitted
        return too_many_checks(wait_s) if self.checks_only else too_fast_writes(wait_s)


REGISTRY_ACTOR: Final = RegistryGate()
REGISTRY_PERSON: Final = RegistryGate(of_people=True)
PAYLOAD_CHECKER: Final = RegistryGate(checks_only=True)


async def _confirmed(context: RequestContext) -> EntityCaller | VerifiedToken | Refusal:
    """Check what may have changed of an admitted token while the body came; use its proof up.

    Whether it was revoked is asked again in the transaction that decides.
    """
    admitted, bearer = context.admitted, context.dependencies.bearer
    assert admitted is not None  # by the gate
    token = admitted.caller.token if isinstance(admitted, AdmittedEntity) else admitted
    verified = await bearer.verified_before(token)
    if not isinstance(verified, VerifiedToken) or not isinstance(admitted, AdmittedEntity):
        return verified
    return await bearer.use_proof(admitted)


def _subject(caller: EntityCaller | VerifiedToken) -> str:
    return caller.entity_id if isinstance(caller, EntityCaller) else caller.subject


async def _entity_actor(
    entity: EntityCaller, context: RequestContext, tx: Transaction
) -> Actor | TokenRefusal:
    """Authenticate again in the transaction that decides."""
    refused = await context.dependencies.bearer.check_again(entity, IssuedTokens(tx))
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
    token: VerifiedToken, context: RequestContext, tx: Transaction
) -> Actor | TokenRefusal:
    caller = await calling_user(token, context, tx)
    if isinstance(caller, Refusal):
        return caller
    user, address = caller.user, address_of(context.request, context.dependencies)
    if Scope.REGISTRY in await Operators(tx).scopes(user.user_id):
        return operator(
            f"operator:{user.email}",
            address,
            context.txn_id,
            user_id=user.user_id,
            administers=user.administers,
        )
    return member_admin(user.user_id, user.administers, address, context.txn_id)
