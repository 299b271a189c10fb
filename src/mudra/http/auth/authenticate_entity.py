"""Which entity calls: its Entity Access Token, checked (spec 2.2)."""

from mudra.http.auth.bearer import TokenRefusal, token_in
from mudra.http.dependencies import HttpDependencies
from mudra.http.response.http_refusals import NoAuthorization
from mudra.shared.entity_type import EntityType
from mudra.tokens.authentication.token_check import TokenFacts, TokenInvalid, TokenRevoked
from mudra.tokens.issuing.claims import TokenKind
from mudra.unit_of_work import UnitOfWork


async def authenticate_entity(
    header: str | None, service: HttpDependencies, *of_types: EntityType
) -> TokenFacts | TokenRefusal:
    """Find the entity whose token the header holds, without asking the database when possible.

    Whether the token was revoked is asked in the transaction that follows: `revoked`.
    """
    token = token_in(header, scheme_needed=True)
    if isinstance(token, NoAuthorization):
        return token
    await service.signer.ready()
    facts = service.examined.examine(token)
    if not isinstance(facts, TokenFacts):
        return facts
    if facts.kind is not TokenKind.ENTITY:
        return TokenInvalid()
    credentials = service.credentials.get_cached(facts.subject)
    if credentials is None:
        credentials = await service.credentials.of(facts.subject)
    if credentials is None or not credentials.active:
        return TokenInvalid()
    if of_types and credentials.entity_type not in of_types:
        return TokenInvalid()
    return facts


async def revoked(facts: TokenFacts, work: UnitOfWork) -> TokenRevoked | None:
    """Say so when the token was revoked before its end."""
    return TokenRevoked() if await work.tokens.entity_token_revoked(facts.jti) else None
