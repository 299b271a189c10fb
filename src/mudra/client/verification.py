"""What the two verifiers share: everything but the fetching."""

import hashlib
from collections import OrderedDict

import msgspec

from mudra.client import compact
from mudra.client.check import Expected, check, check_time
from mudra.client.clock import Seconds
from mudra.client.entity_token import EntityToken
from mudra.client.errors import KeysUnavailable, UnknownKey
from mudra.client.key_cache import KeyCache


class Presented(msgspec.Struct, frozen=True):
    """A token whose form and header have passed."""

    token: str
    payload: str
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

    def open(self, token: str) -> Presented:
        """Check form and header; raises TokenMalformed."""
        header, payload, _ = compact.split(token)
        return Presented(token, payload, compact.read_header(header).kid)

    def must_fetch(self, kid: str) -> bool:
        """Whether the issuer should be asked for its keys first."""
        return self._keys.must_fetch(kid, self._steady())

    def can_do_without(self, kid: str) -> bool:
        """Whether a key is at hand, though perhaps an old one."""
        return self._keys.find(kid, self._steady()) is not None

    def begin_fetch(self, kid: str) -> None:
        """Note that the issuer is being asked now."""
        self._keys.begin_fetch(kid, self._steady())

    def take(self, body: bytes, cache_control: str) -> bool:
        """Take the issuer's answer; False when it holds no key of use."""
        return self._keys.take(body, cache_control, self._steady())

    def conclude(self, presented: Presented) -> EntityToken:
        """The verified token; raises TokenRefused or KeysUnavailable."""
        key = self._keys.find(presented.kid, self._steady())
        if key is None:
            raise self._no_key()
        now = self._wall()
        if not self._remember:
            return check(presented.token, presented.payload, key, self._expected, now)
        digest = hashlib.sha256(presented.token.encode()).digest()
        known = self._passed.get(digest)
        if known is not None and known[:2] == (self._keys.generation, presented.kid):
            entity = known[2]
            check_time(entity.expires_at.timestamp(), None, entity.issued_at.timestamp(), now)
            return entity
        entity = check(presented.token, presented.payload, key, self._expected, now)
        self._passed[digest] = (self._keys.generation, presented.kid, entity)
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
