"""Limits of pushes: at once, at the database, and of one AA in ten minutes (M6)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Final, Protocol

from mudra.metrics.payload.catalogue import Tag
from mudra.shared.refusal import Refusal

MAX_ADMITTED: Final = 32
MAX_AT_DATABASE: Final = 4
RETRY_S: Final = (5, 60)
"""A refused push may be retried after so many seconds, chosen at random between the two."""


class TooBusyForPushes(Refusal, frozen=True):
    """As many pushes are in progress as this node accepts at once."""

    retry_after_s: int


class TooManyPushes(Refusal, frozen=True):
    """More pushes of one AA and tag than agents need, also while they catch up."""

    retry_after_s: int


class RateLimit(Protocol):
    """A limit for each key."""

    def wait_s(self, key: str) -> int:
        """Counts one use and returns 0, or the seconds until the next is permitted."""
        ...


class PushLimits:
    """Admits a bounded number of pushes, and lets few at the database at a time."""

    def __init__(
        self,
        rate: RateLimit,
        random_retry_s: Callable[[int, int], int],
        admitted: int = MAX_ADMITTED,
        at_database: int = MAX_AT_DATABASE,
    ) -> None:
        self._rate = rate
        self._random_retry_s = random_retry_s
        self._free = admitted
        self._at_database = asyncio.Semaphore(at_database)

    def admit(self) -> TooBusyForPushes | None:
        """Takes a place, to be returned with `leave`, before anything of the body is read."""
        if not self._free:
            # At random, so that refused pushes are not retried all at once.
            return TooBusyForPushes(self._random_retry_s(*RETRY_S))
        self._free -= 1
        return None

    def leave(self) -> None:
        """Returns the place."""
        self._free += 1

    def use_rate(self, aa_id: str, tag: Tag | None) -> TooManyPushes | None:
        """Counts a push of an AA; refused payloads (no tag) are counted separately."""
        wait_s = self._rate.wait_s(f"{aa_id}\0{tag.value if tag else 'refused'}")
        return TooManyPushes(wait_s) if wait_s else None

    @contextlib.asynccontextmanager
    async def at_database(self) -> AsyncIterator[None]:
        """Waits for a place at the database."""
        async with self._at_database:
            yield
