"""The `certificate` of an entry: an RSA public key as a JSON Web Key.

spec 2.7, RFC 7517, RFC 7518 section 6.3.1, RFC 7638.
"""

import base64
import binascii
import enum
import hashlib
from collections.abc import Callable
from typing import Final

import msgspec
from joserfc.jwk import RSAKey
from msgspec import Struct

from mudra.localization.language import translatable
from mudra.registry.payload import finding_texts as texts
from mudra.registry.payload.fields.weak_keys import weakness
from mudra.registry.payload.inspection import (
    LEAKED,
    Fault,
    Inspection,
    TextRule,
    holds_private_key,
    is_empty,
    member,
)

MIN_BITS: Final = 2048
MAX_BITS: Final = 8192
MIN_EXPONENT: Final = 65537
# Go's crypto/rsa, which members use to verify, refuses any larger one.
MAX_EXPONENT: Final = 2**31 - 1

PRIVATE_MEMBERS: Final = ("d", "p", "q", "dp", "dq", "qi", "oth", "k")
_PUBLIC_MEMBERS: Final = ("alg", "kty", "use", "kid", "e", "n")
_OTHER_RFC_MEMBERS: Final = ("key_ops", "x5u", "x5c", "x5t", "x5t#S256")

_KID = TextRule(translatable("a text of 1 to 256 characters"), 256)
_E = TextRule(translatable("Base64url without padding, usually AQAB"), 16)
_N = TextRule(translatable("Base64url without padding, of 2048 to 8192 bits"), MAX_BITS // 6 + 8)
FaultsOf = Callable[[int], list[Fault]]


class Algorithm(enum.StrEnum):
    """Signature algorithms that a member's key may name."""

    RS256 = "RS256"
    RS384 = "RS384"
    RS512 = "RS512"
    PS256 = "PS256"
    PS384 = "PS384"
    PS512 = "PS512"


class Certificate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An RSA public key with exactly the members of spec 2.7."""

    alg: str
    kty: str
    use: str
    kid: str
    e: str
    n: str


class KeyFacts(Struct, frozen=True):
    """What identifies a key: its name, its RFC 7638 thumbprint, its modulus."""

    kid: str
    thumbprint: str
    modulus_hash: str
    bits: int


def key_facts(certificate: Certificate) -> KeyFacts:
    """Return the facts of a certificate that passed `check_certificate`."""
    # The thumbprint is of kty, n and e alone (RFC 7638 section 3.2).
    key = RSAKey.import_key({"kty": "RSA", "n": certificate.n, "e": certificate.e})
    modulus = _octets(certificate.n)
    return KeyFacts(
        kid=certificate.kid,
        thumbprint=key.thumbprint(),
        modulus_hash=hashlib.sha256(modulus).hexdigest(),
        bits=int.from_bytes(modulus).bit_length(),
    )


def check_certificate(inspection: Inspection, path: str, value: object) -> Certificate:
    """Return the key at `path`; add a finding for every reason why it is not valid."""
    if isinstance(value, str) and not is_empty(value):
        _a_text_is_no_key(inspection, path, value)
        return Certificate("", "", "", "", "", "")
    given = inspection.members(path, _without_named(inspection, path, value), _PUBLIC_MEMBERS)
    if not given and not isinstance(value, dict):
        return Certificate("", "", "", "", "", "")
    return Certificate(
        alg=inspection.word(f"{path}.alg", given.get("alg"), tuple(Algorithm)),
        kty=inspection.word(f"{path}.kty", given.get("kty"), ("RSA",)),
        use=inspection.word(f"{path}.use", given.get("use"), ("sig",)),
        kid=inspection.text(f"{path}.kid", given.get("kid"), _KID),
        e=_number(inspection, f"{path}.e", given.get("e"), _E, _exponent_faults),
        n=_number(inspection, f"{path}.n", given.get("n"), _N, _modulus_faults),
    )


def _a_text_is_no_key(inspection: Inspection, path: str, value: str) -> None:
    if holds_private_key(value):
        inspection.error(path, LEAKED, translatable("an RSA public key as a JSON object"))
    else:
        inspection.error(
            path,
            translatable("must be an object, not a text"),
            translatable("an RSA public key as a JSON object; `mudra jwk new` makes one"),
        )


def _without_named(inspection: Inspection, path: str, value: object) -> object:
    """Add findings for private and unused fields, and leave those fields out."""
    if not isinstance(value, dict):
        return value
    for name in value:
        if name in PRIVATE_MEMBERS:
            inspection.error(member(path, name), LEAKED, ", ".join(_PUBLIC_MEMBERS))
        elif name in _OTHER_RFC_MEMBERS:
            problem = translatable(
                "is a field of RFC 7517 that the registry does not use; leave it out"
            )
            inspection.odd(member(path, name), problem, ", ".join(_PUBLIC_MEMBERS))
    named = (*PRIVATE_MEMBERS, *_OTHER_RFC_MEMBERS)
    return {name: part for name, part in value.items() if name not in named}


def _number(
    inspection: Inspection, path: str, value: object, rule: TextRule, faults_of: FaultsOf
) -> str:
    if not isinstance(value, str) or is_empty(value):
        return inspection.text(path, value, rule)
    if len(value) > rule.longest:
        inspection.error(path, texts.CHARACTERS % {"count": len(value)}, rule.allowed)
        return ""
    octets = _decoded(value)
    if octets is None:
        repaired = _repaired(value, faults_of) if rule is _E else ""
        inspection.error(path, _spelling(value), rule.allowed, repaired)
        return ""
    if octets[:1] == b"\0":
        stripped = _encoded(octets.lstrip(b"\0")) if rule is _E else ""
        problem = translatable("begins with a zero octet, which RFC 7518 leaves out")
        inspection.error(path, problem, rule.allowed, stripped)
        return ""
    faults = faults_of(int.from_bytes(octets))
    inspection.faults(path, faults)
    return "" if faults else value


def _spelling(value: str) -> str:
    if holds_private_key(value):
        return LEAKED
    if value.rstrip("=") != value:
        return translatable("is padded with =")
    if "+" in value or "/" in value:
        return translatable("is Base64, not Base64url: + is written - and / is written _")
    return translatable("is not canonical Base64url")


def _repaired(value: str, faults_of: FaultsOf) -> str:
    plain = value.strip().rstrip("=").replace("+", "-").replace("/", "_")
    octets = _decoded(plain)
    return "" if octets is None or faults_of(int.from_bytes(octets)) else plain


def _exponent_faults(e: int) -> list[Fault]:
    faults = []
    allowed = texts.ODD_NUMBER % {"least": MIN_EXPONENT, "most": MAX_EXPONENT}
    if e < MIN_EXPONENT:
        faults.append(Fault(texts.TOO_SMALL % {"value": e}, allowed, "AQAB"))
    if e > MAX_EXPONENT:
        faults.append(
            Fault(translatable("is too large: common programs refuse it"), allowed, "AQAB")
        )
    if e % 2 == 0:
        faults.append(Fault(translatable("is an even number"), allowed, "AQAB"))
    return faults


def _modulus_faults(n: int) -> list[Fault]:
    bits = n.bit_length()
    allowed = texts.MODULUS % {"least": MIN_BITS, "most": MAX_BITS}
    if not MIN_BITS <= bits <= MAX_BITS:
        return [Fault(texts.BITS % {"count": bits}, allowed)]
    if n % 2 == 0:
        return [Fault(translatable("is an even number, so it is no RSA modulus"), allowed)]
    problem = weakness(n)
    return [Fault(problem, translatable("a newly made key"))] if problem else []


def _decoded(text: str) -> bytes | None:
    """Return the octets of canonical unpadded Base64url, or None."""
    try:
        octets = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return octets if _encoded(octets) == text else None


def _octets(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _encoded(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()
