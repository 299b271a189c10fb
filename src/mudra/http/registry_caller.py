"""Who calls the registry: an entity, or an admin of a member."""

from dataclasses import dataclass

from mudra.http.bearer import SignedInUser, TokenRefusal, signed_in_user, token_in
from mudra.http.errors import NoAuthorization
from mudra.http.service import Service
from mudra.registry.actor import Actor, ActorKind
from mudra.registry.directory import Sight, sight_of
from mudra.registry.entry import EntityType
from mudra.tokens.check import TokenFacts, TokenInvalid, TokenRevoked, examine
from mudra.tokens.claims import TokenKind


@dataclass(frozen=True, slots=True)
class CallingEntity:
    """An entity whose token stands and which is active."""

    entity_id: str
    entity_type: EntityType

    def sight(self, *, opened: bool) -> Sight:
        """What it sees."""
        return sight_of(self.entity_type, self.entity_id, opened=opened)


async def calling_entity(header: str | None, service: Service) -> CallingEntity | TokenRefusal:
    """Find the entity whose Entity Access Token the header holds."""
    facts = await _facts(header, service)
    if not isinstance(facts, TokenFacts):
        return facts
    if facts.kind is not TokenKind.ENTITY:
        return TokenInvalid()
    return await _entity(facts, service)


async def calling_actor(header: str | None, service: Service) -> Actor | TokenRefusal:
    """Find who wants to change the registry: an entity, or a member's admin."""
    facts = await _facts(header, service)
    if not isinstance(facts, TokenFacts):
        return facts
    if facts.kind is TokenKind.ENTITY:
        entity = await _entity(facts, service)
        if not isinstance(entity, CallingEntity):
            return entity
        own = frozenset({entity.entity_id})
        return Actor(ActorKind.ENTITY, f"entity:{entity.entity_id}", own)
    async with service.open_work() as work:
        admin = await signed_in_user(header, service, work, scheme_needed=True)
    if not isinstance(admin, SignedInUser):
        return admin
    own = frozenset(admin.user.administers)
    return Actor(ActorKind.MEMBER_ADMIN, f"user:{admin.user.user_id}", own)


async def _facts(header: str | None, service: Service) -> TokenFacts | TokenRefusal:
    token = token_in(header, scheme_needed=True)
    if isinstance(token, NoAuthorization):
        return token
    await service.signer.ready()
    return examine(token.reveal(), service.terms, service.signer.find_key, service.clock())


async def _entity(facts: TokenFacts, service: Service) -> CallingEntity | TokenRefusal:
    async with service.open_work() as work:
        if await work.tokens.entity_token_revoked(facts.jti):
            return TokenRevoked()
    credentials = await service.credentials.of(facts.subject)
    if credentials is None or not credentials.active:
        return TokenInvalid()
    return CallingEntity(facts.subject, EntityType(credentials.entity_type.value))
