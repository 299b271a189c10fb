"""Checks whether a token is a valid Entity Access Token now: pure, the key is given."""

from datetime import UTC, datetime
from typing import Final

import msgspec
from joserfc.jwk import RSAKey
from joserfc.jws import JWSRegistry
from joserfc.util import urlsafe_b64decode

from mudra.client.entity_token import EntityToken, Role
from mudra.client.errors import (
    BadSignature,
    NotAnEntityToken,
    TokenExpired,
    TokenMalformed,
    TokenNotYetValid,
    WrongAudience,
    WrongIssuer,
)
from mudra.client.verification.compact import ALGORITHM, WAY_OUT, TokenParts, read_json, refuse
from mudra.shared.dpop_proof import bound_key

LEEWAY_SECONDS: Final = 60
_RS256: Final = JWSRegistry(algorithms=[ALGORITHM]).get_alg(ALGORITHM)
_LAST_INSTANT = 253_402_300_799  # the end of the year 9999
_ROLES = {role.value: role for role in Role}


class Expected(msgspec.Struct, frozen=True):
    """The required statements of a token; an empty `audience` accepts any `aud`."""

    issuer: str
    audience: str = ""


class _Claims(msgspec.Struct, frozen=True):
    """The claims that decide, with their types; others are ignored."""

    iss: str
    sub: str
    exp: int
    iat: int
    jti: str
    typ: str
    roles: str | list[str]
    nbf: int | None = None
    aud: str | list[str] = []
    scope: str = ""
    azp: str | None = None
    client_id: str | None = None
    clientId: str | None = None  # noqa: N815 -- the wire name
    entity_meta: object = None
    cnf: object = None


def check(parts: TokenParts, key: RSAKey, expected: Expected, now: float) -> EntityToken:
    """Return the content of a token that is valid at `now` (seconds); raises TokenRefused.

    The form and the header have passed, so joserfc need not read them a second time:
    its one algorithm for this header checks the signature over the bytes as received.
    """
    if not _RS256.verify(parts.signed.encode(), urlsafe_b64decode(parts.signature), key):
        raise BadSignature("the token was not signed by the key it names", WAY_OUT)
    claims = _read(parts.payload)
    _check_source(claims, expected)
    check_time(claims.exp, claims.nbf, claims.iat, now)
    return _entity(claims)


def check_time(exp: float, nbf: float | None, iat: float, now: float) -> None:
    """Refuse a token outside its time, with a tolerance of 60 seconds for clocks that differ."""
    if now - LEEWAY_SECONDS >= exp:
        raise TokenExpired(f"the token expired {now - exp:.0f} seconds ago", WAY_OUT)
    valid_from = max(iat, iat if nbf is None else nbf)
    if now + LEEWAY_SECONDS < valid_from:
        raise TokenNotYetValid(
            f"the token becomes valid in {valid_from - now:.0f} seconds",
            "compare this machine's clock with the token service's (NTP)",
        )


def _read(payload: str) -> _Claims:
    try:
        claims = msgspec.convert(read_json(payload, "content"), _Claims)
    except msgspec.ValidationError as error:
        raise TokenMalformed("a claim is missing or of another type", WAY_OUT) from error
    if not all(0 <= at <= _LAST_INSTANT for at in (claims.exp, claims.iat, claims.nbf or 0)):
        refuse("exp, nbf and iat must be seconds since the epoch")
    if not claims.jti or not claims.sub:
        refuse("jti and sub must not be empty")
    if claims.typ != "Bearer":
        refuse("the claim typ is not Bearer")
    return claims


def _check_source(claims: _Claims, expected: Expected) -> None:
    if claims.iss != expected.issuer:
        raise WrongIssuer(
            f"the token was not issued by {expected.issuer}",
            "give the verifier the base_url of the network's token service, exactly as in iss",
        )
    if expected.audience and expected.audience not in _audience(claims):
        raise WrongAudience(
            f"the token's aud does not name {expected.audience}",
            "the bearer must request a token for this audience, or leave audience out",
        )


def _entity(claims: _Claims) -> EntityToken:
    role = _ROLES.get(claims.roles) if isinstance(claims.roles, str) else None
    if role is None or claims.entity_meta is not None:
        raise NotAnEntityToken(
            "the token is not an Entity Access Token: its role is none of AA, FIP, FIU",
            "the bearer must present the token of its entity, not that of a person",
        )
    names = {name for name in (claims.azp, claims.client_id, claims.clientId) if name is not None}
    if len(names) != 1 or "" in names:
        refuse("azp, clientId and client_id do not name one entity")
    return EntityToken(
        entity_id=names.pop(),
        role=role,
        jti=claims.jti,
        issuer=claims.iss,
        subject=claims.sub,
        audience=_audience(claims),
        scope=tuple(claims.scope.split()),
        issued_at=datetime.fromtimestamp(claims.iat, UTC),
        expires_at=datetime.fromtimestamp(claims.exp, UTC),
        bound_to="" if claims.cnf is None else bound_key({"cnf": claims.cnf}),
    )


def _audience(claims: _Claims) -> tuple[str, ...]:
    return (claims.aud,) if isinstance(claims.aud, str) else tuple(claims.aud)
