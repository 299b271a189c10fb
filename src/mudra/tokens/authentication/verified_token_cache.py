"""Tokens whose signature was verified, remembered until they expire.

A member sends the same token for a day, and what its signature proves does not
change. What may change is checked every time: the clock, whether the key is
still published, and, by the callers of this, revocation and rights.
"""

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from mudra.shared.secret_text import SecretText
from mudra.tokens.authentication.token_check import (
    LEEWAY_S,
    FindKey,
    TokenExpired,
    TokenInvalid,
    TokenVerification,
    VerifiedToken,
    verify_token,
)
from mudra.tokens.claims import TokenTerms

_MAX_COUNT: Final = 5_000
_LEEWAY: Final = timedelta(seconds=LEEWAY_S)


class VerifiedTokenCache:
    """Verifies tokens, each signature once. Keeps digests and claims, never a token's text."""

    def __init__(
        self,
        terms: TokenTerms,
        find_key: FindKey,
        clock: Callable[[], datetime],
        issuer_of: Callable[[str], str] = lambda _: "",
        most: int = _MAX_COUNT,
    ) -> None:
        self._terms = terms
        self._find_key = find_key
        self._clock = clock
        self._issuer_of = issuer_of
        self._most = most
        self._verified: OrderedDict[bytes, VerifiedToken] = OrderedDict()

    def __len__(self) -> int:
        """Return how many tokens are remembered."""
        return len(self._verified)

    def verify(self, token: SecretText) -> TokenVerification:
        """Return the verified token, or why it is not valid."""
        digest = sha256(token.reveal().encode()).digest()
        cached = self._verified.get(digest)
        now = self._clock()
        if cached is not None and self._is_still_valid(cached, now):
            return cached
        outcome = verify_token(token.reveal(), self._terms, self._find_key, now, self._issuer_of)
        if isinstance(outcome, VerifiedToken):
            self._verified[digest] = outcome
            self._verified.move_to_end(digest)
            if len(self._verified) > self._most:
                self._verified.popitem(last=False)
        else:
            self._verified.pop(digest, None)
        return outcome

    def verified_before(self, token: VerifiedToken) -> TokenVerification:
        """Return what `verify` would of a token that it returned, without its signature."""
        now = self._clock()
        if self._is_still_valid(token, now):
            return token
        ended = now >= token.expires_at + _LEEWAY
        return TokenExpired(token.expires_at) if ended else TokenInvalid()

    def _is_still_valid(self, token: VerifiedToken, now: datetime) -> bool:
        in_time = token.issued_at <= now + _LEEWAY and now < token.expires_at + _LEEWAY
        found = self._find_key(token.kid) if in_time else None
        return found is not None and found[0] is token.kind
