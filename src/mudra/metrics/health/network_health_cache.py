"""Network health for many readers: the database is read once in some seconds."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from mudra.metrics.health.health_service import NetworkHealth, OpenHealth
from mudra.metrics.payload.catalogue import window_start
from mudra.metrics.rollup.coverage import latest
from mudra.shared.shared_read import SharedRead

TTL_S: Final = 10.0
REST: Final = 20
"""So many times as long as a read took no other begins: it has a twentieth of a processor."""
FEED_SPAN: Final = timedelta(hours=1)
PUBLIC_SPAN: Final = timedelta(days=1)


class NetworkHealthCache:
    """One result for all readers, until some seconds have passed or the next window closes."""

    def __init__(self, span: timedelta, monotonic: Callable[[], float]) -> None:
        self._span = span
        self._monotonic = monotonic
        self._reading = SharedRead()
        self._until = 0.0
        self._closed: datetime | None = None
        self._changes = self._read = 0
        self._health: NetworkHealth | None = None

    def spoil(self) -> None:
        """Has the next reader read again."""
        self._changes += 1

    async def get(self, open_work: OpenHealth, now: datetime, within_s: float) -> NetworkHealth:
        """Returns the health of the network, if not cached read within `within_s` seconds."""
        async with self._reading.turn():
            closed = window_start(now)
            expired = (
                closed != self._closed
                or self._changes != self._read
                or self._monotonic() > self._until
            )
            if self._health is None or expired:
                changes, began = self._changes, self._monotonic()
                async with open_work(within_s=within_s) as work:
                    self._health = await work.health.network(latest(closed, self._span), now)
                self._read = changes
                self._closed, ended = closed, self._monotonic()
                # The sandbox's clock may be moved during a read: it took no longer than it may.
                self._until = ended + max(TTL_S, REST * min(within_s, ended - began))
            return self._health
