"""Windows expected and windows missing. A gap counts neither as healthy nor as zero."""

from collections.abc import Collection
from datetime import datetime, timedelta

from msgspec import Struct

from mudra.metrics.payload.catalogue import WINDOW, window_start


class TimeRange(Struct, frozen=True):
    """Windows that start at or after `start` and before `end`, UTC."""

    start: datetime
    end: datetime

    @property
    def first(self) -> datetime:
        """The start of the first window, even if it is not before the end."""
        first = window_start(self.start)
        return first if first == self.start else first + WINDOW

    @property
    def number(self) -> int:
        """The number of windows."""
        return max(0, -((self.first - self.end) // WINDOW))

    @property
    def windows(self) -> tuple[datetime, ...]:
        """The starts of these windows, in order."""
        first = self.first
        return tuple(first + place * WINDOW for place in range(self.number))


def closed_before(now: datetime, length: timedelta) -> TimeRange:
    """Returns the windows of this length of time up to the last one that has ended."""
    end = window_start(now)
    return TimeRange(end - length, end)


def gaps(within: TimeRange, received: Collection[datetime]) -> tuple[TimeRange, ...]:
    """Returns the runs of windows that were not reported."""
    known = set(received)
    found: list[TimeRange] = []
    for window in within.windows:
        if window in known:
            continue
        if found and found[-1].end == window:
            found[-1] = TimeRange(found[-1].start, window + WINDOW)
        else:
            found.append(TimeRange(window, window + WINDOW))
    return tuple(found)
