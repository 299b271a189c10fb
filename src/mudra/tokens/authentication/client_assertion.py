"""Check a client assertion: a JWT that an entity signs with its registered key (RFC 7523 3).

Pure: the key and the time come in. What is wrong with the form is said; an unknown entity, a wrong
key and a wrong signature look alike.
"""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey
from msgspec import Struct

from mudra.shared.refusal import Refusal, RefusalKind

MAX_LIFE: Final = timedelta(minutes=5)
LEEWAY: Final = timedelta(seconds=60)
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
MAX_ASSERTION_LENGTH: Final = 4096
_MAX_ID: Final = 64
_MAX_JTI: Final = 128
_LAST_INSTANT: Final = 253_402_300_799


class AssertionInvalid(Refusal, frozen=True):
    """The assertion is not accepted; `problem` names the claim when its form is wrong."""

    kind = RefusalKind.UNAUTHORIZED
    problem: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"client_assertion: {self.problem}"


UNKNOWN: Final = AssertionInvalid(
    "no active entity has a live key that signed it, or it was used before"
)


class ClientAssertion(Struct, frozen=True):
    """An assertion of the right form, whose signature is not checked yet."""

    text: str
    entity_id: str
    jti: str
    expires_at: datetime


class _Claims(Struct, frozen=True):
    iss: str
    sub: str
    aud: str | list[str]
    exp: int
    jti: str
    nbf: int | None = None
    iat: int | None = None


def read_assertion(
    text: str, audiences: Collection[str], now: datetime
) -> ClientAssertion | AssertionInvalid:
    """Check everything that does not depend on who sent it."""
    if not text or len(text) > MAX_ASSERTION_LENGTH or not text.isascii():
        return AssertionInvalid(f"it must be a JWT of up to {MAX_ASSERTION_LENGTH} characters")
    try:
        payload = jws.extract_compact(text.encode()).payload
        claims = msgspec.json.decode(payload, type=_Claims)
    except (JoseError, ValueError, TypeError, RecursionError):
        return AssertionInvalid("it must be a signed JWT with iss, sub, aud, exp and jti")
    problem = _problem(claims, audiences, now)
    if problem:
        return AssertionInvalid(problem)
    return ClientAssertion(text, claims.sub, claims.jti, datetime.fromtimestamp(claims.exp, UTC))


def is_signed_by(assertion: ClientAssertion, jwk: Mapping[str, str] | None) -> bool:
    """Return whether the registered key signed it, with the algorithm that the key names."""
    if jwk is None or jwk.get("alg") not in ALGORITHMS:
        return False
    try:
        key = RSAKey.import_key({name: jwk[name] for name in ("kty", "n", "e")})
        decoded = jwt.decode(assertion.text, key, algorithms=[jwk["alg"]])
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        return False
    return bool(decoded.header.get("kid", jwk["kid"]) == jwk["kid"])


def _problem(claims: _Claims, audiences: Collection[str], now: datetime) -> str:
    # One alone: a member that signs for two servers would let the other one use it here.
    named = claims.aud if isinstance(claims.aud, str) else "".join(claims.aud[:1])
    is_alone = isinstance(claims.aud, str) or len(claims.aud) == 1
    times = [at for at in (claims.exp, claims.nbf, claims.iat) if at is not None]
    # What is counted and kept by entity is so before its signature is checked.
    if not 0 < len(claims.sub) <= _MAX_ID or claims.iss != claims.sub:
        return "iss and sub must both be the entity ID"
    if not is_alone or named not in audiences:
        return f"aud must name this service alone: {' or '.join(sorted(audiences))}"
    if not 0 < len(claims.jti) <= _MAX_JTI or not claims.jti.isprintable():
        return f"jti must have 1 to {_MAX_JTI} characters"
    if not all(0 <= at <= _LAST_INSTANT for at in times):
        return "exp, nbf and iat must be seconds since the epoch"
    expires_at, *starts = (datetime.fromtimestamp(at, UTC) for at in times)
    if now - LEEWAY >= expires_at:
        return "exp: it has expired"
    if expires_at > now + MAX_LIFE + LEEWAY:
        return f"exp must be at most {int(MAX_LIFE.total_seconds())} seconds ahead"
    return "nbf or iat is in the future" if any(at > now + LEEWAY for at in starts) else ""
