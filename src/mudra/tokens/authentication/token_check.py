"""Verify a token that this service issued: signature, claims and times.

RFC 8725: fixed algorithms, keys from our own set only, every claim checked.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import GuestProtocol, RSAKey
from msgspec import Struct

from mudra.shared.refusal import ErrorCode, Refusal, RefusalKind
from mudra.shared.time_text import iso_ms
from mudra.tokens.claims import TokenKind, TokenTerms
from mudra.tokens.migration.foreign_claims import imported_entity

ALGORITHMS: Final = ["RS256"]
LEEWAY_S: Final = 60
MAX_TOKEN_LENGTH: Final = 8192


class TokenInvalid(Refusal, frozen=True):
    """Not a token of ours, altered, for another purpose, or not yet valid."""

    kind = RefusalKind.UNAUTHORIZED
    sentence = "the token in Authorization is not valid here"


class TokenOfOtherKind(Refusal, frozen=True):
    """A token of ours for other calls, which only its holder learns."""

    kind = RefusalKind.UNAUTHORIZED
    takes: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"the token in Authorization is of another kind: this call takes {self.takes}"


class TokenExpired(Refusal, frozen=True):
    """A token of ours that has expired."""

    kind = RefusalKind.UNAUTHORIZED
    code = ErrorCode.TOKEN_EXPIRED
    expired_at: datetime

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return (
            f"the token in Authorization expired at {iso_ms(self.expired_at)}; generate a new one"
        )


class TokenRevoked(Refusal, frozen=True):
    """A token of ours that was revoked before it expired."""

    kind = RefusalKind.UNAUTHORIZED
    code = ErrorCode.TOKEN_REVOKED
    sentence = "the token in Authorization was revoked; generate a new one"


class VerifiedToken(Struct, frozen=True):
    """A genuine token that has not expired. Whether it was revoked is a question to storage."""

    kind: TokenKind
    subject: str
    jti: str
    issued_at: datetime
    expires_at: datetime
    claims: Mapping[str, object]
    kid: str
    """The key that signed it."""


TokenVerification = VerifiedToken | TokenInvalid | TokenExpired

FindKey = Callable[[str], tuple[TokenKind, RSAKey] | None]
"""Returns the published key of a `kid`, with the kind of token that it may sign."""


def verify_token(
    token: str,
    terms: TokenTerms,
    find_key: FindKey,
    now: datetime,
    issuer_of: Callable[[str], str] = lambda _: "",
) -> TokenVerification:
    """Verify a compact JWT against our own keys and terms, with 60 s of leeway.

    `issuer_of` names the other issuer of an imported key: its tokens have that issuer's terms.
    """
    if not token or len(token) > MAX_TOKEN_LENGTH or not token.isascii():
        return TokenInvalid()
    found: list[tuple[TokenKind, str]] = []

    def key_of(obj: GuestProtocol) -> RSAKey:
        kid = obj.headers().get("kid")
        entry = find_key(kid) if isinstance(kid, str) else None
        if entry is None or obj.headers().get("typ") not in {"JWT", "at+jwt"}:
            raise JoseError
        found.append((entry[0], str(kid)))
        return entry[1]

    try:
        decoded = jwt.decode(token, key_of, algorithms=ALGORITHMS)
    except (JoseError, ValueError, TypeError, RecursionError):
        return TokenInvalid()
    kind, kid = found[0]
    issuer = issuer_of(kid)
    subject = (
        imported_entity(decoded.claims, issuer) if issuer else _subject(decoded.claims, kind, terms)
    )
    return _checked_times(decoded.claims, subject, kind, kid, now)


def _subject(claims: Mapping[str, object], kind: TokenKind, terms: TokenTerms) -> str:
    """Return whose token of our own it is; empty where its claims are not those of one."""
    audience = terms.entity_audience if kind is TokenKind.ENTITY else terms.issuer
    subject = claims.get("sub")
    if (
        "nbf" not in claims
        or claims.get("iss") != terms.issuer
        or claims.get("aud") != audience
        or claims.get("typ") != "Bearer"
        or not isinstance(subject, str)
    ):
        return ""
    return subject


def _checked_times(
    claims: Mapping[str, object], subject: str, kind: TokenKind, kid: str, now: datetime
) -> TokenVerification:
    jti = claims.get("jti")
    # Keycloak writes no `nbf`: there a token is valid from its issue.
    times = [claims.get("iat"), claims.get("nbf", claims.get("iat")), claims.get("exp")]
    if not subject or not isinstance(jti, str):
        return TokenInvalid()
    whole = [at for at in times if isinstance(at, int) and not isinstance(at, bool)]
    if len(whole) != len(times):
        return TokenInvalid()
    issued_at, not_before, expires_at = (datetime.fromtimestamp(at, UTC) for at in whole)
    leeway = timedelta(seconds=LEEWAY_S)
    if max(issued_at, not_before) > now + leeway:
        return TokenInvalid()
    if now >= expires_at + leeway:
        return TokenExpired(expires_at)
    return VerifiedToken(kind, subject, jti, issued_at, expires_at, claims, kid)
