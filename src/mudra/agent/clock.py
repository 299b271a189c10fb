"""Time for the agent: the only file of the agent that reads the machine's clocks.

Windows come from wall time, durations from the monotonic clock.
Both are whole milliseconds. Monotonic times can be compared within one boot of the
machine only, so `boot` names it.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
JUMP: Final = 5 * SECOND
"""Wall and monotonic time may drift apart by this much between two checks: slewing, not a jump."""

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class Clock(Protocol):
    """Wall time and monotonic time."""

    @property
    def boot(self) -> str:
        """Identify the boot within which monotonic times can be compared."""
        ...

    def wall(self) -> int:
        """Return milliseconds since 1970, UTC; may jump."""
        ...

    def monotonic(self) -> int:
        """Return milliseconds since some moment of this boot; never goes back."""
        ...


class MachineClock:
    """The machine's own clocks."""

    def __init__(self) -> None:
        try:
            self._boot = _BOOT_ID.read_text(encoding="ascii").strip()
        except OSError:  # not Linux: then no two runs can compare monotonic times
            self._boot = f"process-{time.time_ns()}"

    @property
    def boot(self) -> str:
        """The kernel's boot ID."""
        return self._boot

    def wall(self) -> int:
        """Return milliseconds since 1970, UTC."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> int:
        """Return milliseconds of CLOCK_MONOTONIC."""
        return time.monotonic_ns() // 1_000_000


@dataclass(slots=True)
class JumpWatch:
    """Detects when wall time moved by more or less than the time that passed."""

    wall: int
    monotonic: int

    def observe(self, wall: int, monotonic: int) -> int:
        """Return by how many milliseconds wall time jumped since the last check, or 0."""
        jump = (wall - self.wall) - (monotonic - self.monotonic)
        self.wall, self.monotonic = wall, monotonic
        return jump if abs(jump) > JUMP else 0
