"""A clock that a test moves: wall time and monotonic time, together or apart."""

from datetime import UTC, datetime

START = 1_775_037_600_000
"""2026-04-01T10:00:00Z, the start of a window."""
SECOND = 1_000
WINDOW = 600 * SECOND
INBOUND, OUTBOUND = True, False
"""Directions of calls, for events that are made by position."""


class MovedClock:
    def __init__(self, wall: int = START, monotonic: int = 5_000_000, boot: str = "boot-1") -> None:
        self.now, self.mono, self.boot = wall, monotonic, boot

    def wall(self) -> int:
        return self.now

    def monotonic(self) -> int:
        return self.mono

    def datetime(self) -> datetime:
        return datetime.fromtimestamp(self.now / 1000, UTC)

    def pass_time(self, milliseconds: int) -> None:
        self.now += milliseconds
        self.mono += milliseconds

    def jump(self, milliseconds: int) -> None:
        self.now += milliseconds

    def reboot(self, took: int) -> None:
        self.now += took
        self.mono = 1_000
        self.boot += "+"
