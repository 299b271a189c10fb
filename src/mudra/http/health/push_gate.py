"""How many pushes a node works on at once; the others wait a moment or are sent away (M6)."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from typing import Final

from mudra.metrics.payload.refusals import TooBusyForPushes

AT_WORK: Final = 4
ADMITTED: Final = 32
_SOONEST_S: Final = 5
_LATEST_S: Final = 60


class PushGate:
    """Admits a bounded number of pushes, and lets few at the database at a time."""

    def __init__(self, admitted: int = ADMITTED, at_work: int = AT_WORK) -> None:
        self._free = admitted
        self._desk = asyncio.Semaphore(at_work)

    def admit(self) -> TooBusyForPushes | None:
        """Take a place, to be given back with `leave`, or say when to come back."""
        if not self._free:
            # Spread, so that those sent away do not come back together.
            wait = random.randint(_SOONEST_S, _LATEST_S)  # noqa: S311  # hides nothing
            return TooBusyForPushes(wait)
        self._free -= 1
        return None

    def leave(self) -> None:
        """Give the place back."""
        self._free += 1

    @contextlib.asynccontextmanager
    async def at_database(self) -> AsyncIterator[None]:
        """Wait for a turn at the database."""
        async with self._desk:
            yield
