"""Library for members' own programs: get an Entity Access Token, verify another's.

    from mudra.client import EntityTokenSource, TokenVerifier

    tokens = EntityTokenSource(
        "https://iam.example.org/iam", "HDFC-FIP", lambda: Path("secret").read_text().strip()
    )
    httpx2.get(address, headers={"Authorization": tokens.authorization()})

    verifier = TokenVerifier(
        "https://iam.example.org/iam", audience="account-aggregator-network"
    )
    caller = verifier.verify(received)     # EntityToken(entity_id="ACME-FIU", role=Role.FIU, ...)

    directory = Directory("https://registry.example.org/cr/v2", tokens, verifier, file=Path("copy"))
    peer = directory.entry("ACME-FIP")     # base_url, certificate, payload
    signer = BodySigner(Path("signing-key.pem").read_bytes(), kid="our-key-1")
    client = httpx2.Client(auth=EntityTokenAuth(tokens, header="aa_api_key", signer=signer))
    directory.check_body("ACME-FIP", body, headers["x-jws-signature"])

`mudra.client.web.asgi` and `.wsgi` have middleware that checks the token of each caller.
All have an `Async...` twin with the same names, but BodySigner. Every error is a `MudraClientError`
that says what is wrong and what to do. Never imports a package of the service.
"""

from mudra.client.directory.copy import DirectoryEntry
from mudra.client.directory.directory import AsyncDirectory, Directory
from mudra.client.dpop.key import DpopKey
from mudra.client.dpop.proof_memory import ProofMemory, ProofUse
from mudra.client.entity_token import EntityToken, Role
from mudra.client.errors import (
    BadSignature,
    DirectoryUnavailable,
    KeysUnavailable,
    MudraClientError,
    NotAnEntityToken,
    ProofRefused,
    RetryableError,
    RevocationsUnavailable,
    SecretRefused,
    SecretUnreadable,
    ServiceUnavailable,
    SignatureRefused,
    TokenExpired,
    TokenMalformed,
    TokenMissing,
    TokenNotYetValid,
    TokenRefused,
    TokenRevoked,
    TooManyProofs,
    TooManyRequests,
    UnexpectedResponse,
    UnknownKey,
    WrongAudience,
    WrongIssuer,
)
from mudra.client.grant import GraceWarning
from mudra.client.signing.body_signature import SIGNATURE_HEADER, BodySigner, RegisteredKey
from mudra.client.signing.key_proof import KeyProof, KeyProofRefused
from mudra.client.token_source import AsyncEntityTokenSource, EntityTokenSource
from mudra.client.verifier import AsyncTokenVerifier, TokenVerifier
from mudra.client.web.httpx2_auth import AsyncEntityTokenAuth, EntityTokenAuth
from mudra.client.web.requests_auth import RequestsTokenAuth
from mudra.client.web.token_headers import TOKEN_HEADERS
from mudra.shared.dpop_proof import PresentedProof

__all__ = [
    "SIGNATURE_HEADER",
    "TOKEN_HEADERS",
    "AsyncDirectory",
    "AsyncEntityTokenAuth",
    "AsyncEntityTokenSource",
    "AsyncTokenVerifier",
    "BadSignature",
    "BodySigner",
    "Directory",
    "DirectoryEntry",
    "DirectoryUnavailable",
    "DpopKey",
    "EntityToken",
    "EntityTokenAuth",
    "EntityTokenSource",
    "GraceWarning",
    "KeyProof",
    "KeyProofRefused",
    "KeysUnavailable",
    "MudraClientError",
    "NotAnEntityToken",
    "PresentedProof",
    "ProofMemory",
    "ProofRefused",
    "ProofUse",
    "RegisteredKey",
    "RequestsTokenAuth",
    "RetryableError",
    "RevocationsUnavailable",
    "Role",
    "SecretRefused",
    "SecretUnreadable",
    "ServiceUnavailable",
    "SignatureRefused",
    "TokenExpired",
    "TokenMalformed",
    "TokenMissing",
    "TokenNotYetValid",
    "TokenRefused",
    "TokenRevoked",
    "TokenVerifier",
    "TooManyProofs",
    "TooManyRequests",
    "UnexpectedResponse",
    "UnknownKey",
    "WrongAudience",
    "WrongIssuer",
]
