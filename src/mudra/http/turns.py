"""One at a time for what the database would serialise anyway, waiting without a connection.

A hundred resets of one entity at once would else hold every connection of this
process while they wait for one row, and the rest would be told 503.
"""

import asyncio
from weakref import WeakValueDictionary


class Turns:
    """A queue for each key, in order of arrival; it is gone when nobody waits in it."""

    def __init__(self) -> None:
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, key: str) -> asyncio.Lock:
        """Give the queue of a key: `async with turns.of(key)` is one turn."""
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = asyncio.Lock()
        return queue
