"""Time, for programs that run without the service. Tests pass their own."""

import time
from collections.abc import Callable

Seconds = Callable[[], float]
"""Gives seconds; from the epoch for `wall`, from any start for `steady`."""

# Linux's CLOCK_MONOTONIC stands still while a machine sleeps; a token does not.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def wall() -> float:
    """Seconds since the epoch, as the machine believes."""
    return time.time()


def steady() -> float:
    """Seconds that never run backwards and count sleep too where the system can."""
    return time.clock_gettime(_CLOCK)
