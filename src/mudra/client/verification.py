"""What the two verifiers share: everything but the fetching."""

import hashlib
from collections import OrderedDict

import msgspec

from mudra.client import compact
from mudra.client.check import Expected, check, check_time
from mudra.client.clock import Seconds
from mudra.client.compact import TokenParts
from mudra.client.entity_token import EntityToken
from mudra.client.errors import KeysUnavailable, UnknownKey
from mudra.client.key_cache import KeyCache


class ParsedToken(msgspec.Struct, frozen=True):
    """A token whose form and header have passed."""

    parts: TokenParts
    kid: str


class Verification:
    """One verifier's keys, expectations and memory. `remember` bounds the memory; 0 is none."""

    def __init__(self, expected: Expected, remember: int, wall: Seconds, steady: Seconds) -> None:
        self._expected = expected
        self._remember = remember
        self._wall = wall
        self._steady = steady
        self._keys = KeyCache()
        self._passed: OrderedDict[bytes, tuple[int, str, EntityToken]] = OrderedDict()

    def parse(self, token: str) -> ParsedToken:
        """Check form and header; raises TokenMalformed."""
        parts = compact.split(token)
        return ParsedToken(parts, compact.read_header(parts.header).kid)

    def must_fetch(self, kid: str) -> bool:
        """Whether the issuer should be asked for its keys first."""
        return self._keys.must_fetch(kid, self._steady())

    def has_key(self, kid: str) -> bool:
        """Whether a key is at hand, though perhaps an old one."""
        return self._keys.find(kid, self._steady()) is not None

    def fetched(self, kid: str, *, failed: bool) -> None:
        """Note that the issuer was asked, and whether in vain."""
        self._keys.fetched(kid, self._steady(), failed=failed)

    def replace(self, body: bytes, cache_control: str) -> bool:
        """Take the issuer's answer; False when it holds no key of use."""
        return self._keys.replace(body, cache_control, self._steady())

    def verify(self, parsed: ParsedToken) -> EntityToken:
        """The verified token; raises TokenRefused or KeysUnavailable."""
        key = self._keys.find(parsed.kid, self._steady())
        if key is None:
            raise self._no_key()
        now = self._wall()
        if not self._remember:
            return check(parsed.parts, key, self._expected, now)
        digest = _digest(parsed.parts)
        known = self._passed.get(digest)
        if known is not None and known[:2] == (self._keys.generation, parsed.kid):
            entity = known[2]
            check_time(entity.expires_at.timestamp(), None, entity.issued_at.timestamp(), now)
            return entity
        entity = check(parsed.parts, key, self._expected, now)
        self._passed[digest] = (self._keys.generation, parsed.kid, entity)
        while len(self._passed) > self._remember:
            self._passed.popitem(last=False)
        return entity

    def _no_key(self) -> UnknownKey | KeysUnavailable:
        issuer = self._expected.issuer
        if self._keys.is_confirmed(self._steady()):
            return UnknownKey(
                f"{issuer} does not publish the key that the token names", compact.WAY_OUT
            )
        return KeysUnavailable(
            f"the keys of {issuer} could not be fetched",
            "answer 503, and look into this log for the reason; it is tried again by itself",
        )


def _digest(parts: TokenParts) -> bytes:
    """What a token is remembered by: header, payload and signature, not the token itself."""
    return hashlib.sha256(parts.signed.encode() + b"." + parts.signature).digest()
