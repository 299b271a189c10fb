"""RS256 with one key, its header encoded and its private part loaded once (decision 0014)."""

from binascii import b2a_base64
from typing import Final

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc import jws
from joserfc.jwk import RSAKey

from mudra.shared.secret_text import SecretText
from mudra.tokens.claims import Claims

_PADDING: Final = padding.PKCS1v15()  # RFC 7518 3.3
_HASH: Final = SHA256()
_TO_URL: Final = bytes.maketrans(b"+/", b"-_")


class TokenSigner:
    """Signs claims as compact JWTs with one RSA key. Only writes them; joserfc reads them."""

    def __init__(self, kid: str, pem: SecretText, header_type: str) -> None:
        # It was made here, and its encryption proves it unchanged: checking its primes costs 30 ms.
        key = serialization.load_pem_private_key(
            pem.reveal().encode(), None, unsafe_skip_rsa_key_validation=True
        )
        if not isinstance(key, rsa.RSAPrivateKey):
            raise TypeError(f"signing key {kid} must be an RSA key")
        self.kid = kid
        self._key = key
        self._jose = RSAKey(key, None)
        header = {"alg": "RS256", "kid": kid, "typ": header_type}
        self._head = _base64url(msgspec.json.encode(header)) + b"."
        self._encode = msgspec.json.Encoder().encode

    def sign(self, claims: Claims) -> str:
        """Return the signed token (RFC 7515 7.1); its cost is that of the RSA signature."""
        signed = self._head + _base64url(self._encode(claims))
        signature = self._key.sign(signed, _PADDING, _HASH)
        return (signed + b"." + _base64url(signature)).decode("ascii")

    def sign_detached(self, body: bytes) -> str:
        """Sign bytes as a detached JWS (RFC 7515 appendix F, RFC 7797 `b64: false`)."""
        header = {"alg": "RS256", "kid": self.kid, "b64": False, "crit": ["b64"]}
        # The body of a response is JSON: never URL-safe characters alone, so always detached.
        return jws.serialize_compact(header, body, self._jose)


def _base64url(raw: bytes) -> bytes:
    """RFC 7515 2: the URL-safe alphabet, no padding."""
    return b2a_base64(raw, newline=False).translate(_TO_URL, b"=")
