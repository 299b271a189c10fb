"""Check a DPoP proof: a JWT by which a caller shows that it holds a key (RFC 9449 4.3).

Pure: the time comes in, and whether the proof was used before is asked elsewhere.
"""

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

import msgspec
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey
from msgspec import Struct

from mudra.shared.refusal import ErrorCode, Refusal, RefusalKind

_MAX_LENGTH: Final = 2048
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}
_VISIBLE: Final = re.compile(r"[!-~]+")
_PERCENT: Final = re.compile(r"%([0-9A-Fa-f]{2})?")
_UNRESERVED: Final = re.compile(r"[A-Za-z0-9._~-]")
_DOTS: Final = frozenset({".", ".."})


def is_same_url(one: str, other: str) -> bool:
    """Return whether two URLs name the same resource, apart from query and fragment."""
    normalized = _normalized(one)
    # What is no URL equals nothing, not even another that is none.
    return normalized is not None and normalized == _normalized(other)


def urls_of(origins: Iterable[str], path: str) -> tuple[str, ...]:
    """Return the URLs of a request under each origin; its path is percent-encoded, as it was sent.

    The host of the request is not asked for, because its sender chooses it: a peer to whom a proof
    was sent could use it here.
    """
    # A path without its slash would become a part of the host, and a `#` in it would end it.
    below = path.partition("?")[0].removeprefix("/").replace("#", "%23")
    return tuple(f"{origin}/{below}" for origin in origins)


def _normalized(url: str) -> tuple[str, str, int | None, str] | None:
    """Return scheme, host, port and path; None for what is no URL that can be compared."""
    # Line breaks and tabs are no part of a URL, and would be dropped.
    if len(url) > _MAX_LENGTH or not _VISIBLE.fullmatch(url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    path = _normalized_path(parts.path)
    if not parts.hostname or parts.username is not None or path is None:
        return None
    scheme = parts.scheme.lower()
    if port is None:
        port = _DEFAULT_PORTS.get(scheme)
    return scheme, parts.hostname, port, path or "/"


def _normalized_path(path: str) -> str | None:
    try:
        normalized = _PERCENT.sub(_normalized_octet, path)
    except ValueError:
        return None
    return None if _DOTS & set(normalized.split("/")) else normalized


def _normalized_octet(found: re.Match[str]) -> str:
    """Decode an unreserved character; all others, such as `/`, mean something else encoded."""
    if found[1] is None:
        raise ValueError
    character = chr(int(found[1], 16))
    return character if _UNRESERVED.fullmatch(character) else found[0].upper()


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
