"""Who calls: the token in `Authorization`, taken out of its header and authenticated."""

import re
from typing import Final, TypeAlias

from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import AnyRequest, RequestContext, address_of
from mudra.http.response.http_refusals import NoAuthorization
from mudra.shared.entity_type import EntityType
from mudra.shared.secret_text import SecretText
from mudra.tokens.authentication.bearer import BearerRefusal, EntityCaller, UserCaller
from mudra.tokens.authentication.token_check import TokenVerification
from mudra.unit_of_work import UnitOfWork

_BARE_OR_BEARER: Final = re.compile(r"(?:bearer +)?(?P<token>[A-Za-z0-9_.~+/-]+=*)", re.IGNORECASE)
_BEARER: Final = re.compile(r"bearer +(?P<token>[A-Za-z0-9_.~+/-]+=*)", re.IGNORECASE)

TokenRefusal: TypeAlias = NoAuthorization | BearerRefusal


def authorization_of(request: AnyRequest) -> str | None:
    """Return the one `Authorization` header; two could be read differently, so two are none."""
    sent = request.headers.getall("authorization", [])
    return sent[0] if len(sent) == 1 else None


def bearer_token(
    request: AnyRequest, *, scheme_needed: bool = True
) -> SecretText | NoAuthorization:
    """Return the token of the header; the word `Bearer` in any case (decisions 3)."""
    pattern = _BEARER if scheme_needed else _BARE_OR_BEARER
    found = pattern.fullmatch((authorization_of(request) or "").strip())
    return SecretText(found["token"]) if found else NoAuthorization()


async def calling_entity(
    request: AnyRequest, dependencies: HttpDependencies, *of_types: EntityType
) -> EntityCaller | TokenRefusal:
    """Authenticate the entity that sent a request, of one of the types if any are named."""
    token = bearer_token(request)
    if isinstance(token, NoAuthorization):
        return token
    return await dependencies.bearer.authenticate_entity(token, *of_types)


async def verified_bearer(
    context: RequestContext, *, scheme_needed: bool = True
) -> TokenVerification | NoAuthorization:
    """Verify the token of a request: what `calling_user` needs before a transaction is opened."""
    token = bearer_token(context.request, scheme_needed=scheme_needed)
    if isinstance(token, NoAuthorization):
        return token
    return await context.dependencies.bearer.verify(token)


async def calling_user(
    token: TokenVerification | NoAuthorization, context: RequestContext, work: UnitOfWork
) -> UserCaller | TokenRefusal:
    """Authenticate the user whose verified token a request holds."""
    if isinstance(token, NoAuthorization):
        return token
    return await context.dependencies.bearer.authenticate_user(
        token,
        address_of(context.request, context.dependencies),
        tokens=work.tokens,
        people=work.people,
        memberships=work.memberships,
    )
