"""The signed revocation list in this node's memory, made again when anything in it may change."""

from time import monotonic
from typing import Final

from msgspec import Struct

from mudra.shared.shared_read import SharedRead
from mudra.storage.caching.cache_invalidation import CacheInvalidation, entity_key, revoked_key
from mudra.storage.database.database import Database
from mudra.storage.tokens.entity_status import ended_tokens
from mudra.tokens.issuing.claims import TokenKind
from mudra.tokens.ports import SignedList, Signer
from mudra.tokens.revocation.revocation_list import EndedTokens, revocation_list

_LIFE_S: Final = 10.0
_PREFIXES: Final = (entity_key(""), revoked_key(""))


class _Made(Struct, frozen=True):
    """The last list: it is sent again while nothing in it changes, so that its ETag holds."""

    of: EndedTokens
    signed: SignedList
    at: float


class RevocationListCache:
    """Implements tokens/ports.py RevocationLists."""

    def __init__(
        self,
        database: Database,
        invalidation: CacheInvalidation,
        signer: Signer,
        issuer: str,
    ) -> None:
        self._database = database
        self._invalidation = invalidation
        self._signer = signer
        self._issuer = issuer
        self._list: SignedList | None = None
        self._made = _Made(EndedTokens((), {}), SignedList(b"", ""), float("-inf"))
        self._read_at = self._changed_at = float("-inf")
        self._reading = SharedRead()
        invalidation.on_change(self._on_change)

    def _on_change(self, key: str) -> None:
        if key == "*" or key.startswith(_PREFIXES):
            self._list, self._changed_at = None, monotonic()

    def _cached(self) -> SignedList | None:
        # Each of these changes is fenced: until its commit is announced, every call asks storage.
        is_current = self._changed_at < self._read_at and monotonic() - self._read_at < _LIFE_S
        return self._list if is_current and self._invalidation.are_valid(_PREFIXES) else None

    async def current(self) -> SignedList:
        """Return a list that is seconds old at most and has every committed revocation."""
        found = self._cached()
        if found is not None:
            return found
        called_at = monotonic()
        async with self._reading.turn():
            # A read that began while this call waited serves every call that waited.
            if self._list is None or self._read_at < called_at:
                self._list = await self._read()
            return self._list

    async def _read(self) -> SignedList:
        await self._signer.ready()
        self._read_at = monotonic()
        async with self._database.transaction() as transaction:
            # One clock for all nodes: members refuse a list that is older than their last one.
            now = await transaction.now()
            ended = await ended_tokens(transaction)
        if ended != self._made.of or self._read_at - self._made.at >= _LIFE_S:
            body = revocation_list(self._issuer, ended, now)
            signed = SignedList(body, self._signer.sign_detached(TokenKind.ENTITY, body))
            self._made = _Made(ended, signed, self._read_at)
        return self._made.signed
