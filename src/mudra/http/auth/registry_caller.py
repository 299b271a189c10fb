"""Who calls the registry: an entity, an admin of a member, or an operator."""

from msgspec import Struct

from mudra.http.auth.bearer import (
    SignedInUser,
    TokenRefusal,
    authorization_of,
    signed_in_user,
    token_in,
)
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import AnyRequest, address_of
from mudra.http.response.http_refusals import NoAuthorization
from mudra.identity.operators.operator import Scope
from mudra.registry.directory.directory import Visibility, visibility_of
from mudra.registry.lifecycle.actor import DECIDE, SUBMIT, Actor, ActorKind
from mudra.shared.entity_type import EntityType
from mudra.tokens.authentication.token_check import TokenFacts, TokenInvalid, TokenRevoked
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
    """Find the entity whose Entity Access Token the request holds."""
    facts = await _facts(authorization_of(request), service)
    if not isinstance(facts, TokenFacts):
        return facts
    if facts.kind is not TokenKind.ENTITY:
        return TokenInvalid()
    return await _entity(facts, service)


async def registry_actor(request: AnyRequest, service: HttpDependencies) -> Actor | TokenRefusal:
    """Find who wants to change the registry: an entity, a member's admin, or an operator.

    An operator is one with the scope `registry`, read from the database at each call.
    """
    header = authorization_of(request)
    facts = await _facts(header, service)
    if not isinstance(facts, TokenFacts):
        return facts
    if facts.kind is TokenKind.ENTITY:
        entity = await _entity(facts, service)
        if not isinstance(entity, RegistryCaller):
            return entity
        own = frozenset({entity.entity_id})
        return Actor(ActorKind.ENTITY, f"entity:{entity.entity_id}", own)
    async with service.unit_of_work() as work:
        caller = await signed_in_user(
            header, service, work, scheme_needed=True, address=address_of(request, service)
        )
        if not isinstance(caller, SignedInUser):
            return caller
        scopes = await work.memberships.scopes(caller.user.user_id)
    if Scope.REGISTRY in scopes:
        rights = frozenset({SUBMIT, DECIDE})
        return Actor(ActorKind.OPERATOR, f"operator:{caller.user.email}", scopes=rights)
    own = frozenset(caller.user.administers)
    return Actor(ActorKind.MEMBER_ADMIN, f"user:{caller.user.user_id}", own)


async def _facts(header: str | None, service: HttpDependencies) -> TokenFacts | TokenRefusal:
    token = token_in(header, scheme_needed=True)
    if isinstance(token, NoAuthorization):
        return token
    await service.signer.ready()
    return service.examined.examine(token)


async def _entity(facts: TokenFacts, service: HttpDependencies) -> RegistryCaller | TokenRefusal:
    if await service.revocations.holds(facts.jti):
        return TokenRevoked()
    credentials = service.credentials.get_cached(facts.subject)
    if credentials is None:
        credentials = await service.credentials.of(facts.subject)
    if credentials is None or not credentials.active:
        return TokenInvalid()
    return RegistryCaller(facts.subject, EntityType(credentials.entity_type.value))
