"""Check a DPoP proof: a JWT by which a caller shows that it holds a key (RFC 9449 4.3).

Pure: the time comes in, and whether the proof was used before is asked elsewhere.
"""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

import msgspec
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey
from msgspec import Struct

from mudra.shared.proof_url import is_same_url
from mudra.shared.refusal import ErrorCode, Refusal, RefusalKind

ALGORITHMS: Final = ("ES256", "PS256", "RS256")
WINDOW: Final = timedelta(seconds=60)
"""So far `iat` may be from our time, either way."""
MAX_LENGTH: Final = 4096
_MAX_JTI: Final = 128
_LAST_INSTANT: Final = 253_402_300_799
_RSA_BITS: Final = (2048, 4096)
_MAX_RSA_EXPONENT: Final = 1 << 32
_SECRET_MEMBERS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_PUBLIC_MEMBERS: Final = {"EC": ("kty", "crv", "x", "y"), "RSA": ("kty", "n", "e")}
_KEY_TYPES: Final = {"ES256": "EC", "PS256": "RSA", "RS256": "RSA"}


def _registry() -> jws.JWSRegistry:
    registry = jws.JWSRegistry(algorithms=ALGORITHMS)
    registry.max_header_length = MAX_LENGTH  # an RSA key of 4096 bits needs 1,000
    return registry


_REGISTRY: Final = _registry()


class ProofInvalid(Refusal, frozen=True):
    """A request with a token that is bound to a key, or is to be, has no valid proof."""

    kind = RefusalKind.UNAUTHORIZED
    code = ErrorCode.PROOF_INVALID
    problem: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"DPoP: {self.problem}"


class PresentedProof(Struct, frozen=True):
    """The facts of a request that prove a key."""

    values: tuple[str, ...]
    """The values of its `DPoP` headers."""
    method: str
    """Its method, such as GET."""
    urls: tuple[str, ...]
    """The URLs under which the service is called: any of them may be in the proof."""


class DpopProof(Struct, frozen=True):
    """A valid proof; `thumbprint` names its key (RFC 7638), `use_hash` this very proof."""

    thumbprint: str
    use_hash: bytes
    expires_at: datetime


class _Header(Struct, frozen=True):
    typ: str
    alg: str
    jwk: dict[str, object]
    crit: object = None


class _Claims(Struct, frozen=True):
    jti: str
    htm: str
    htu: str
    iat: int | float
    ath: str = ""


def check_proof(
    presented: PresentedProof, now: datetime, access_token: str | None = None
) -> DpopProof | ProofInvalid:
    """Check the one proof of a request; with the access token that it comes with, `ath` too."""
    if len(presented.values) != 1:
        return ProofInvalid("send one header DPoP with a proof (RFC 9449)")
    text = presented.values[0].strip()
    if not text or len(text) > MAX_LENGTH or not text.isascii():
        return ProofInvalid(f"it must be a JWT of up to {MAX_LENGTH} characters")
    try:
        signed = jws.extract_compact(text.encode(), registry=_REGISTRY)
        header = msgspec.convert(signed.headers(), _Header)
        claims = msgspec.json.decode(signed.payload, type=_Claims)
    except (JoseError, ValueError, TypeError, RecursionError):
        return ProofInvalid("it must be a JWT with typ, alg, jwk, jti, htm, htu and iat")
    problem = _header_problem(header) or _claims_problem(claims, presented, now, access_token)
    if problem:
        return ProofInvalid(problem)
    key = _verified_key(text, header)
    if key is None:
        return ProofInvalid("jwk must be a public key of its alg, and have signed it")
    thumbprint = key.thumbprint()
    use_hash = sha256(f"{thumbprint}\0{claims.jti}".encode()).digest()
    return DpopProof(thumbprint, use_hash, datetime.fromtimestamp(claims.iat, UTC) + WINDOW)


def bound_key(claims: Mapping[str, object]) -> str:
    """Return the thumbprint of the key that a token is bound to; empty for a plain token."""
    confirmation = claims.get("cnf")
    if confirmation is None:
        return ""
    thumbprint = confirmation.get("jkt") if isinstance(confirmation, Mapping) else None
    # A binding that is not understood must not be dropped.
    return thumbprint if isinstance(thumbprint, str) and thumbprint else "unknown"


def _header_problem(header: _Header) -> str:
    if header.typ != "dpop+jwt":
        return "typ must be dpop+jwt"
    if header.alg not in ALGORITHMS:
        return f"alg must be {', '.join(ALGORITHMS)}"
    if header.crit is not None:
        return "crit is not supported"
    if _SECRET_MEMBERS & header.jwk.keys():
        return "jwk must be the public key alone: this one is known now, make another"
    return ""


def _claims_problem(
    claims: _Claims, presented: PresentedProof, now: datetime, access_token: str | None
) -> str:
    if not 0 < len(claims.jti) <= _MAX_JTI or not claims.jti.isprintable():
        return f"jti must have 1 to {_MAX_JTI} characters"
    if claims.htm != presented.method:
        return f"htm must be {presented.method}"
    if not any(is_same_url(claims.htu, url) for url in presented.urls):
        return f"htu must be {' or '.join(presented.urls)}"
    if not 0 <= claims.iat <= _LAST_INSTANT:
        return "iat must be seconds since the epoch"
    if abs(now - datetime.fromtimestamp(claims.iat, UTC)) > WINDOW:
        return (
            f"iat must be at most {int(WINDOW.total_seconds())} seconds from now: check the clock"
        )
    if access_token is not None and not _is_hash_of(claims.ath, access_token):
        return "ath must be the hash of the access token"
    return ""


def _is_hash_of(ath: str, access_token: str) -> bool:
    digest = urlsafe_b64encode(sha256(access_token.encode()).digest()).rstrip(b"=")
    return hmac.compare_digest(digest, ath.encode())


def _verified_key(text: str, header: _Header) -> ECKey | RSAKey | None:
    """Return the key of the proof if it signed it; other members of its JWK do not count."""
    kind = header.jwk.get("kty")
    if not isinstance(kind, str) or kind != _KEY_TYPES[header.alg]:
        return None
    public = {name: header.jwk.get(name) for name in _PUBLIC_MEMBERS[kind]}
    if not all(isinstance(value, str) for value in public.values()):
        return None
    members: dict[str, str | list[str]] = {name: str(one) for name, one in public.items()}
    try:
        key = ECKey.import_key(members) if kind == "EC" else RSAKey.import_key(members)
        if not _has_usual_size(key):
            return None
        jws.deserialize_compact(text, key, registry=_REGISTRY)
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return key


def _has_usual_size(key: ECKey | RSAKey) -> bool:
    """Refuses keys that take long to compute with, and curves other than P-256 (ES256)."""
    if isinstance(key, ECKey):
        return key.curve_name == "P-256"
    numbers = key.public_key.public_numbers()
    smallest, largest = _RSA_BITS
    return smallest <= key.public_key.key_size <= largest and numbers.e < _MAX_RSA_EXPONENT
