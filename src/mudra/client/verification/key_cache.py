"""The issuer's published keys, and when to ask for them again. No I/O.

Cached for the response's max-age. A token with an unknown key has them fetched again
at once, but at most every 30 seconds, so that invented key names cannot be used to
flood the issuer. While the issuer is down, cached keys stay in use for a day.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from mudra.client.verification.compact import ALGORITHM, base64url
from mudra.shared.text.undecodable import UNDECODABLE

PAUSE_SECONDS: Final = 30.0
FIRST_PAUSE_SECONDS: Final = 1.0
DEFAULT_AGE_SECONDS: Final = 300.0
MAX_AGE_SECONDS: Final = 86_400.0
STALE_SECONDS: Final = 86_400.0
MAX_BYTES: Final = 256 * 1024
_MAX_AGE = re.compile(r"(?:^|[,\s])max-age=(\d{1,9})(?:$|[,\s])", re.IGNORECASE)
_NO_STORE = re.compile(r"(?:^|[,\s])no-(?:store|cache)(?:$|[,\s])", re.IGNORECASE)
_PRIVATE = ("d", "p", "q", "dp", "dq", "qi", "oth")
_MODULUS_BITS = 2048


class _Jwk(msgspec.Struct):
    kty: str
    kid: str = ""
    use: str = "sig"
    alg: str = ALGORITHM
    key_ops: tuple[str, ...] = ("verify",)


class _Jwks(msgspec.Struct):
    keys: list[dict[str, object]]


class KeyCache:
    """Keys by their `kid`. Times are seconds of one steady clock."""

    def __init__(self) -> None:
        self.generation = 0
        """Grows with every new set: results of an older one are void."""
        self._keys: dict[str, RSAKey] = {}
        self._failed = False
        self._fresh_until = self._fetched_at = self._fetched_for_unknown = float("-inf")

    def must_fetch(self, kid: str, now: float) -> bool:
        """Return whether to fetch the keys before looking up `kid`; failed fetches count too."""
        if not self._keys:
            return now - self._fetched_at >= FIRST_PAUSE_SECONDS
        if now >= self._fresh_until:
            return now - self._fetched_at >= PAUSE_SECONDS
        return kid not in self._keys and now - self._fetched_for_unknown >= PAUSE_SECONDS

    def fetched(self, kid: str, now: float, *, failed: bool) -> None:
        """Record that the keys were fetched, because of which key, and whether it failed.

        Called when the answer is in, not before: until then `must_fetch` makes other
        callers wait for it.
        """
        self._failed = failed
        self._fetched_at = now
        if kid not in self._keys:
            self._fetched_for_unknown = now

    def replace(self, body: bytes, cache_control: str, now: float) -> bool:
        """Replace the keys; return False, without a change, when none of the new ones is usable."""
        keys = _usable(body)
        if not keys:
            return False
        self._keys = keys
        self._fresh_until = now + _age(cache_control)
        self.generation += 1
        return True

    def find(self, kid: str, now: float) -> RSAKey | None:
        """Return the key, unless the issuer withdrew it or was unreachable for too long."""
        if now >= self._fresh_until + STALE_SECONDS:
            return None
        return self._keys.get(kid)

    def is_confirmed(self, now: float) -> bool:
        """Return whether a missing key is not published: the keys are recent, no fetch failed."""
        return now < self._fresh_until and not self._failed


def _age(cache_control: str) -> float:
    if _NO_STORE.search(cache_control):
        return PAUSE_SECONDS
    match = _MAX_AGE.search(cache_control)
    age = float(match.group(1)) if match else DEFAULT_AGE_SECONDS
    return min(max(age, PAUSE_SECONDS), MAX_AGE_SECONDS)


def _usable(body: bytes) -> dict[str, RSAKey]:
    try:
        members = msgspec.json.decode(body, type=_Jwks).keys
    except UNDECODABLE:
        return {}
    found = [(kid, key) for member in members if (key := _key(member)) and (kid := key.kid)]
    return {kid: key for kid, key in found if _is_unique(kid, found)}


def _is_unique(kid: str, found: Sequence[tuple[str, RSAKey]]) -> bool:
    return sum(other == kid for other, _ in found) == 1


def _key(member: dict[str, object]) -> RSAKey | None:
    """Return a public RSA key for RS256; None for any other key."""
    try:
        jwk = msgspec.convert(member, _Jwk)
        if (jwk.kty, jwk.use, jwk.alg) != ("RSA", "sig", ALGORITHM) or not jwk.kid:
            return None
        if any(name in member for name in _PRIVATE):
            return None
        if "verify" not in jwk.key_ops:
            return None  # RFC 7517 4.3
        numbers = {"kty": "RSA"} | {name: base64url(member[name]) for name in ("n", "e")}
        key = RSAKey.import_key({**numbers, "kid": jwk.kid})
    except (msgspec.ValidationError, JoseError, KeyError, ValueError):
        return None
    return key if key.public_key.key_size >= _MODULUS_BITS else None
