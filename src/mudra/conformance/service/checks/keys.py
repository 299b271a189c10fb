"""Published keys and metadata: a token is verified offline, from its `iss` alone."""

from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from mudra.conformance.answer import Answer
from mudra.conformance.check import Need, Steps, decided
from mudra.conformance.expectation import equal, status, that
from mudra.conformance.jwt_text import Jwt, from_base64, read_jwt
from mudra.conformance.service.implementation import Implementation

_PLACE: Final = (
    "offline: JWKS at {iss}/protocol/openid-connect/certs (clients build that from iss) and "
    "{iss}/.well-known/jwks.json"
)
_METADATA: Final = "metadata at {iss}/.well-known/openid-configuration and RFC 8414's address"
_PRIVATE: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_MIN_BITS: Final = 2048


def published_keys(answer: Answer) -> list[dict[str, object]]:
    """Return the keys of a JWK Set; none where it is not one."""
    keys = answer.field("keys")
    return [key for key in keys if isinstance(key, dict)] if isinstance(keys, list) else []


def is_signed(token: Jwt, keys: list[dict[str, object]]) -> bool:
    """Return whether the key of its `kid` signed the token with RS256."""
    named = [key for key in keys if key.get("kid") == token.header.get("kid")]
    for key in named:
        n, e = (int.from_bytes(from_base64(key.get(name))) for name in ("n", "e"))
        try:
            public = rsa.RSAPublicNumbers(e, n).public_key()
            public.verify(token.signature, token.message, padding.PKCS1v15(), hashes.SHA256())
        except (InvalidSignature, ValueError):
            continue
        return True
    return False


def _published(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    yield status(one.keys_answer, 200)
    yield that(published_keys(one.keys_answer), "a JWK Set with keys", "none")


@decided("K-D3-1", "keys are published where clients build the address from iss", _PLACE,
         Need.ENTITY)  # fmt: skip
def _place(one: Implementation) -> Steps:
    yield from _published(one)


@decided("K-D3-2", "every key is an RSA key for signatures", "RS256, 2048-bit key", Need.ENTITY)
def _form(one: Implementation) -> Steps:
    yield from _published(one)
    for key in published_keys(one.keys_answer):
        yield equal("kty", "RSA", key.get("kty"))
        yield equal("use", "sig", key.get("use"))
        yield that(isinstance(key.get("kid"), str) and key["kid"], "a kid", "none")
        bits = int.from_bytes(from_base64(key.get("n"))).bit_length()
        yield that(bits >= _MIN_BITS, "a modulus of 2048 bits or more", f"{bits} bits")


@decided("K-D3-3", "no private part is published", _PLACE, Need.ENTITY)
def _public(one: Implementation) -> Steps:
    yield from _published(one)
    for key in published_keys(one.keys_answer):
        found = sorted(_PRIVATE & key.keys())
        yield that(not found, "public members only", f"{', '.join(found)} published")


@decided("K-D3-4", "the key of a token's kid is published", "header kid", Need.ENTITY)
def _kid(one: Implementation) -> Steps:
    yield status(one.keys_answer, 200)
    kids = [key.get("kid") for key in published_keys(one.keys_answer)]
    yield that(one.entity_jwt.header.get("kid") in kids, "the kid among the keys", "it is not")


@decided("K-D3-5", "an entity token is verified by the published key", "checking a token | offline",
         Need.ENTITY)  # fmt: skip
def _verified(one: Implementation) -> Steps:
    yield status(one.keys_answer, 200)
    fits = is_signed(one.entity_jwt, published_keys(one.keys_answer))
    yield that(fits, "an RS256 signature of the published key", "another, or no such key")


@decided("K-D3-6", "a user token is verified by the published key", "checking a token | offline",
         Need.USER, Need.ENTITY)  # fmt: skip
def _user_verified(one: Implementation) -> Steps:
    yield status(one.user_answer, 200)
    yield status(one.keys_answer, 200)
    fits = is_signed(read_jwt(one.user_bearer), published_keys(one.keys_answer))
    yield that(fits, "an RS256 signature of the published key", "another, or no such key")


@decided("K-D3-7", "the same keys at .well-known/jwks.json", _PLACE, Need.ENTITY)
def _second_place(one: Implementation) -> Steps:
    yield from _published(one)
    other = one.send("GET", f"{one.issuer}/.well-known/jwks.json")
    yield status(other, 200)
    same = published_keys(other) == published_keys(one.keys_answer)
    yield that(same, "the same keys at both addresses", "others")


@decided("K-D3-8", "OpenID metadata name issuer, keys and token endpoint", _METADATA, Need.ENTITY)
def _openid(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    found = one.send("GET", f"{one.issuer}/.well-known/openid-configuration")
    yield status(found, 200)
    yield equal("issuer", one.issuer, found.field("issuer"))
    for name in ("jwks_uri", "token_endpoint", "introspection_endpoint", "revocation_endpoint"):
        yield that(found.text(name), f"{name} is named", f"{name} is missing")


@decided("K-D3-9", "metadata at the address of RFC 8414", _METADATA, Need.ENTITY)
def _rfc8414(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    scheme, _, rest = one.issuer.partition("://")
    host, slash, path = rest.partition("/")
    place = f"{scheme}://{host}/.well-known/oauth-authorization-server{slash}{path}"
    found = one.send("GET", place)
    yield status(found, 200)
    yield equal("issuer", one.issuer, found.field("issuer"))


CHECKS: Final = (
    _place, _form, _public, _kid, _verified, _user_verified, _second_place, _openid, _rfc8414,
)  # fmt: skip
