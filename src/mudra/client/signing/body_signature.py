"""Detached signatures of bodies, as members of the network exchange them.

`x-jws-signature: HEADER..SIGNATURE` over the bytes of the body (RFC 7515 appendix F), which are
not Base64url-encoded first (RFC 7797: `b64` false). The key is the one in the signer's registry
entry; the message only names it.
"""

import json
from collections.abc import Mapping
from typing import Final, Self

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from mudra.client.errors import SignatureRefused, TokenMalformed
from mudra.client.verification.compact import base64url, read_json

SIGNATURE_HEADER: Final = "x-jws-signature"
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
"""Those that a registered key may name (spec 2.7)."""
MAX_BODY_BYTES: Final = 64 * 1024 * 1024
_MAX_HEADER: Final = 2048
_MIN_BITS: Final = 2048
_KNOWN: Final = frozenset({"alg", "kid", "b64", "crit", "typ", "cty"})
_WAY_OUT: Final = "do not act on the body; ask its sender to sign it with its registered key"


class BodySigner:
    """Signs bodies with our private key, whose public part is in our registry entry.

    `private_key` is PEM; `kid` is that of the entry's `certificate`, and so is `algorithm`.
    Raises ValueError for anything but an RSA key of 2048 bits or more.
    """

    def __init__(self, private_key: str | bytes, kid: str, algorithm: str = "RS256") -> None:
        if algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm must be one of {', '.join(ALGORITHMS)}")
        try:
            key = RSAKey.import_key(private_key)
        except (JoseError, ValueError, TypeError):
            # Without its cause, whose text may hold a part of the key.
            raise ValueError("the private key must be an RSA key in PEM") from None
        if key.private_key is None or key.private_key.key_size < _MIN_BITS:
            raise ValueError(f"a private RSA key of {_MIN_BITS} bits or more is needed")
        self._key = key
        self._header = {"alg": algorithm, "kid": kid, "b64": False, "crit": ["b64"]}
        self._registry = _registry(algorithm)

    def sign(self, body: bytes) -> str:
        """Return the value of `x-jws-signature` for exactly these bytes.

        Raises ValueError (UnicodeDecodeError) for a body that is not UTF-8, as JSON always is.
        """
        signed = jws.serialize_compact(self._header, body, self._key, registry=self._registry)
        # joserfc leaves a body of URL-safe characters between the points.
        header, _, rest = signed.partition(".")
        return f"{header}..{rest.rpartition('.')[2]}"


class RegisteredKey:
    """A public key by which bodies are checked."""

    def __init__(self, key: RSAKey, kid: str, algorithm: str) -> None:
        self._key = key
        self._kid = kid
        self._registry = _registry(algorithm)
        self._algorithm = algorithm

    @classmethod
    def from_certificate(cls, certificate: Mapping[str, object]) -> Self:
        """Return the key of a registry entry's `certificate`, or raise SignatureRefused."""
        numbers = {"kty": "RSA"} | {name: base64url(certificate.get(name)) for name in ("n", "e")}
        algorithm = certificate.get("alg")
        if certificate.get("kty") != "RSA" or algorithm not in ALGORITHMS:
            raise SignatureRefused("the registered key is not an RSA key for signatures", _WAY_OUT)
        try:
            key = RSAKey.import_key({**numbers})
        except (JoseError, ValueError) as error:
            raise SignatureRefused("the registered key cannot be read", _WAY_OUT) from error
        if key.public_key.key_size < _MIN_BITS:
            raise SignatureRefused(f"the registered key is below {_MIN_BITS} bits", _WAY_OUT)
        return cls(key, str(certificate.get("kid", "")), str(algorithm))

    def check(self, body: bytes, signature: str) -> None:
        """Raise SignatureRefused unless this key signed exactly these bytes."""
        header = read_header(signature)
        if header.get("alg") != self._algorithm:
            raise SignatureRefused(f"the signature's alg is not {self._algorithm}", _WAY_OUT)
        if header.get("kid", self._kid) != self._kid:
            raise SignatureRefused("the signature names another key than the registered", _WAY_OUT)
        try:
            jws.deserialize_compact(signature, self._key, registry=self._registry, payload=body)
        except (JoseError, ValueError, TypeError) as error:
            raise SignatureRefused("the body was not signed by that key", _WAY_OUT) from error


def read_header(signature: str) -> dict[str, object]:
    """Return the header of a detached signature of the one form that is in use.

    Raises SignatureRefused for another form, and for a header with more than alg, kid, typ, cty,
    `b64` false and `crit` of it: so a message can never bring its own key.
    """
    encoded, dots, value = signature.partition("..")
    if len(encoded) > _MAX_HEADER or not dots or not value or "." in value:
        raise SignatureRefused(f"{SIGNATURE_HEADER} is not HEADER..SIGNATURE", _WAY_OUT)
    try:
        header = read_json(encoded, "signature header")
    except TokenMalformed as error:
        raise SignatureRefused("the header of the signature is not plain JSON", _WAY_OUT) from error
    if header.keys() - _KNOWN or header.get("b64") is not False or header.get("crit") != ["b64"]:
        allowed = json.dumps({"alg": "RS256", "kid": "…", "b64": False, "crit": ["b64"]})
        raise SignatureRefused(f"the header of the signature must be like {allowed}", _WAY_OUT)
    return header


def signing_key_id(signature: str) -> str:
    """Return the `kid` in the header of a signature; raises SignatureRefused without one."""
    kid = read_header(signature).get("kid")
    if not isinstance(kid, str) or not kid:
        raise SignatureRefused("the signature names no key (kid)", _WAY_OUT)
    return kid


def _registry(algorithm: str) -> jws.JWSRegistry:
    registry = jws.JWSRegistry(algorithms=[algorithm])
    registry.max_payload_length = MAX_BODY_BYTES
    return registry
