"""Requests take turns at the connections: they queue while the database works, and fail when not.

With more to do than connections, a request waits for its turn, in rotation by client; one client
has half of them at most (decision 0220). While nothing succeeds because the database hangs or is
gone, those that wait are refused at once, and one request at a time tries whether it is back.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from mudra.shared.fair_queue import CLIENT, Queue
from mudra.shared.unavailable import DatabaseUnavailable, Outage

QUEUE_S: Final = 10.0
"""How long a request waits for its turn while others are served."""
GIVE_UP_S: Final = 2.0
"""A lost connection after so long without a success means that the database is gone."""
OUTAGE_WAIT_S: Final = 1.0
"""How long a request waits for its turn while the database is gone."""


class Turns:
    """The turns of one process. `connections` requests have one at the same time."""

    def __init__(self, connections: int) -> None:
        self._free = Queue(connections, per_key=max(1, connections // 2))
        self._trying = Queue(1)
        self._succeeded_at = float("-inf")
        self._gone: Outage | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn and have it; raises DatabaseUnavailable when there is none in time."""
        if self._gone is not None:
            async with self._place_of(self._trying, OUTAGE_WAIT_S):
                if self._gone is not None:
                    async with self._place_of(self._free, OUTAGE_WAIT_S):
                        yield
                    return
        async with self._place_of(self._free, QUEUE_S):
            yield

    @asynccontextmanager
    async def _place_of(self, queue: Queue, wait_s: float) -> AsyncIterator[None]:
        client = CLIENT.get()
        keys = (client,) if client else ()
        if not await queue.enter(*keys, wait_s=wait_s):
            raise DatabaseUnavailable("no turn in time", self._gone or Outage.ALL_IN_USE)
        try:
            yield
        finally:
            queue.leave(*keys)

    def succeeded(self) -> None:
        """Note that the database did something."""
        self._succeeded_at = asyncio.get_running_loop().time()
        self._gone = None

    def lost(self, cause: Outage) -> None:
        """Note a lost connection; refuse those who wait with its cause if nothing succeeds."""
        if asyncio.get_running_loop().time() - self._succeeded_at < GIVE_UP_S:
            return
        self._gone = cause
        self._free.turn_away()
        self._trying.turn_away()
