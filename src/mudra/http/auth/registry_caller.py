"""Who calls the registry: an entity, an admin of a member, or an operator."""

from msgspec import Struct

from mudra.http.auth.bearer import TokenRefusal, calling_entity, calling_user, verified_bearer
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import AnyRequest, new_context
from mudra.identity.operators.operator import Scope
from mudra.registry.directory.directory import Visibility, visibility_of
from mudra.registry.lifecycle.actor import DECIDE, SUBMIT, Actor, ActorKind
from mudra.shared.entity_type import EntityType
from mudra.tokens.authentication.bearer import EntityCaller, UserCaller
from mudra.tokens.authentication.token_check import VerifiedToken
from mudra.tokens.issuing.claims import TokenKind


class RegistryCaller(Struct, frozen=True):
    """An entity whose token stands and which is active."""

    entity_id: str
    entity_type: EntityType

    def sight(self, *, opened: bool) -> Visibility:
        """What it sees."""
        return visibility_of(self.entity_type, self.entity_id, opened=opened)


async def registry_caller(
    request: AnyRequest, service: HttpDependencies
) -> RegistryCaller | TokenRefusal:
    """Authenticate the entity whose Entity Access Token the request holds."""
    entity = await calling_entity(request, service)
    if not isinstance(entity, EntityCaller):
        return entity
    return RegistryCaller(entity.entity_id, entity.entity_type)


async def registry_actor(request: AnyRequest, service: HttpDependencies) -> Actor | TokenRefusal:
    """Authenticate who wants to change the registry: an entity, a member's admin, or an operator.

    An operator is one with the scope `registry`, read from the database at each call.
    """
    context = new_context(request, service)
    token = await verified_bearer(context)
    if isinstance(token, VerifiedToken) and token.kind is TokenKind.ENTITY:
        entity = await calling_entity(request, service)
        if not isinstance(entity, EntityCaller):
            return entity
        own = frozenset({entity.entity_id})
        return Actor(ActorKind.ENTITY, f"entity:{entity.entity_id}", own)
    async with service.unit_of_work() as work:
        caller = await calling_user(token, context, work)
        if not isinstance(caller, UserCaller):
            return caller
        scopes = await work.memberships.scopes(caller.user.user_id)
    if Scope.REGISTRY in scopes:
        rights = frozenset({SUBMIT, DECIDE})
        return Actor(ActorKind.OPERATOR, f"operator:{caller.user.email}", scopes=rights)
    own = frozenset(caller.user.administers)
    return Actor(ActorKind.MEMBER_ADMIN, f"user:{caller.user.user_id}", own)
