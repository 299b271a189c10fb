"""The latest health of the network, for many readers: the database is read once in some seconds."""

from collections.abc import Callable
from datetime import datetime, timedelta
from math import inf
from typing import Final

from mudra.metrics.health.health_service import HealthService
from mudra.metrics.health.network_health import NetworkHealth
from mudra.metrics.payload.catalogue import window_start
from mudra.metrics.rollup.coverage import latest
from mudra.shared.waiting.made_once import MadeOnce
from mudra.storage.database.transaction import OpenTransaction

READ_S: Final = 10.0
"""The limit of one read: a day without its sums, on a busy machine, takes seconds."""
TTL_S: Final = 10.0
REST: Final = 20
"""So many times as long as a read took no other begins: it has a twentieth of a processor."""
FEED_SPAN: Final = timedelta(hours=1)
PUBLIC_SPAN: Final = timedelta(days=1)


def _lives_s(took_s: float) -> float:
    # The sandbox's clock may be moved during a read: it took no longer than it may.
    return max(TTL_S, REST * min(READ_S, took_s))


class LatestHealth:
    """One result for all readers, until some seconds have passed or the next window closes."""

    def __init__(self, span: timedelta, monotonic: Callable[[], float]) -> None:
        self._span = span
        self._made = MadeOnce(monotonic, lives_s=_lives_s, idle_s=inf)
        self._changes = 0

    def spoil(self) -> None:
        """Has the next reader read again."""
        self._changes += 1

    async def get(self, open_transaction: OpenTransaction, now: datetime) -> NetworkHealth:
        """Returns the health of the network, from memory or read within `READ_S` seconds."""
        closed = window_start(now)

        async def read() -> NetworkHealth:
            async with open_transaction(within_s=READ_S) as tx:
                return await tx.service(HealthService).network(latest(closed, self._span), now)

        return await self._made.get("network", (closed, self._changes), read)
