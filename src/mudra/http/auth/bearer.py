"""Who calls: the token in `Authorization`, checked and turned into a caller.

Rights are read from the database at each call, never from the token, so that a
change of rights takes effect at once (quality X3).
"""

import re
from typing import Final

from msgspec import Struct

from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import AnyRequest, RequestContext, address_of
from mudra.http.response.http_refusals import NoAuthorization
from mudra.identity.accounts.user import User, UserState
from mudra.shared.secret_text import SecretText
from mudra.tokens.authentication.token_check import (
    TokenExpired,
    TokenFacts,
    TokenInvalid,
    TokenRevoked,
    examine,
)
from mudra.tokens.issuing.claims import TokenKind
from mudra.unit_of_work import UnitOfWork

_BARE_OR_BEARER: Final = re.compile(r"(?:bearer +)?(?P<token>[A-Za-z0-9_.~+/-]+=*)", re.IGNORECASE)
_BEARER: Final = re.compile(r"bearer +(?P<token>[A-Za-z0-9_.~+/-]+=*)", re.IGNORECASE)

TokenRefusal = NoAuthorization | TokenInvalid | TokenExpired | TokenRevoked


class SignedInUser(Struct, frozen=True):
    """The user behind a valid User Access Token."""

    user: User
    facts: TokenFacts


def authorization_of(request: AnyRequest) -> str | None:
    """Give the one `Authorization` header; two could be read differently, so two are none."""
    sent = request.headers.getall("authorization", [])
    return sent[0] if len(sent) == 1 else None


def token_in(header: str | None, *, scheme_needed: bool) -> SecretText | NoAuthorization:
    """Take the token out of the header; the word `Bearer` in any case (decisions 3)."""
    pattern = _BEARER if scheme_needed else _BARE_OR_BEARER
    found = pattern.fullmatch((header or "").strip())
    return SecretText(found["token"]) if found else NoAuthorization()


async def signed_in_user(
    header: str | None,
    service: HttpDependencies,
    work: UnitOfWork,
    *,
    scheme_needed: bool,
    address: str = "",
) -> SignedInUser | TokenRefusal:
    """Find the user whose token the header holds; `address` is kept as that of its last use."""
    token = token_in(header, scheme_needed=scheme_needed)
    if isinstance(token, NoAuthorization):
        return token
    await service.signer.ready()
    facts = examine(token.reveal(), service.terms, service.signer.find_key, service.clock())
    if not isinstance(facts, TokenFacts):
        return facts
    if service.clock() >= facts.expires_at:  # our own clock needs no leeway
        return TokenExpired(facts.expires_at)
    if facts.kind is not TokenKind.USER:
        return TokenInvalid()
    record = await work.tokens.user_token(facts.jti)
    if record is None or record.user_id != facts.subject:
        return TokenInvalid()
    if record.revoked_at is not None:
        return TokenRevoked()
    user = await work.people.by_id(facts.subject)
    if user is None or user.state is not UserState.ACTIVE:
        return TokenInvalid()
    await work.memberships.token_used(facts.jti, address)
    return SignedInUser(user, facts)


async def calling_user(
    context: RequestContext, work: UnitOfWork, *, scheme_needed: bool = True
) -> SignedInUser | TokenRefusal:
    """Find the user who sent the request of an exchange."""
    request, service = context.request, context.service
    return await signed_in_user(
        authorization_of(request),
        service,
        work,
        scheme_needed=scheme_needed,
        address=address_of(request, service),
    )
