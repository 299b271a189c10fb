"""Limits of pushes: of one AA in ten minutes, and at once, shared fairly between AAs."""

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Final, Protocol

from mudra.metrics.payload.catalogue import Tag
from mudra.shared.refusal import WAIT_TEXT, Refusal, RefusalKind
from mudra.shared.waiting.fair_queue import Queue

MAX_UPLOADS: Final = 128
MAX_UPLOADS_OF_ONE: Final = 8
"""Four times what an agent sends at once. Bodies of other AAs are read meanwhile."""
MAX_AT_DATABASE: Final = 4
UPLOAD_WAIT_S: Final = 15.0
"""Longer than a slow body may take to fail, shorter than agents wait for an answer."""
DATABASE_WAIT_S: Final = 60.0
RETRY_S: Final = (5, 60)
"""A refused push may be retried after so many seconds, chosen at random between the two."""
_OF_ALL: Final = 3
"""The two payloads, and as many that are refused."""


class TooBusyForPushes(Refusal, frozen=True):
    """As many pushes are in progress as this node accepts at once, of one AA or in all."""

    kind = RefusalKind.BUSY
    sentence = (
        "as many pushes are in progress as can be accepted at once; nothing was stored, try again"
    )
    retry_after_s: int


class TooManyPushes(Refusal, frozen=True):
    """More pushes of one AA and tag than agents need, also while they catch up."""

    kind = RefusalKind.LIMITED
    sentence = f"more pushes of this tag than are permitted; {WAIT_TEXT}"
    retry_after_s: int


class RateLimit(Protocol):
    """A limit for each key."""

    def wait_s(self, key: str) -> int:
        """Counts one use and returns 0, or the seconds until the next is permitted."""
        ...

    def next_wait_s(self, key: str) -> int:
        """Returns what `wait_s` would, and counts nothing."""
        ...


class PushLimits:
    """Bounds what one AA may ask for, so that the others are served meanwhile.

    `rate` is of one AA and payload, `rate_of_all` of all that one AA sends, whatever it is:
    that one is counted before a byte of the body is read.
    """

    def __init__(
        self,
        rate: RateLimit,
        rate_of_all: RateLimit,
        random_retry_s: Callable[[int, int], int],
        uploads: Queue,
    ) -> None:
        self._rate = rate
        self._rate_of_all = rate_of_all
        self._random_retry_s = random_retry_s
        self._uploads = uploads
        self._at_database = Queue(MAX_AT_DATABASE, DATABASE_WAIT_S)

    def use_rate_of_all(self, aa_id: str) -> TooManyPushes | None:
        """Counts a request of an AA before anything of it is read."""
        wait_s = self._rate_of_all.wait_s(aa_id)
        return TooManyPushes(wait_s) if wait_s else None

    def use_rate(self, aa_id: str, tag: Tag | None) -> TooManyPushes | None:
        """Counts a push of an AA; refused payloads (no tag) are counted separately."""
        wait_s = self._rate.wait_s(_key(aa_id, tag))
        return TooManyPushes(wait_s) if wait_s else None

    def may_be_refused(self, aa_id: str) -> bool:
        """Returns whether one more invalid payload of this AA would have its errors named."""
        return not self._rate.next_wait_s(_key(aa_id, None))

    @contextlib.asynccontextmanager
    async def upload(self, aa_id: str) -> AsyncIterator[TooBusyForPushes | None]:
        """Waits for one of the AA's own places, to be held until its push is answered."""
        async with self._uploads.turn(aa_id) as admitted:
            yield None if admitted else self.busy()

    @contextlib.asynccontextmanager
    async def at_database(self, aa_id: str) -> AsyncIterator[TooBusyForPushes | None]:
        """Waits for a place at the database: the AAs that wait come in rotation."""
        async with self._at_database.turn(aa_id) as admitted:
            yield None if admitted else self.busy()

    def busy(self) -> TooBusyForPushes:
        """Returns the refusal of a push that may be retried, at random, so not all at once."""
        return TooBusyForPushes(self._random_retry_s(*RETRY_S))


def upload_places() -> Queue:
    """Returns the places of a node, in the usual number."""
    return Queue(MAX_UPLOADS, UPLOAD_WAIT_S, per_key=MAX_UPLOADS_OF_ONE)


def of_all(limit: int) -> int:
    """Returns the limit of all that one AA sends, from the limit of one payload."""
    return limit * _OF_ALL


def _key(aa_id: str, tag: Tag | None) -> str:
    return f"{aa_id}\0{tag.value if tag else 'refused'}"
