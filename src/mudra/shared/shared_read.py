"""One read for many callers who wait for the same, also when it fails."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from mudra.shared.unavailable import DatabaseUnavailable, ServiceUnavailable


def is_unavailable(failure: Exception) -> bool:
    """Return whether all who ask now fail alike."""
    return isinstance(failure, ServiceUnavailable)


def is_gone(failure: Exception) -> bool:
    """Return whether all fail alike who wait in transactions of their own.

    Each has its own time there: when that of one is over, the others have some left (0137).
    """
    if isinstance(failure, DatabaseUnavailable) and failure.of_own_time:
        return False
    return is_unavailable(failure)


class SharedRead:
    """The turn to read what all callers need.

    A caller that has its turn looks first whether another has read it meanwhile. When the read of
    one fails as it would for all, those who wait fail with it: one after the other, each would
    wait its own time for a database that is gone.
    """

    def __init__(self, is_of_all: Callable[[Exception], bool] = is_unavailable) -> None:
        self._is_of_all = is_of_all
        self._lock = asyncio.Lock()
        self._failures = 0
        self._failure: Exception | None = None

    @property
    def is_busy(self) -> bool:
        """Return whether someone has the turn, or waits for it."""
        return self._lock.locked()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the turn and have it; raises what a read failed with meanwhile, if for all."""
        failures = self._failures
        async with self._lock:
            if self._failure is not None and failures != self._failures:
                raise self._failure.with_traceback(None)
            try:
                yield
            except Exception as failure:
                if self._is_of_all(failure):
                    self._failures += 1
                    self._failure = failure
                raise
            # Turns are in order: all who waited for the failed one have had theirs. What is kept
            # of a failure are the frames of its traceback, with all that was read.
            self._failure = None
