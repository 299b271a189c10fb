"""Makes the key pair of a member: the pure part of `mudra jwk new`.

The private part is for a file with mode 0600 at the member; only the public
part goes into a payload.
"""

from collections.abc import Callable

import msgspec
from joserfc.jwk import RSAKey
from msgspec import Struct

from mudra.registry.payload.fields.certificate import MAX_BITS, MIN_BITS, Algorithm, Certificate
from mudra.shared.secret_text import SecretText


class NewKey(Struct, frozen=True):
    """A new key: its private part twice, as PEM (PKCS #8) and as JWK, and its public part."""

    private_pem: SecretText
    private_jwk: SecretText
    public: Certificate


def new_key(
    bits: int = MIN_BITS,
    algorithm: Algorithm = Algorithm.RS256,
    kid: str = "",
    generate: Callable[[int], RSAKey] = RSAKey.generate_key,
) -> NewKey:
    """Make an RSA key; without a `kid` it is named by its RFC 7638 thumbprint.

    Raises `ValueError` for a size that the registry would refuse.
    """
    if not MIN_BITS <= bits <= MAX_BITS or bits % 8:
        allowed = f"a multiple of 8 from {MIN_BITS} to {MAX_BITS}"
        raise ValueError(f"the key size must be {allowed}, not {bits}")
    key = generate(bits)
    named = {"alg": algorithm.value, "use": "sig", "kid": kid or key.thumbprint()}
    return NewKey(
        private_pem=SecretText(key.as_pem(private=True).decode()),
        private_jwk=SecretText(msgspec.json.encode(key.as_dict(private=True) | named).decode()),
        public=msgspec.convert(named | _public(key), Certificate),
    )


def _public(key: RSAKey) -> dict[str, str]:
    public = key.as_dict(private=False)
    return {name: str(public[name]) for name in ("kty", "e", "n")}
