"""Verified tokens per CPU second of the client library ÷ bare RSA verification.

Goal: 0.3. "Bare" is cryptography's verify over the same bytes with the key loaded;
each token is another one, so that nothing is remembered. Best of five turns each,
taken by turns, since machines are shared.
"""

import json
import sys
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable

import httpx2
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc import jws, jwt
from joserfc.jwk import RSAKey

from bench.sizes import exit_code, sized
from mudra.client import TokenVerifier

ISSUER = "https://iam.example.org/iam"
NOW = 1_772_366_400
TOKENS = sized(1000, 50)
TURNS = sized(5, 1)
GOAL = 0.3


def main() -> int:
    """Print both figures and their ratio; 1 when the goal is missed."""
    key = RSAKey.generate_key(2048, {"kid": "key-1", "use": "sig", "alg": "RS256"})
    tokens = [_token(key, number) for number in range(TOKENS)]
    http = httpx2.Client(transport=httpx2.MockTransport(_issuer(key)))
    verifier = TokenVerifier(ISSUER, http=http, wall=lambda: float(NOW))
    verifier.verify(tokens[0])
    public = key.public_key
    parts = [_parts(token) for token in tokens]

    def bare() -> None:
        for message, signature in parts:
            public.verify(signature, message, PKCS1v15(), SHA256())

    def library() -> None:
        for token in tokens:
            verifier.verify(token)

    turns = [(_cpu(bare), _cpu(library)) for _ in range(TURNS)]
    bare_each = min(turn[0] for turn in turns) / TOKENS
    ours_each = min(turn[1] for turn in turns) / TOKENS
    ratio = bare_each / ours_each
    print(
        f"bare RSA verification      {bare_each * 1e6:8.1f} µs CPU, {1 / bare_each:8.0f} a second"
    )
    print(
        f"TokenVerifier.verify       {ours_each * 1e6:8.1f} µs CPU, {1 / ours_each:8.0f} a second"
    )
    print(f"ratio                      {ratio:8.2f} (goal {GOAL})")
    return exit_code(met=ratio >= GOAL)


def _issuer(key: RSAKey) -> Callable[[httpx2.Request], httpx2.Response]:
    """Answer with the keys, and with a signed list of a thousand other revoked tokens."""
    keys = json.dumps({"keys": [key.as_dict(private=False)]}).encode()
    fields = {
        "ver": "1.0.0", "issuer": ISSUER, "issuedAt": NOW, "validUntil": NOW + 60,
        "revoked": [f"revoked-{number}" for number in range(1000)], "notBefore": {},
    }  # fmt: skip
    revoked = json.dumps(fields).encode()
    header = {"alg": "RS256", "kid": "key-1", "b64": False, "crit": ["b64"]}
    signature = {"x-jws-signature": jws.serialize_compact(header, revoked, key)}

    def respond(request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/revocations"):
            return httpx2.Response(200, content=revoked, headers=signature)
        return httpx2.Response(200, content=keys)

    return respond


def _token(key: RSAKey, number: int) -> str:
    entity = f"MEMBER-{number}"
    claims = {
        "iss": ISSUER, "sub": entity, "aud": "aa-network", "iat": NOW, "nbf": NOW,
        "exp": NOW + 86400, "jti": f"jti-{number}", "typ": "Bearer", "azp": entity,
        "clientId": entity, "client_id": entity, "roles": "FIP", "scope": "network",
        "secret-expiry-ts": NOW + 15_552_000,
    }  # fmt: skip
    return jwt.encode({"alg": "RS256", "typ": "JWT", "kid": "key-1"}, claims, key)


def _parts(token: str) -> tuple[bytes, bytes]:
    message, _, signature = token.rpartition(".")
    return message.encode(), urlsafe_b64decode(signature + "==")


def _cpu(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    sys.exit(main())
