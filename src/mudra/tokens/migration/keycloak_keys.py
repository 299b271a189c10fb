"""The signing keys of a Keycloak realm: the public half of each, from its certificate."""

import base64
import binascii
from hashlib import sha256
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from msgspec import Struct, field

MIN_BITS: Final = 2048
_RSA_PROVIDERS: Final = frozenset({"rsa-generated", "rsa", "java-keystore"})


class Component(Struct, rename="camel"):
    """A provider of keys, as an export has it."""

    name: str = ""
    provider_id: str = ""
    config: dict[str, list[str]] = field(default_factory=dict)

    def first(self, name: str, default: str = "") -> str:
        """Return the one value of a setting."""
        return next(iter(self.config.get(name, ())), default)


class ExportedKey(Struct, frozen=True):
    """The public half of a key that signs, by the ID that Keycloak gives it."""

    kid: str
    public_jwk: dict[str, str]


def signing_key(component: Component) -> ExportedKey | str:
    """Return the public half of a key that signs by RS256, or why there is none."""
    if component.provider_id not in _RSA_PROVIDERS or component.first("keyUse", "SIG") not in {
        *("SIG", "sig")
    }:
        return "no RSA key that signs"
    if component.first("enabled", "true") != "true":
        return "disabled"
    if component.first("algorithm", "RS256") != "RS256":
        return "signs otherwise than RS256"
    try:
        der = base64.b64decode("".join(component.first("certificate").split()), validate=True)
        public = x509.load_der_x509_certificate(der).public_key()
    except (binascii.Error, ValueError):
        return "has no certificate that can be read"
    if not isinstance(public, RSAPublicKey) or public.key_size < MIN_BITS:
        return f"is no RSA key of {MIN_BITS} bits or more"
    return ExportedKey(key_id(public), _jwk(public))


def key_id(public: RSAPublicKey) -> str:
    """Return the `kid` that Keycloak gives: SHA-256 of the key's SubjectPublicKeyInfo."""
    return _base64url(
        sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    )


def _jwk(public: RSAPublicKey) -> dict[str, str]:
    numbers = public.public_numbers()
    return {
        "kty": "RSA",
        "use": "sig",
        "alg": "RS256",
        "kid": key_id(public),
        "n": _number(numbers.n),
        "e": _number(numbers.e),
    }


def _number(value: int) -> str:
    return _base64url(value.to_bytes((value.bit_length() + 7) // 8))


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
