"""Tokens whose signature was found good, remembered until they end.

A member sends the same token for a day; what its signature proves does not
change meanwhile. What may change is asked every time: the clock, whether the
key is still published, and, by the callers of this, revocation and rights.
"""

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from joserfc.jwk import RSAKey

from mudra.shared.secret_text import SecretText
from mudra.tokens.authentication.token_check import (
    LEEWAY_S,
    FindKey,
    TokenFacts,
    TokenVerdict,
    examine,
)
from mudra.tokens.issuing.claims import TokenKind, TokenTerms

_MAX_COUNT: Final = 5_000
_LEEWAY: Final = timedelta(seconds=LEEWAY_S)


class VerifiedTokenCache:
    """Examines tokens, each signature once. Keeps digests and claims, never a token's text."""

    def __init__(self, terms: TokenTerms, find_key: FindKey, clock: Callable[[], datetime]) -> None:
        self._terms = terms
        self._find_key = find_key
        self._clock = clock
        self._kept: OrderedDict[bytes, tuple[str, TokenFacts]] = OrderedDict()

    def examine(self, token: SecretText) -> TokenVerdict:
        """Tell what a token says, or why it does not stand."""
        digest = sha256(token.reveal().encode()).digest()
        kept = self._kept.get(digest)
        now = self._clock()
        if kept is not None and self._still_stands(*kept, now):
            return kept[1]
        kids: list[str] = []

        def find(kid: str) -> tuple[TokenKind, RSAKey] | None:
            kids.append(kid)
            return self._find_key(kid)

        verdict = examine(token.reveal(), self._terms, find, now)
        if isinstance(verdict, TokenFacts):
            self._kept[digest] = kids[-1], verdict
            self._kept.move_to_end(digest)
            if len(self._kept) > _MAX_COUNT:
                self._kept.popitem(last=False)
        else:
            self._kept.pop(digest, None)
        return verdict

    def _still_stands(self, kid: str, facts: TokenFacts, now: datetime) -> bool:
        in_time = facts.issued_at <= now + _LEEWAY and now < facts.expires_at + _LEEWAY
        found = self._find_key(kid) if in_time else None
        return found is not None and found[0] is facts.kind
