"""The issuer's list of tokens that ended before their `exp`, and when to ask for it. No I/O.

Read again every 15 seconds while tokens are verified, so that a token that was revoked, or whose
entity was suspended, is refused within a minute. Without the issuer the last list stays in use.
An issuer that has sent a list once has one: a 404 of it is a failure like any other.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from joserfc.jwk import RSAKey

from mudra.client.clock import Seconds
from mudra.client.entity_token import EntityToken
from mudra.client.errors import (
    PAUSE_SECONDS,
    RevocationsUnavailable,
    SignatureRefused,
    TokenRevoked,
)
from mudra.client.signing.body_signature import RegisteredKey, signing_key_id
from mudra.client.verification.compact import ALGORITHM, WAY_OUT

REFRESH_SECONDS: Final = 15.0
ABSENT_SECONDS: Final = 600.0
"""Between two attempts when the issuer has no list."""
LEEWAY_SECONDS: Final = 60
MAX_LIST_BYTES: Final = 8 * 1024 * 1024


class ListRefused(Exception):
    """The response is no list of this issuer that is valid now; the text says why, for the log."""


def check_size(size: int) -> None:
    """Raise ListRefused once a response is larger than any list."""
    if size > MAX_LIST_BYTES:
        raise ListRefused(f"it has more than {MAX_LIST_BYTES} bytes")


class _List(msgspec.Struct, frozen=True, rename="camel"):
    issuer: str
    issued_at: int
    valid_until: int
    revoked: frozenset[str]
    not_before: Mapping[str, int]


class Revocations:
    """The last list of one issuer. Times are seconds: `wall` of the date, `steady` for pauses."""

    def __init__(self, issuer: str, max_age: float | None, wall: Seconds, steady: Seconds) -> None:
        self.url = f"{issuer.rstrip('/')}/revocations"
        self._issuer = issuer
        self._max_age = max_age
        self._wall = wall
        self._steady = steady
        self._list: _List | None = None
        self._received_at = self._next_at = float("-inf")

    @property
    def is_empty(self) -> bool:
        """Return whether no list was received yet."""
        return self._list is None

    def must_fetch(self) -> bool:
        """Return whether to ask for the list before the next token is checked."""
        return self._steady() >= self._next_at

    def is_absent(self, status: int) -> bool:
        """Return whether the issuer has no such list; raises ListRefused unless it sent one."""
        if status in {404, 410} and self._list is None and self._max_age is None:
            return True
        if status != 200:  # noqa: PLR2004 -- the status OK
            raise ListRefused(f"the answer was {status}")
        return False

    def fetched(self, *, failed: bool, absent: bool = False) -> None:
        """Record that the issuer was asked, so that it is asked again after a pause."""
        pause = ABSENT_SECONDS if absent else PAUSE_SECONDS if failed else REFRESH_SECONDS
        self._next_at = self._steady() + pause

    def replace(
        self, body: bytes, signature: str, find_key: Callable[[str], RSAKey | None]
    ) -> None:
        """Take a list over that the issuer signed; raises ListRefused for any other."""
        check_size(len(body))
        received = _read(body, signature, find_key)
        now = self._wall()
        if received.issuer != self._issuer:
            raise ListRefused("it is the list of another issuer")
        if not received.issued_at - LEEWAY_SECONDS <= now <= received.valid_until + LEEWAY_SECONDS:
            raise ListRefused("it is not valid now; compare the clocks")
        if self._list is not None and received.issued_at < self._list.issued_at:
            raise ListRefused("it is older than the last one")
        self._list, self._received_at = received, self._steady()

    def check(self, token: EntityToken) -> None:
        """Raise TokenRevoked for a token in the list, RevocationsUnavailable for a list too old."""
        if self._max_age is not None and self._steady() - self._received_at > self._max_age:
            raise RevocationsUnavailable(
                f"no list of revoked tokens was received for {self._max_age:.0f} seconds",
                "answer 503; the log has the reason, and the library tries again",
            )
        if self._list is None:
            return
        ended_before = self._list.not_before.get(token.entity_id, 0)
        if token.jti in self._list.revoked or token.issued_at.timestamp() < ended_before:
            raise TokenRevoked("the token was ended before it expired", WAY_OUT)


def _read(body: bytes, signature: str, find_key: Callable[[str], RSAKey | None]) -> _List:
    try:
        kid = signing_key_id(signature)
        key = find_key(kid)
        if key is None:
            raise ListRefused("it was signed by a key that the issuer does not publish")
        RegisteredKey(key, kid, ALGORITHM).check(body, signature)
        return msgspec.json.decode(body, type=_List)
    except (SignatureRefused, ValueError, TypeError, RecursionError) as error:
        raise ListRefused(f"its signature or form is wrong ({type(error).__name__})") from error
