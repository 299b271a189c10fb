"""Waiting one's turn without a connection to the database.

One at a time for what the database would serialise anyway: a hundred resets of
one entity at once would else hold every connection of this process while they
wait for one row, and the rest would be answered 503. A few at a time for what comes
in floods and is in no hurry, so that the rest of this process goes on.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from weakref import WeakValueDictionary


class KeyedLock:
    """A queue for each key, in order of arrival; it is gone when it is empty."""

    def __init__(self) -> None:
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, key: str) -> asyncio.Lock:
        """Give the queue of a key: `async with turns.of(key)` is one turn."""
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = asyncio.Lock()
        return queue


class Bulkhead:
    """`most` turns at the same time, each waited for at most `wait_s` seconds."""

    def __init__(self, most: int, wait_s: float) -> None:
        self._places = asyncio.Semaphore(most)
        self.wait_s = wait_s

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[bool]:
        """Wait for a turn and keep it for the block; False when none came in time."""
        try:
            async with asyncio.timeout(self.wait_s):
                await self._places.acquire()
        except TimeoutError:
            yield False
            return
        try:
            yield True
        finally:
            self._places.release()
