"""Who calls: the token in `Authorization`, taken out of its header and authenticated."""

import re
from typing import Final, TypeAlias

from mudra.http.auth.proof import presented_proof
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import AnyRequest, RequestContext, address_of
from mudra.http.response.http_refusals import NoAuthorization
from mudra.shared.entity_type import EntityType
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction
from mudra.tokens.authentication.bearer import (
    AdmittedEntity,
    BearerRefusal,
    EntityCaller,
    UserCaller,
)
from mudra.tokens.authentication.proof_guard import PresentedToken
from mudra.tokens.authentication.token_check import TokenVerification, VerifiedToken
from mudra.tokens.claims import TokenKind

_BARE_OR_BEARER: Final = re.compile(r"(?:bearer +)?(?P<token>[A-Za-z0-9_.~+/-]+=*)", re.IGNORECASE)
_DPOP: Final = re.compile(r"dpop +(?P<token>[A-Za-z0-9_.~+/-]+=*)", re.IGNORECASE)
_BEARER: Final = re.compile(r"bearer +(?P<token>[A-Za-z0-9_.~+/-]+=*)", re.IGNORECASE)

TokenRefusal: TypeAlias = NoAuthorization | BearerRefusal


def authorization_of(request: AnyRequest) -> str | None:
    """Return the one `Authorization` header; two could be read differently, so two are none."""
    sent = request.headers.getall("authorization", [])
    return sent[0] if len(sent) == 1 else None


def bearer_token(
    request: AnyRequest, *, scheme_needed: bool = True
) -> SecretText | NoAuthorization:
    """Return the token of the header; the word `Bearer` in any case."""
    pattern = _BEARER if scheme_needed else _BARE_OR_BEARER
    found = pattern.fullmatch((authorization_of(request) or "").strip())
    return SecretText(found["token"]) if found else NoAuthorization()


def presented_token(
    request: AnyRequest, dependencies: HttpDependencies
) -> PresentedToken | NoAuthorization:
    """Return the token of an entity's request, by the scheme Bearer or DPoP (RFC 9449 7.1)."""
    header = (authorization_of(request) or "").strip()
    found = _BEARER.fullmatch(header)
    if found:
        return PresentedToken(SecretText(found["token"]))
    found = _DPOP.fullmatch(header)
    if not found:
        return NoAuthorization()
    proof = presented_proof(request.scope, dependencies.settings)
    return PresentedToken(SecretText(found["token"]), is_dpop=True, proof=proof)


async def calling_entity(
    request: AnyRequest, dependencies: HttpDependencies, *of_types: EntityType
) -> EntityCaller | TokenRefusal:
    """Authenticate the entity that sent a request, of one of the types if any are named.

    Once for each request: the proof of a bound token is used up.
    """
    token = presented_token(request, dependencies)
    if isinstance(token, NoAuthorization):
        return token
    return await dependencies.bearer.authenticate_entity(token, *of_types)


async def admitted_entity(
    verified: VerifiedToken, context: RequestContext
) -> AdmittedEntity | TokenRefusal:
    """Authenticate the entity of a request's verified token; its proof is not used up yet."""
    token = presented_token(context.request, context.dependencies)
    if isinstance(token, NoAuthorization):
        return token
    return await context.dependencies.bearer.admit(token, verified)


async def is_still_admitted(
    request: AnyRequest, dependencies: HttpDependencies, *of_types: EntityType
) -> bool:
    """Return whether the token that began a long answer is still valid."""
    token = presented_token(request, dependencies)
    if isinstance(token, NoAuthorization):
        return False
    return isinstance(await dependencies.bearer.entity_of(token.text, *of_types), EntityCaller)


async def verified_token(context: RequestContext) -> TokenVerification | NoAuthorization:
    """Verify the token of an entity's or a user's request; only an entity's may be bound."""
    token = presented_token(context.request, context.dependencies)
    if isinstance(token, NoAuthorization):
        return token
    verified = await context.dependencies.bearer.verify(token.text)
    is_user = isinstance(verified, VerifiedToken) and verified.kind is TokenKind.USER
    return NoAuthorization() if is_user and token.is_dpop else verified


async def verified_bearer(
    context: RequestContext, *, scheme_needed: bool = True
) -> TokenVerification | NoAuthorization:
    """Verify the token of a request: what `calling_user` needs before a transaction is opened."""
    token = bearer_token(context.request, scheme_needed=scheme_needed)
    if isinstance(token, NoAuthorization):
        return token
    return await context.dependencies.bearer.verify(token)


async def calling_user(
    token: TokenVerification | NoAuthorization, context: RequestContext, tx: Transaction
) -> UserCaller | TokenRefusal:
    """Authenticate the user whose verified token a request holds."""
    if isinstance(token, NoAuthorization):
        return token
    return await context.dependencies.bearer.authenticate_user(
        tx, token, address_of(context.request, context.dependencies)
    )
