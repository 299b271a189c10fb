"""Read a member's public key out of what people have: PEM, a certificate, a JWK or a set. Pure.

A certificate is read for its key alone: the registry publishes keys, and trusts no certificate.
"""

import base64
import binascii
import enum
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key, load_pem_public_key
from joserfc.jwk import RSAKey
from msgspec import Struct

from mudra.registry.payload.fields.certificate import PRIVATE_MEMBERS, Algorithm, Certificate
from mudra.registry.payload.inspection import holds_private_key, is_empty

MAX_TEXT: Final = 64 * 1024
"""Characters: a certificate with its whole chain has about 8,000."""
_PEM_CERTIFICATE: Final = "-----BEGIN CERTIFICATE-----"
_PEM: Final = "-----BEGIN "


class KeySource(enum.Enum):
    """The form that a key was read from."""

    JWK = "JWK"
    PUBLIC_KEY = "public key"
    CERTIFICATE = "certificate"


class ReadKey(Struct, frozen=True):
    """A key as an entry holds it, and what it was read from."""

    jwk: Certificate
    bits: int
    source: KeySource
    subject: str = ""
    """Of a certificate."""
    ends_at: datetime | None = None


class KeyUnread(enum.Enum):
    """The reason for which a text is not read as a key."""

    EMPTY = "empty"
    PRIVATE = "private"
    NOT_RSA = "not-rsa"
    SEVERAL = "several"
    UNKNOWN = "unknown"


def read_key(text: str) -> ReadKey | KeyUnread:
    """Return the key in a text, without its private parts: a private key is refused, never read.

    Binary files come as Base64. A key without a name gets its RFC 7638 thumbprint as `kid`.
    """
    text = text.strip()
    if not text:
        return KeyUnread.EMPTY
    if len(text) > MAX_TEXT:
        return KeyUnread.UNKNOWN
    if holds_private_key(text):
        return KeyUnread.PRIVATE
    if text.startswith("{"):
        return _of_json(text)
    try:
        return _of_pem(text) if _PEM in text else _of_der(base64.b64decode(text, validate=True))
    except UnsupportedAlgorithm:
        return KeyUnread.NOT_RSA
    except (ValueError, TypeError, binascii.Error, x509.InvalidVersion):
        return KeyUnread.UNKNOWN


def _of_pem(text: str) -> ReadKey | KeyUnread:
    text = text[text.index(_PEM) :]
    if text.startswith(_PEM_CERTIFICATE):
        return _of_certificate(x509.load_pem_x509_certificate(text.encode()))
    return _of_public_key(load_pem_public_key(text.encode()))


def _of_der(data: bytes) -> ReadKey | KeyUnread:
    try:
        certificate = x509.load_der_x509_certificate(data)
    except ValueError:
        return _of_public_key(load_der_public_key(data))
    return _of_certificate(certificate)


def _of_certificate(certificate: x509.Certificate) -> ReadKey | KeyUnread:
    key = certificate.public_key()
    if not isinstance(key, RSAPublicKey):
        return KeyUnread.NOT_RSA
    subject = certificate.subject.rfc4514_string()[:200]
    return _made(key, KeySource.CERTIFICATE, subject, certificate.not_valid_after_utc)


def _of_public_key(key: object) -> ReadKey | KeyUnread:
    if not isinstance(key, RSAPublicKey):
        return KeyUnread.NOT_RSA
    return _made(key, KeySource.PUBLIC_KEY)


def _of_json(text: str) -> ReadKey | KeyUnread:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return KeyUnread.UNKNOWN
    if isinstance(given.get("keys"), list):
        signing = [one for one in given["keys"] if isinstance(one, dict) and _may_sign(one)]
        if len(signing) != 1:
            return KeyUnread.SEVERAL if signing else KeyUnread.UNKNOWN
        given = signing[0]
    if any(not is_empty(given.get(name)) for name in PRIVATE_MEMBERS):
        return KeyUnread.PRIVATE
    if not any(given.get("kty") == kind for kind in ("RSA", None, "")):
        return KeyUnread.NOT_RSA
    try:
        key = RSAKey.import_key({"kty": "RSA", "n": _text(given, "n"), "e": _text(given, "e")})
        return _named(key, KeySource.JWK, given)
    except (ValueError, TypeError):
        return KeyUnread.UNKNOWN


def _may_sign(jwk: Mapping[str, object]) -> bool:
    return jwk.get("kty") == "RSA" and jwk.get("use", "sig") == "sig"


def _text(given: Mapping[str, object], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(name)
    return value


def _made(
    key: RSAPublicKey, source: KeySource, subject: str = "", ends_at: datetime | None = None
) -> ReadKey:
    return _named(RSAKey(key, key), source, {}, subject, ends_at)


def _named(
    key: RSAKey,
    source: KeySource,
    given: Mapping[str, object],
    subject: str = "",
    ends_at: datetime | None = None,
) -> ReadKey:
    parts = key.as_dict(private=False)
    jwk = Certificate(
        alg=_given(given, "alg") or Algorithm.RS256.value,
        kty="RSA",
        use="sig",
        kid=_given(given, "kid") or key.thumbprint(),
        e=str(parts["e"]),
        n=str(parts["n"]),
    )
    return ReadKey(jwk, key.public_key.key_size, source, subject, ends_at)


def _given(given: Mapping[str, object], name: str) -> str:
    """Return a text, empty without one; raises ValueError for half of a surrogate pair."""
    value = given.get(name)
    if not isinstance(value, str):
        return ""
    value.encode()
    return value
