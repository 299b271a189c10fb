"""Turns shared fairly between keys: who asks for many waits for himself, not others for him."""

import asyncio
import contextlib
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Iterator
from typing import Final

from msgspec import Struct

_Waiting = deque[asyncio.Future[None]]


class Patience(Struct, frozen=True):
    """A longer wait, `wait_s`, of the first `per_key` that wait of a key, and `in_all` of all."""

    wait_s: float
    per_key: int
    in_all: int


NO_PATIENCE: Final = Patience(0.0, 0, 0)


class FairTurns:
    """`max_turns` turns at the same time, at most `max_per_key` of them of one key.

    Keys that wait are served in rotation, each in its own order of arrival. A wait ends after
    `wait_s` seconds; where no more wait than `patience` says, it is longer. Keys are forgotten
    when they neither hold nor wait.
    """

    def __init__(
        self, max_turns: int, max_per_key: int, wait_s: float, patience: Patience = NO_PATIENCE
    ) -> None:
        self._free = max_turns
        self._max_per_key = max_per_key
        self._wait_s = wait_s
        self._patience = patience
        self._patient = 0
        self._held: Counter[str] = Counter()
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()

    @contextlib.asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[bool]:
        """Wait for a turn and keep it for the block; False when none came in time."""
        if not await self._enter(key):
            yield False
            return
        try:
            yield True
        finally:
            self._leave(key)

    def __len__(self) -> int:
        """Return how many keys are remembered."""
        return len(self._held.keys() | self._waiting.keys())

    async def _enter(self, key: str) -> bool:
        # Who waits already could not be served either, but for keys that hold their share.
        if self._free and self._held[key] < self._max_per_key:
            self._take(key)
            return True
        turn = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(key, deque())
        patience = self._patience
        patient = len(waiting) < patience.per_key and self._patient < patience.in_all
        waiting.append(turn)
        self._patient += patient
        try:
            async with asyncio.timeout(patience.wait_s if patient else self._wait_s):
                await turn
        except BaseException as ended:
            self._give_up(key, turn)
            if isinstance(ended, TimeoutError):
                return False
            raise
        finally:
            self._patient -= patient
        return True

    def _give_up(self, key: str, turn: asyncio.Future[None]) -> None:
        if turn.done() and not turn.cancelled():
            self._leave(key)  # it came in the same moment
            return
        waiting = self._waiting.get(key)
        if waiting is not None and turn in waiting:
            waiting.remove(turn)
            if not waiting:
                del self._waiting[key]
        self._forget(key)

    def _take(self, key: str) -> None:
        self._free -= 1
        self._held[key] += 1

    def _leave(self, key: str) -> None:
        self._free += 1
        self._held[key] -= 1
        self._forget(key)
        self._serve_next()

    def _forget(self, key: str) -> None:
        if not self._held[key]:
            del self._held[key]

    def _serve_next(self) -> None:
        for key in list(self._waiting):
            if not self._free:
                return
            if self._held[key] >= self._max_per_key:
                continue
            waiting = self._waiting.pop(key)
            turn = next((one for one in _popped(waiting) if not one.done()), None)
            if waiting:
                self._waiting[key] = waiting  # behind the others
            if turn is not None:
                self._take(key)
                turn.set_result(None)


def _popped(waiting: _Waiting) -> Iterator[asyncio.Future[None]]:
    """Take out the waiting turns in order; one whose wait has just ended is done."""
    while waiting:
        yield waiting.popleft()
