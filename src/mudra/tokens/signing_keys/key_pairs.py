"""New RSA key pairs: implements tokens/ports.py NewKey."""

import asyncio
import secrets
from collections.abc import Callable
from datetime import datetime

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from joserfc.jwk import RSAKey
from msgspec import Struct

from mudra.shared.secret_text import SecretText
from mudra.tokens.claims import TokenKind
from mudra.tokens.ports import KeyMaterial


class KeyPairs(Struct, frozen=True):
    """Makes key pairs of `bits` in a thread: each takes tens of milliseconds to a second."""

    bits: int
    clock: Callable[[], datetime]

    async def new(self, kind: TokenKind) -> KeyMaterial:
        """Make a key pair. Its ID begins with the day, so that people see a key's age."""
        kid = f"{self.clock():%Y%m%d}-{secrets.token_hex(6)}"
        return await asyncio.to_thread(_new_key_pair, kind, self.bits, kid)


def _new_key_pair(kind: TokenKind, bits: int, kid: str) -> KeyMaterial:
    private = rsa.generate_private_key(public_exponent=65537, key_size=bits)
    pem = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    # Of the public half alone: to read the private one back checks its primes, for half the time.
    numbers = RSAKey.import_key(
        private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    ).as_dict(private=False)
    public_jwk = {
        "kty": "RSA",
        "use": "sig",
        "alg": "RS256",
        "kid": kid,
        "n": str(numbers["n"]),
        "e": str(numbers["e"]),
    }
    return KeyMaterial(kid, kind, public_jwk, SecretText(pem))
