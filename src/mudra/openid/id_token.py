"""Verifies ID tokens by joserfc (OpenID Connect Core 3.1.3.7)."""

import hmac
from collections.abc import Mapping
from typing import Final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from msgspec import Struct

ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
"""Signatures by public keys alone: neither `none` nor a MAC with the client's secret."""
LEEWAY_S: Final = 60
MAX_LENGTH: Final = 16 * 1024
MAX_AGE_S: Final = 600
"""An ID token that is redeemed at once is no older."""


class ExpectedToken(Struct, frozen=True):
    """The claims that an ID token must have."""

    issuer: str
    client_id: str
    nonce: str


class TokenNotAccepted(Exception):
    """The text is a word for the audit log, nothing of the token."""


def verify(token: str, keys: KeySet, expected: ExpectedToken, now: int) -> Mapping[str, object]:
    """Return the claims of an ID token; raises TokenNotAccepted. `now` is in seconds."""
    if len(token) > MAX_LENGTH:
        raise TokenNotAccepted("token-too-long")
    registry = jwt.JWTClaimsRegistry(
        now=now,
        leeway=LEEWAY_S,
        iss={"essential": True, "value": expected.issuer},
        aud={"essential": True, "value": expected.client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    try:
        claims = jwt.decode(token, keys, algorithms=ALGORITHMS).claims
        registry.validate(claims)
    except (JoseError, ValueError, TypeError) as error:
        raise TokenNotAccepted(type(error).__name__) from error
    if claims["iat"] < now - MAX_AGE_S - LEEWAY_S:
        raise TokenNotAccepted("token-too-old")
    nonce, audience = claims.get("nonce"), claims["aud"]
    if not isinstance(nonce, str) or not hmac.compare_digest(
        nonce.encode(), expected.nonce.encode()
    ):
        raise TokenNotAccepted("wrong-nonce")
    # A token for several audiences says for which client it was made (step 4 and 5).
    several = isinstance(audience, list) and len(audience) > 1
    if (several or "azp" in claims) and claims.get("azp") != expected.client_id:
        raise TokenNotAccepted("wrong-azp")
    return claims
