"""A token taken apart without being verified, and tokens that no one may accept."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Final

import msgspec
from joserfc import jwt
from joserfc.jwk import RSAKey
from msgspec import Struct

from mudra.shared.secret_text import SecretText
from mudra.shared.text.undecodable import UNDECODABLE

_PARTS: Final = 3


class Jwt(Struct, frozen=True):
    """Header and claims; both empty where the text is no JWT."""

    header: Mapping[str, object]
    claims: Mapping[str, object]
    signature: bytes = b""
    message: bytes = b""


def read_jwt(token: SecretText) -> Jwt:
    """Take a JWT apart."""
    parts = token.reveal().split(".")
    if len(parts) != _PARTS:
        return Jwt({}, {})
    header, claims, signature = (from_base64(part) for part in parts)
    return Jwt(_json_object(header), _json_object(claims), signature, ".".join(parts[:2]).encode())


def unsigned(token: SecretText) -> SecretText:
    """Return the token with `alg: none` and no signature."""
    header = {**read_jwt(token).header, "alg": "none"}
    return SecretText(".".join((_json_part(header), token.reveal().split(".")[1], "")))


def with_claims(token: SecretText, **claims: object) -> SecretText:
    """Return the token with other claims under the signature that it has."""
    header, _, signature = token.reveal().split(".")
    changed = {**read_jwt(token).claims, **claims}
    return SecretText(".".join((header, _json_part(changed), signature)))


def with_signature(token: SecretText, signature: str) -> SecretText:
    """Return the token with other octets in place of its signature."""
    return SecretText(".".join((*token.reveal().split(".")[:2], signature)))


def by_foreign_key(token: SecretText, key: RSAKey) -> SecretText:
    """Return the claims signed by a key of ours, under the `kid` of the real one."""
    read = read_jwt(token)
    header = {**read.header, "alg": "RS256"}
    return SecretText(jwt.encode(header, dict(read.claims), key, algorithms=["RS256"]))


def by_public_key(token: SecretText, public: RSAKey) -> SecretText:
    """Return the claims under HS256, keyed with the text of the public key (RFC 8725 2.1)."""
    header = {**read_jwt(token).header, "alg": "HS256"}
    message = f"{_json_part(header)}.{_json_part(read_jwt(token).claims)}"
    digest = hmac.new(public.as_pem(private=False), message.encode(), hashlib.sha256).digest()
    return SecretText(f"{message}.{to_base64(digest)}")


def to_base64(octets: bytes) -> str:
    """Return unpadded Base64url (RFC 7515 2)."""
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def from_base64(text: object) -> bytes:
    """Return the octets of unpadded Base64url; none where it is not."""
    if not isinstance(text, str):
        return b""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""


def _json_part(value: object) -> str:
    return to_base64(msgspec.json.encode(value))


def _json_object(octets: bytes) -> Mapping[str, object]:
    try:
        found = msgspec.json.decode(octets)
    except UNDECODABLE:
        return {}
    return found if isinstance(found, dict) else {}
