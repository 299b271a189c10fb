"""The claims of an access token (RFC 9068 with the network's own names)."""

import enum
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.shared.entity_type import EntityType

ENTITY_TOKEN_LIFE: Final = timedelta(hours=24)  # spec 8
USER_TOKEN_LIFE: Final = timedelta(days=180)  # spec 8
ENTITY_SCOPE: Final = "entity"
_ADMIN: Final = "entity-admin"
MAX_ENTITY_META_BYTES: Final = 4096
"""In a token of 8,192 characters, with the longest names, addresses and signature."""
_BYTES_OF_A_ROLE: Final = len(f'"":["{_ADMIN}"],')
ENTITY_TOKEN_LIFE_S: Final = int(ENTITY_TOKEN_LIFE.total_seconds())
USER_TOKEN_LIFE_S: Final = int(USER_TOKEN_LIFE.total_seconds())

ClaimValue = str | int | dict[str, list[str]] | dict[str, str]
Claims = Mapping[str, ClaimValue]


class TokenKind(enum.StrEnum):
    """The kind of caller that the token is for; each kind has signing keys of its own."""

    ENTITY = "entity"
    USER = "user"

    @property
    def life(self) -> timedelta:
        """Return how long a token of this kind is valid."""
        return ENTITY_TOKEN_LIFE if self is TokenKind.ENTITY else USER_TOKEN_LIFE


class TokenTerms(Struct, frozen=True):
    """The terms that all tokens of this service have in common."""

    issuer: str
    entity_audience: str
    header_type: str = "JWT"


def entity_claims(  # each argument is one fact in the token
    terms: TokenTerms,
    *,
    entity_id: str,
    entity_type: EntityType,
    secret_expires_at: datetime,
    jti: str,
    issued_at: int,
) -> dict[str, ClaimValue]:
    """Claims of an Entity Access Token; `issued_at` in seconds since the epoch."""
    return {
        "iss": terms.issuer,
        "sub": entity_id,
        "aud": terms.entity_audience,
        "iat": issued_at,
        "nbf": issued_at,
        "exp": issued_at + ENTITY_TOKEN_LIFE_S,
        "jti": jti,
        "typ": "Bearer",
        "azp": entity_id,
        "clientId": entity_id,
        "client_id": entity_id,
        "roles": entity_type.value,
        "scope": ENTITY_SCOPE,
        "secret-expiry-ts": epoch_ms(secret_expires_at),
    }


def bound_claims(claims: Claims, thumbprint: str) -> dict[str, ClaimValue]:
    """Bind a token to the key of this thumbprint (RFC 9449 6.1, RFC 7800).

    `typ` stays Bearer: members that do not know bindings go on accepting the token.
    """
    return {**claims, "cnf": {"jkt": thumbprint}}


def user_claims(  # noqa: PLR0913  # each argument is one fact in the token
    terms: TokenTerms,
    *,
    user_id: str,
    email: str,
    name: str,
    roles: str,
    entity_ids: tuple[str, ...],
    jti: str,
    issued_at: int,
) -> dict[str, ClaimValue]:
    """Claims of a User Access Token, which only this service reads; times in seconds."""
    return {
        "iss": terms.issuer,
        "sub": user_id,
        "aud": terms.issuer,
        "iat": issued_at,
        "nbf": issued_at,
        "exp": issued_at + USER_TOKEN_LIFE_S,
        "jti": jti,
        "typ": "Bearer",
        "azp": user_id,
        "clientId": user_id,
        "client_id": user_id,
        "email": email,
        "name": name,
        "roles": roles,
        "scope": "user",
        "entity_meta": _entity_meta(entity_ids),
    }


def _entity_meta(entity_ids: Sequence[str]) -> dict[str, list[str]]:
    """List entities by ID, as many as leave the token short enough for a header.

    A right is read from the database at each call: an entity that is not listed is none the less
    the user's to act for.
    """
    left = MAX_ENTITY_META_BYTES
    listed: dict[str, list[str]] = {}
    for entity_id in sorted(entity_ids):
        left -= len(entity_id.encode()) + _BYTES_OF_A_ROLE
        if left < 0:
            break
        listed[entity_id] = [_ADMIN]
    return listed


def epoch_ms(at: datetime) -> int:
    """Return milliseconds since the epoch, exactly."""
    return int(at.timestamp()) * 1000 + at.microsecond // 1000
