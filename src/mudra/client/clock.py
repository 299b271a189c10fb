"""Time, for programs that run without the service. Tests pass their own."""

import time
from collections.abc import Callable

Seconds = Callable[[], float]
"""Returns seconds; from the epoch for `wall`, from any start for `steady`."""

# Linux's CLOCK_MONOTONIC stops while a machine sleeps; the life of a token does not.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def wall() -> float:
    """Return seconds since the epoch by the machine's clock."""
    return time.time()


def steady() -> float:
    """Return seconds that never run backwards, time asleep included where possible."""
    return time.clock_gettime(_CLOCK)
