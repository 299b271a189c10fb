"""The caller by token: the token in `Authorization`, taken out of its header and authenticated."""

import re
from typing import Final, TypeAlias

from litestar.types import HTTPScope, Scope

from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import AnyRequest, RequestContext, address_of
from mudra.http.response.http_refusals import NoAuthorization, TooManyCalls
from mudra.http.server.methods import SENT_METHOD
from mudra.server_protocol.body_reader import Headers
from mudra.settings.settings import Settings
from mudra.shared.dpop_proof import PresentedProof, urls_of
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

_PROOF: Final = b"dpop"


def has_proof(headers: Headers) -> bool:
    """Return whether a request holds a proof, or more than one."""
    for name, _ in headers:  # noqa: SIM110  # on the hot path: a generator costs twice as much
        if name == _PROOF:
            return True
    return False


def presented_proof(scope: Scope | HTTPScope, settings: Settings) -> PresentedProof:
    """Return the values of the header, and what their `htm` and `htu` must be."""
    values = tuple(value.decode("latin-1") for name, value in scope["headers"] if name == _PROOF)
    method = str(scope.get(SENT_METHOD) or scope.get("method", ""))
    urls = urls_of(settings.public_origins, scope["raw_path"].decode("latin-1"))
    return PresentedProof(values, method, urls)


_BARE_OR_BEARER: Final = re.compile(r"(?:bearer +)?(?P<token>[A-Za-z0-9_.~+/-]+=*)", re.IGNORECASE)
_DPOP: Final = re.compile(r"dpop +(?P<token>[A-Za-z0-9_.~+/-]+=*)", re.IGNORECASE)
_BEARER: Final = re.compile(r"bearer +(?P<token>[A-Za-z0-9_.~+/-]+=*)", re.IGNORECASE)

TokenRefusal: TypeAlias = NoAuthorization | BearerRefusal | TooManyCalls


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
) -> TokenVerification | NoAuthorization | TooManyCalls:
    """Verify the token of a request: what `calling_user` needs before a transaction is opened.

    The calls of a user are counted here, whichever of their tokens they come with.
    """
    token = bearer_token(context.request, scheme_needed=scheme_needed)
    if isinstance(token, NoAuthorization):
        return token
    verified = await context.dependencies.bearer.verify(token)
    if not isinstance(verified, VerifiedToken):
        return verified
    wait_s = context.dependencies.user_rate.wait_s(verified.subject)
    return TooManyCalls(wait_s) if wait_s else verified


async def calling_user(
    token: TokenVerification | NoAuthorization | TooManyCalls,
    context: RequestContext,
    tx: Transaction,
) -> UserCaller | TokenRefusal:
    """Authenticate the user whose verified token a request holds."""
    if isinstance(token, NoAuthorization | TooManyCalls):
        return token
    return await context.dependencies.bearer.authenticate_user(
        tx, token, address_of(context.request, context.dependencies)
    )
