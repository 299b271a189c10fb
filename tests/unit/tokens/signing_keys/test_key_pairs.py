"""A new key pair: what is published is the public half of what signs, and no two are the same."""

import asyncio
import base64
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from tests.support import cheap_keys

from mudra.tokens.claims import TokenKind
from mudra.tokens.signing_keys import key_pairs


def published_and_signing() -> tuple[int, int]:
    """The modulus that a new pair publishes, and that of its private key, whose primes are checked."""
    pairs = key_pairs.KeyPairs(2048, lambda: datetime(2026, 11, 23, tzinfo=UTC))
    made = asyncio.run(pairs.new(TokenKind.ENTITY))
    private = load_pem_private_key(made.private_pem.reveal().encode(), None)
    assert isinstance(private, RSAPrivateKey)
    assert (private.key_size, made.public_jwk["e"]) == (2048, "AQAB")
    n = made.public_jwk["n"]
    return (
        int.from_bytes(base64.urlsafe_b64decode(n + "=" * (-len(n) % 4))),
        private.private_numbers().public_numbers.n,
    )


def test_the_published_key_is_that_of_the_private_one(monkeypatch):
    monkeypatch.setattr(key_pairs, "rsa", rsa)  # as services make them, not as those of tests do

    published, signing = published_and_signing()

    assert published == signing


def test_services_of_tests_have_valid_keys_of_their_own(monkeypatch):
    monkeypatch.setattr(key_pairs, "rsa", key_pairs.rsa)
    cheap_keys.install(3)  # of which three pairs can be made

    made = [published_and_signing() for _ in range(4)]

    assert all(published == signing for published, signing in made)
    assert len(set(made)) == 4
