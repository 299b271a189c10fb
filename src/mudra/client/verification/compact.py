"""The outer form of a token, before any key is looked up (RFC 7515, RFC 8725).

joserfc verifies; this module checks what it leaves open: one spelling per token, no
duplicate JSON field, and no header but the three that the issuer writes, so that
a token can never bring its own key (`jwk`, `jku`, `x5u`, `x5c`).
"""

import functools
import json
import re
from base64 import urlsafe_b64decode
from typing import Final, NoReturn

import msgspec

from mudra.client.errors import TokenMalformed

MAX_LENGTH: Final = 16 * 1024
ALGORITHM: Final = "RS256"
TYPES: Final = frozenset({"JWT", "at+jwt"})

_FORM = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)", re.ASCII)
# The last character of a part must leave its unused bits zero, or a changed
# spelling of the same token would pass too.
_LAST = {0: None, 2: frozenset("AQgw"), 3: frozenset("AEIMQUYcgkosw048")}
_ALLOWED = frozenset({"alg", "kid", "typ"})


class Header(msgspec.Struct, frozen=True):
    """The content of a valid header."""

    kid: str


class TokenParts(msgspec.Struct, frozen=True):
    """A token's parts as received; `signed` is what its signature covers."""

    header: str
    payload: str
    signature: bytes

    @property
    def signed(self) -> str:
        """Header and payload with the dot between them."""
        return f"{self.header}.{self.payload}"


def split(token: str) -> TokenParts:
    """Return the three parts of a token in its one allowed spelling; raises TokenMalformed."""
    given: object = token
    if not isinstance(given, str):
        refuse(f"the token is {type(given).__name__}, not a text")
    if len(token) > MAX_LENGTH:
        refuse(f"the token is longer than {MAX_LENGTH} characters")
    match = _FORM.fullmatch(token)
    if match is None:
        refuse("the token is not three parts of Base64url with dots between them")
    header, payload, signature = match.groups()
    for part in (header, payload, signature):
        if not _is_canonical(part):
            refuse("a part of the token is not in canonical Base64url")
    return TokenParts(header, payload, signature.encode())


@functools.lru_cache(maxsize=64)
def read_header(part: str) -> Header:
    """Return the header if it is one that the issuer writes; raises TokenMalformed.

    Cached, because all tokens of one key have the same header.
    """
    header = read_json(part, "header")
    if unknown := sorted(header.keys() - _ALLOWED):
        named = ", ".join(name for name in unknown if name in _KNOWN_BAD) or "an unknown field"
        refuse(f"the token's header has {named}; allowed are alg, kid and typ")
    if header.get("alg") != ALGORITHM:
        refuse(f"the token's alg is not {ALGORITHM}")
    if header.get("typ") not in TYPES:
        refuse("the token's typ is neither JWT nor at+jwt")
    kid = header.get("kid")
    if not isinstance(kid, str) or not kid:
        refuse("the token names no key (kid)")
    return Header(kid)


_KNOWN_BAD = frozenset({"jku", "jwk", "x5u", "x5c", "x5t", "x5t#S256", "crit", "b64", "zip", "enc"})


def read_json(part: str, what: str) -> dict[str, object]:
    """Return the JSON object in a part, without duplicate fields; raises TokenMalformed."""
    try:
        text = urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode("utf-8")
        value = json.loads(
            text, object_pairs_hook=_reject_duplicates, parse_constant=_reject_constant
        )
    except (ValueError, RecursionError) as error:
        raise TokenMalformed(f"the token's {what} is not plain JSON", WAY_OUT) from error
    if not isinstance(value, dict):
        refuse(f"the token's {what} is not a JSON object")
    return value


def _reject_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("duplicate field")
    return value


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _is_canonical(part: str) -> bool:
    rest = len(part) % 4
    if rest == 1:
        return False
    last = _LAST[rest]
    return last is None or part[-1] in last


WAY_OUT: Final = "answer 401, so that the bearer gets a new token from the token service"


def refuse(diagnosis: str) -> NoReturn:
    """Raise TokenMalformed."""
    raise TokenMalformed(diagnosis, WAY_OUT)


def base64url(value: object) -> str:
    """Return a number of a key as Base64url without padding, from the other forms in use."""
    return str(value).rstrip("=").replace("+", "-").replace("/", "_")
