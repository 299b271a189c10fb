"""Library for members' own programs: get an Entity Access Token, verify another's.

    from mudra.client import EntityTokenSource, TokenVerifier

    tokens = EntityTokenSource(
        "https://iam.example.org/iam", "HDFC-FIP", lambda: Path("secret").read_text().strip()
    )
    httpx.get(address, headers={"Authorization": tokens.authorization()})

    verifier = TokenVerifier("https://iam.example.org/iam")
    caller = verifier.verify(received)     # EntityToken(entity_id="ACME-FIU", role=Role.FIU, ...)

Both have an `Async...` twin with the same names. Every error is a `MudraClientError`
that says what is wrong and what to do. Never imports a package of the service.
"""

from mudra.client.async_token_source import AsyncEntityTokenSource
from mudra.client.async_verifier import AsyncTokenVerifier
from mudra.client.entity_token import EntityToken, Role
from mudra.client.errors import (
    BadSignature,
    KeysUnavailable,
    MudraClientError,
    NotAnEntityToken,
    SecretRefused,
    SecretUnreadable,
    ServiceUnavailable,
    TokenExpired,
    TokenMalformed,
    TokenNotYetValid,
    TokenRefused,
    TooManyRequests,
    UnexpectedResponse,
    UnknownKey,
    WrongAudience,
    WrongIssuer,
)
from mudra.client.grant import GraceWarning
from mudra.client.token_source import EntityTokenSource
from mudra.client.verifier import TokenVerifier

__all__ = [
    "AsyncEntityTokenSource",
    "AsyncTokenVerifier",
    "BadSignature",
    "EntityToken",
    "EntityTokenSource",
    "GraceWarning",
    "KeysUnavailable",
    "MudraClientError",
    "NotAnEntityToken",
    "Role",
    "SecretRefused",
    "SecretUnreadable",
    "ServiceUnavailable",
    "TokenExpired",
    "TokenMalformed",
    "TokenNotYetValid",
    "TokenRefused",
    "TokenVerifier",
    "TooManyRequests",
    "UnexpectedResponse",
    "UnknownKey",
    "WrongAudience",
    "WrongIssuer",
]
