"""Measures how long a worker is kept from its other requests by any one of them."""

import asyncio
from collections.abc import Callable
from typing import Final

from mudra.bootstrap.observability.telemetry import LOOP_HOLDS

INTERVAL_S: Final = 0.05
_UNUSED_INTERVAL_S: Final = 0.5


class LoopWatch:
    """Wakes 20 times a second while anyone is connected, and notes how late it was woken.

    Only as far as this thread used CPU meanwhile: on a busy machine the rest is the wait for a
    processor, which is no fault of a request.
    """

    def __init__(
        self,
        monotonic: Callable[[], float],
        thread_time: Callable[[], float],
        is_connected: Callable[[], bool],
    ) -> None:
        self._monotonic = monotonic
        self._thread_time = thread_time
        self._is_connected = is_connected
        self._holds: list[float] = []

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            interval = INTERVAL_S if self._is_connected() else _UNUSED_INTERVAL_S
            due, used = self._monotonic() + interval, self._thread_time()
            await asyncio.sleep(interval)
            late = self._monotonic() - due
            self._holds.append(max(0.0, min(late, self._thread_time() - used)))

    def flush(self) -> None:
        """Count what was noted since the last time."""
        holds, self._holds = self._holds, []
        LOOP_HOLDS.observe_all(holds)
