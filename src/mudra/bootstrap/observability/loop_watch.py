"""Measures how long a worker is kept from its other requests by any one of them."""

import asyncio
from collections.abc import Callable
from typing import Final

from mudra.bootstrap.observability.telemetry import LOOP_HOLDS

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
