"""One read for many callers who wait for the same, also when it fails."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mudra.shared.unavailable import ServiceUnavailable


class SharedRead:
    """The turn to read what all callers need.

    A caller that has its turn looks first whether another has read it meanwhile. When the read of
    one fails with ServiceUnavailable, those who wait fail with it: one after the other, each would
    wait its own time for a database that is gone (quality F3).
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._failures = 0
        self._failure: ServiceUnavailable | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the turn and have it; raises ServiceUnavailable when a read failed meanwhile."""
        failures = self._failures
        async with self._lock:
            if self._failure is not None and failures != self._failures:
                raise self._failure.with_traceback(None)
            try:
                yield
            except ServiceUnavailable as failure:
                self._failures += 1
                self._failure = failure
                raise
