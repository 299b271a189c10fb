"""A measure of how long any one request keeps a worker from its other requests."""

import asyncio
from collections.abc import Callable
from typing import Final

from mudra.bootstrap.observability.telemetry import (
    CLOCK_AHEAD,
    LOOP_HOLDS,
    REQUESTS,
    SECONDS,
    WITHOUT_DATABASE,
)
from mudra.storage.caching.without_database import WithoutDatabase
from mudra.storage.database.clock_watch import ClockWatch

INTERVAL_S: Final = 0.05
LOOKS_AFTER: Final = 60
"""After the last arrival, for as long as a transaction may take (3 s)."""


class LoopWatch:
    """Wakes 20 times a second while requests arrive, and notes how late it was woken.

    Only as far as this thread used CPU meanwhile: on a busy machine the rest is the wait for a
    processor, which is no fault of a request. A connection on which nothing arrives wakes no one.
    """

    def __init__(
        self,
        monotonic: Callable[[], float],
        thread_time: Callable[[], float],
        share: Callable[[], float],
    ) -> None:
        """`share` gives a random number below 1."""
        self._monotonic = monotonic
        self._thread_time = thread_time
        self._share = share
        self._looks_left = 0
        self._is_running = False
        self._due = self._used = 0.0
        self._holds: list[float] = []

    def arrived(self) -> None:
        """Watch from now on; to be called before what arrived is looked at."""
        self._looks_left = LOOKS_AFTER
        if not self._is_running:
            self._is_running = True
            # At a random moment: at a fixed one after each arrival, shorter holds went unseen.
            self._sleep(INTERVAL_S * self._share())

    def _sleep(self, seconds: float) -> None:
        self._due, self._used = self._monotonic() + seconds, self._thread_time()
        asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        late = self._monotonic() - self._due
        self._holds.append(max(0.0, min(late, self._thread_time() - self._used)))
        self._looks_left -= 1
        self._is_running = self._looks_left > 0
        if self._is_running:
            self._sleep(INTERVAL_S)

    def flush(self) -> None:
        """Count what was noted since the last time."""
        if self._holds:
            holds, self._holds = self._holds, []
            LOOP_HOLDS.observe_all(holds)


_Key = tuple[str, str, int]
"""Path, method, status."""


class RequestMetrics:
    """Gathers; `flush` counts what was gathered."""

    def __init__(self, clock_watch: ClockWatch, without_database: WithoutDatabase) -> None:
        self._clock_watch = clock_watch
        self._without_database = without_database
        self._seconds: dict[_Key, list[float]] = {}

    def note(self, path: str, method: str, status: int, seconds: float) -> None:
        """Note an answered request; the caller bounds how many paths there are."""
        key = (path, method, status)
        gathered = self._seconds.get(key)
        if gathered is None:
            gathered = self._seconds[key] = []
        gathered.append(seconds)

    def flush(self) -> None:
        """Count what was gathered since the last time."""
        gathered, self._seconds = self._seconds, {}
        for (path, method, status), seconds in gathered.items():
            REQUESTS.labels(path, method, str(status)).inc(len(seconds))
            SECONDS.labels(path).observe_all(seconds)
        CLOCK_AHEAD.set(self._clock_watch.ahead.total_seconds())
        WITHOUT_DATABASE.set(self._without_database.seconds())
