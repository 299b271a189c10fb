"""The `certificate` of an entry: an RSA public key as a JSON Web Key.

spec 2.7, RFC 7517, RFC 7518 section 6.3.1, RFC 7638.
"""

import base64
import binascii
import enum
import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Final

import msgspec
from joserfc.jwk import RSAKey
from msgspec import Struct

from mudra.localization.language import translatable
from mudra.registry.payload import finding_texts as texts
from mudra.registry.payload.fields.field_rules import Field, fields_of
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
from mudra.shared.text.whole_number import whole_number

MIN_BITS: Final = 2048
MAX_BITS: Final = 8192
MIN_EXPONENT: Final = 65537
# Go's crypto/rsa, which members use to verify, refuses any larger one.
MAX_EXPONENT: Final = 2**31 - 1

PRIVATE_MEMBERS: Final = ("d", "p", "q", "dp", "dq", "qi", "oth", "k")
UNKEPT_MEMBERS: Final = (
    *("key_ops", "x5u", "x5c", "x5t", "x5t#S256"),
    # Of IANA's registry: WebCrypto exports `ext`, other libraries the three times.
    *("ext", "iat", "nbf", "exp"),
)
"""Fields of a JSON Web Key that are accepted and not kept: JOSE libraries export them."""

_KID = TextRule(translatable("a text of 1 to 256 characters"), 256)
_OCTETS = re.compile(r"[A-Za-z0-9_-]+")
_E = TextRule(translatable("Base64url without padding, usually AQAB"), 16, _OCTETS)
_N = TextRule(
    translatable("Base64url without padding, of 2048 to 8192 bits"), MAX_BITS // 6 + 8, _OCTETS
)
_DECIMAL = re.compile(r"[0-9]{1,10}")
_HEXADECIMAL = re.compile(r"(?:0x)?[0-9A-Fa-f]{1,8}")
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

    alg: Annotated[str, Field(words=tuple(Algorithm), label="algorithm")]
    kty: Annotated[str, Field(words=("RSA",), label="type (kty)")]
    use: Annotated[str, Field(words=("sig",), label="use")]
    kid: Annotated[str, Field(rule=_KID, about="unique over the registry", label="key ID (kid)")]
    e: Annotated[str, Field(rule=_E, about="Base64url, odd, at least 65537", label="exponent")]
    n: Annotated[
        str, Field(rule=_N, about="Base64url, 2048 to 8192 bits, unique", label="key (modulus n)")
    ]


_FIELDS: Final = fields_of(Certificate)


class KeyFacts(Struct, frozen=True):
    """The facts that identify a key: its name, its RFC 7638 thumbprint, its modulus."""

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
    given = inspection.members(
        path, _without_named(inspection, path, value), Certificate.__struct_fields__
    )
    if not given and not isinstance(value, dict):
        return Certificate("", "", "", "", "", "")
    return Certificate(
        alg=_word(inspection, path, "alg", given),
        kty=inspection.word(f"{path}.kty", given.get("kty"), _FIELDS["kty"].words),
        use=_word(inspection, path, "use", given),
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
    """Add findings for private and unkept fields, and leave those fields out."""
    if not isinstance(value, dict):
        return value
    for name, part in value.items():
        if is_empty(part):
            continue
        if name in PRIVATE_MEMBERS or (name in UNKEPT_MEMBERS and _leaks(part)):
            inspection.error(member(path, name), LEAKED, ", ".join(Certificate.__struct_fields__))
        elif name in UNKEPT_MEMBERS:
            problem = translatable("is a field of a key that the registry does not keep")
            inspection.note(member(path, name), problem)
    named = (*PRIVATE_MEMBERS, *UNKEPT_MEMBERS)
    return {name: part for name, part in value.items() if name not in named}


def _leaks(part: object) -> bool:
    texts_in = part if isinstance(part, list) else [part]
    return any(isinstance(text, str) and holds_private_key(text) for text in texts_in)


def _word(inspection: Inspection, path: str, name: str, given: Mapping[str, object]) -> str:
    """Return `alg` or `use`; an older entry without it has the one that spec 2.7 names."""
    words = _FIELDS[name].words
    if inspection.older and is_empty(given.get(name)):
        inspection.note(f"{path}.{name}", f"is missing and was read as {words[0]}")
        return words[0]
    return inspection.word(f"{path}.{name}", given.get(name), words)


def _number(
    inspection: Inspection, path: str, value: object, rule: TextRule, faults_of: FaultsOf
) -> str:
    """Return the number in canonical form; an older entry may hold it in another form."""
    if inspection.older and rule is _E and not isinstance(value, str):
        value = value if (number := whole_number(value)) is None else str(number)
    if not isinstance(value, str) or is_empty(value):
        return inspection.text(path, value, rule)
    if len(value) > rule.longest:
        inspection.error(path, texts.CHARACTERS % {"count": len(value)}, rule.allowed)
        return ""
    octets = _decoded(value)
    if octets is not None and octets[:1] != b"\0":
        faults = faults_of(int.from_bytes(octets))
        repaired = _of_digits(value, faults_of) if inspection.older and rule is _E else ""
        if not (faults and repaired):
            inspection.faults(path, faults)
            return "" if faults else value
    else:
        repaired = _repaired(value, faults_of)
        if not repaired and inspection.older and rule is _E:
            repaired = _of_digits(value, faults_of)
    problem = _spelling(value, octets)
    if inspection.older and repaired:
        inspection.note(path, f"{problem}; it is stored in the right form", rule.allowed)
        return repaired
    inspection.error(path, problem, rule.allowed, repaired)
    return ""


def _spelling(value: str, octets: bytes | None) -> str:
    if holds_private_key(value):
        return LEAKED
    if octets is not None and octets[:1] == b"\0":
        return translatable("begins with a zero octet, which RFC 7518 leaves out")
    if value.rstrip("=") != value:
        return translatable("is padded with =")
    if "+" in value or "/" in value:
        return translatable("is Base64, not Base64url: + is written - and / is written _")
    return translatable("is not canonical Base64url")


def _repaired(value: str, faults_of: FaultsOf) -> str:
    """Return the canonical form of what is Base64 of a good number, or an empty text."""
    plain = "".join(value.split()).rstrip("=").replace("+", "-").replace("/", "_")
    try:
        octets = _octets(plain)
    except (binascii.Error, ValueError):
        return ""
    return "" if _unlike(plain, octets) else _good(int.from_bytes(octets), faults_of)


def _unlike(text: str, octets: bytes) -> bool:
    """Return whether a text differs from its octets in more than the unused bits at its end."""
    return _encoded(octets)[:-1] != text[:-1] or len(_encoded(octets)) != len(text)


def _of_digits(value: str, faults_of: FaultsOf) -> str:
    """Return the canonical form of an exponent in decimal or hexadecimal digits."""
    candidates = [int(value)] if _DECIMAL.fullmatch(value) else []
    candidates += [int(value, 16)] if _HEXADECIMAL.fullmatch(value) else []
    return next((good for one in candidates if (good := _good(one, faults_of))), "")


def _good(number: int, faults_of: FaultsOf) -> str:
    if number <= 0 or faults_of(number):
        return ""
    return _encoded(number.to_bytes((number.bit_length() + 7) // 8))


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
