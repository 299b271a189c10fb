"""The ground of the two verifiers: everything except fetching the keys."""

import hashlib
from collections import OrderedDict

import msgspec
from joserfc.jwk import RSAKey

from mudra.client.clock import Seconds
from mudra.client.dpop.proof_check import check_binding
from mudra.client.dpop.proof_memory import UseProof
from mudra.client.entity_token import EntityToken
from mudra.client.errors import KeysUnavailable, SignatureRefused, UnknownKey
from mudra.client.signing.body_signature import RegisteredKey
from mudra.client.verification import compact
from mudra.client.verification.check import Expected, check, check_time
from mudra.client.verification.compact import TokenParts
from mudra.client.verification.key_cache import KeyCache
from mudra.shared.dpop_proof import PresentedProof

_NOT_SIGNED = "do not act on the body: it does not come from the issuer"


class ParsedToken(msgspec.Struct, frozen=True):
    """A token with a valid form and header."""

    parts: TokenParts
    kid: str


class Verification:
    """The keys, expectations and cache of one verifier. `remember` is the size of the cache."""

    def __init__(
        self,
        expected: Expected,
        remember: int,
        wall: Seconds,
        steady: Seconds,
        use_proof: UseProof,
    ) -> None:
        self._use_proof = use_proof
        self._expected = expected
        self._cache_size = remember
        self._wall = wall
        self._steady = steady
        self._keys = KeyCache()
        self._cache: OrderedDict[bytes, tuple[int, str, EntityToken]] = OrderedDict()

    def parse(self, token: str) -> ParsedToken:
        """Check form and header; raises TokenMalformed."""
        parts = compact.split(token)
        return ParsedToken(parts, compact.read_header(parts.header).kid)

    def must_fetch(self, kid: str) -> bool:
        """Return whether the issuer's keys must be fetched first."""
        return self._keys.must_fetch(kid, self._steady())

    def key(self, kid: str) -> RSAKey | None:
        """Return the issuer's key of this ID, from the cache."""
        return self._keys.find(kid, self._steady())

    def has_key(self, kid: str) -> bool:
        """Return whether the key is in the cache, though perhaps an old one."""
        return self.key(kid) is not None

    def fetched(self, kid: str, *, failed: bool) -> None:
        """Record that the keys were fetched, and whether it failed."""
        self._keys.fetched(kid, self._steady(), failed=failed)

    def replace(self, body: bytes, cache_control: str) -> bool:
        """Replace the keys; return False when none of the new ones is usable."""
        return self._keys.replace(body, cache_control, self._steady())

    def verify(self, parsed: ParsedToken) -> EntityToken:
        """Return the verified token; raises TokenRefused or KeysUnavailable."""
        key = self.key(parsed.kid)
        if key is None:
            raise self._no_key()
        now = self._wall()
        if not self._cache_size:
            return check(parsed.parts, key, self._expected, now)
        digest = _digest(parsed.parts)
        known = self._cache.get(digest)
        if known is not None and known[:2] == (self._keys.generation, parsed.kid):
            entity = known[2]
            check_time(entity.expires_at.timestamp(), None, entity.issued_at.timestamp(), now)
            return entity
        entity = check(parsed.parts, key, self._expected, now)
        self._cache[digest] = (self._keys.generation, parsed.kid, entity)
        while len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)
        return entity

    def check_binding(self, entity: EntityToken, token: str, proof: PresentedProof | None) -> None:
        """Raise ProofRefused unless a bound token comes with a new proof of its key."""
        if entity.bound_to:
            check_binding(entity, token, proof, self._use_proof, self._wall())

    def check_signature(self, kid: str, body: bytes, signature: str) -> None:
        """Raise SignatureRefused unless the issuer's key `kid` signed the body; or KeysUnavailable.

        A key that the issuer does not publish raises SignatureRefused too.
        """
        key = self.key(kid)
        if key is not None:
            RegisteredKey(key, kid, compact.ALGORITHM).check(body, signature)
            return
        missing = self._no_key()
        if isinstance(missing, KeysUnavailable):
            raise missing
        raise SignatureRefused("the body was signed by a key that is not published", _NOT_SIGNED)

    def _no_key(self) -> UnknownKey | KeysUnavailable:
        issuer = self._expected.issuer
        if self._keys.is_confirmed(self._steady()):
            return UnknownKey(
                f"{issuer} does not publish the key that the token names", compact.WAY_OUT
            )
        return KeysUnavailable(
            f"the keys of {issuer} could not be fetched",
            "answer 503; the log has the reason, and the library tries again",
        )


def _digest(parts: TokenParts) -> bytes:
    """Return the key of the cache: a digest, not the token itself."""
    return hashlib.sha256(parts.signed.encode() + b"." + parts.signature).digest()
