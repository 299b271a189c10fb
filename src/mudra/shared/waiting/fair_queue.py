"""The queue of this process: for all that waits for one of a few places (decision 0010)."""

import asyncio
import contextlib
from bisect import insort
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator
from contextvars import ContextVar
from math import inf
from typing import Final

from msgspec import Struct

CLIENT: Final[ContextVar[str]] = ContextVar("client", default="")
"""The key of the client whose request this is: its address (IPv6 by /64); empty for own work."""


class Patience(Struct, frozen=True):
    """A longer wait, `wait_s`, for the first `per_key` that wait of a key, and `in_all` of all."""

    wait_s: float
    per_key: int
    in_all: int


NO_PATIENCE: Final = Patience(0.0, 0, 0)


class _Waiter:
    """One that waits: the keys that it counts for, and its number in the queue."""

    def __init__(self, keys: frozenset[str], number: int) -> None:
        self.keys = keys
        self.number = number
        self.admitted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()


class Queue:
    """`places` at the same time, at most `per_key` of them for one key, in a fair order.

    The order is that of arrival, but a key that waits for many places gets numbers that are
    further and further away (start-time fair queuing): one that waits for another key passes
    them. A wait ends after `wait_s` seconds; where no more wait than `patience` says, it is
    longer. With `most_waiting` in the queue, a newcomer is refused at once, or takes the place of
    the last one if its own number is lower. Keys are forgotten when they neither hold nor wait.
    """

    def __init__(
        self,
        places: float = inf,
        wait_s: float = inf,
        *,
        per_key: float = inf,
        most_waiting: float = inf,
        patience: Patience = NO_PATIENCE,
    ) -> None:
        self.wait_s = wait_s
        self._free = places
        self._per_key = per_key
        self._most_waiting = most_waiting
        self._patience = patience
        self._patient = 0
        self._reached = 0
        """The number of the last one that was served."""
        self._held: Counter[str] = Counter()
        self._waiting: list[_Waiter] = []
        self._of_key: defaultdict[str, deque[_Waiter]] = defaultdict(deque)

    @property
    def remembered(self) -> int:
        """Return how many keys hold a place or wait."""
        return len(self._held.keys() | self._of_key.keys())

    @contextlib.asynccontextmanager
    async def turn(self, *keys: str) -> AsyncIterator[bool]:
        """Wait for a place and hold it for the block; False when none was free in time."""
        admitted = await self.enter(*keys)
        try:
            yield admitted
        finally:
            if admitted:
                self.leave(*keys)

    async def enter(self, *keys: str, wait_s: float | None = None) -> bool:
        """Wait for a place, which the caller gives back with `leave`; False when none came in time.

        `wait_s` replaces the wait of the queue.
        """
        distinct = frozenset(keys)
        # Those that wait could not be served either: their keys hold their share.
        if self._free > 0 and self._has_share(distinct):
            self._take(distinct)
            return True
        patience, longest = self._patience, self._longest_line(distinct)
        waiter = self._joined(distinct)
        if waiter is None:
            return False
        patient = longest < patience.per_key and self._patient < patience.in_all
        self._patient += patient
        usual_s = self.wait_s if wait_s is None else wait_s
        within_s = patience.wait_s if patient else usual_s
        try:
            async with asyncio.timeout(within_s if within_s < inf else None):
                return await waiter.admitted
        except BaseException as ended:
            self._give_up(waiter)
            if isinstance(ended, TimeoutError):
                return False
            raise
        finally:
            self._patient -= patient

    def leave(self, *keys: str) -> None:
        """Give a place back that `enter` gave for the same keys."""
        self._give_back(frozenset(keys))

    def turn_away(self) -> None:
        """Refuse all that wait now."""
        for waiter in self._waiting:
            if not waiter.admitted.done():
                waiter.admitted.set_result(False)
        self._waiting.clear()
        self._of_key.clear()

    def _joined(self, keys: frozenset[str]) -> _Waiter | None:
        """Return a new waiter in its place; None when the queue is full and it would be last."""
        before = [self._of_key[key][-1].number for key in keys if key in self._of_key]
        waiter = _Waiter(keys, max([self._reached, *before]) + 1)
        if len(self._waiting) >= self._most_waiting:
            last = self._waiting[-1]
            if last.number <= waiter.number:
                return None
            self._drop(last)
            if not last.admitted.done():
                last.admitted.set_result(False)
        insort(self._waiting, waiter, key=lambda one: one.number)
        for key in keys:
            self._of_key[key].append(waiter)
        return waiter

    def _longest_line(self, keys: frozenset[str]) -> int:
        return max((len(self._of_key[key]) for key in keys if key in self._of_key), default=0)

    def _give_up(self, waiter: _Waiter) -> None:
        if not waiter.admitted.done() or waiter.admitted.cancelled():
            if waiter in self._waiting:
                self._drop(waiter)
        elif waiter.admitted.result():
            self._give_back(waiter.keys)  # its place came in the same moment

    def _drop(self, waiter: _Waiter) -> None:
        self._waiting.remove(waiter)
        for key in waiter.keys:
            self._of_key[key].remove(waiter)
            if not self._of_key[key]:
                del self._of_key[key]

    def _has_share(self, keys: frozenset[str]) -> bool:
        return all(self._held[key] < self._per_key for key in keys)

    def _take(self, keys: frozenset[str]) -> None:
        self._free -= 1
        self._held.update(keys)

    def _give_back(self, keys: frozenset[str]) -> None:
        self._free += 1
        self._held.subtract(keys)
        for key in keys:
            if not self._held[key]:
                del self._held[key]
        self._serve()

    def _serve(self) -> None:
        """Give free places to those that wait; one whose wait has just ended gives up itself."""
        while self._free > 0:
            waiter = next(filter(self._may_be_next, self._waiting), None)
            if waiter is None:
                return
            self._drop(waiter)
            self._take(waiter.keys)
            self._reached = max(self._reached, waiter.number)
            waiter.admitted.set_result(True)

    def _may_be_next(self, waiter: _Waiter) -> bool:
        return not waiter.admitted.done() and self._has_share(waiter.keys)
