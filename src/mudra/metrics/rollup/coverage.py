"""Windows expected and windows missing. A gap counts neither as healthy nor as zero."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from msgspec import Struct

from mudra.metrics.incidents.window_reports import REPORT_GRACE
from mudra.metrics.payload.catalogue import WINDOW, Tag, day_start, hour_start, window_start

_BY_WINDOWS: Final = timedelta(hours=2)
_BY_HOURS: Final = timedelta(days=2)
FOREVER: Final = datetime.max.replace(tzinfo=UTC)


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


def latest(end: datetime, length: timedelta) -> TimeRange:
    """Returns the windows of this length up to `end`, from a full hour or day (UTC) on if long.

    Those of more than two hours begin at a full hour, those of more than two days at a full day:
    sums of these are made, and the rows that are finer are up to a million.
    """
    start = (end - length).astimezone(UTC)
    if length > _BY_HOURS:
        start = day_start(start)
    elif length > _BY_WINDOWS:
        start = hour_start(start)
    return TimeRange(start, end)


def due_until(now: datetime) -> datetime:
    """Returns the end of the last window whose reports are missing if they are not here yet.

    Those of a later one may still come in time: agents spread their pushes over minutes.
    """
    return window_start(now - REPORT_GRACE)


class Reported(Struct, frozen=True):
    """How many windows were reported, by AA and tag, with or without traffic."""

    windows: Mapping[tuple[str, Tag], int]
    early: Mapping[tuple[str, Tag], int]
    """Of these, those that are not due yet."""


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


class StatusChange(NamedTuple):
    """Whether an AA was active before a moment, and is from then on."""

    at: datetime
    was_active: bool
    is_active: bool


class ReportingTimes(Struct, frozen=True):
    """The windows that an AA had to report, as ranges in order."""

    times: tuple[TimeRange, ...] = ()

    @property
    def open_since(self) -> datetime | None:
        """The beginning of the time that has not ended; None for an AA that need not report now."""
        last = self.times[-1] if self.times else None
        return last.start if last is not None and last.end == FOREVER else None

    @property
    def has_pauses(self) -> bool:
        """Returns whether it had to report at a time before one at which it need not."""
        return any(one.end != FOREVER for one in self.times)

    def includes(self, window: datetime) -> bool:
        """Returns whether the AA had to report a window."""
        return any(one.start <= window < one.end for one in self.times)

    def within(self, other: TimeRange) -> tuple[TimeRange, ...]:
        """Returns what of these times is in a range."""
        parts = (
            TimeRange(max(one.start, other.start), min(one.end, other.end)) for one in self.times
        )
        return tuple(one for one in parts if one.start < one.end)


def reporting_times(
    begin: datetime, changes: Sequence[StatusChange], *, is_active: bool
) -> ReportingTimes:
    """Returns the times of an AA that is live since `begin`, by the changes of its status in order.

    A suspended AA gets no tokens, so the last window before is one that could still be reported in
    time. Without a record that explains the present status, that was the status all along.
    """
    known = changes if changes and changes[-1].is_active == is_active else ()
    was_active = known[0].was_active if known else is_active
    since = begin if was_active else None
    times = []
    for one in known:
        if one.is_active:
            since = max(one.at, begin) if since is None else since
        elif since is not None:
            times.append(TimeRange(since, window_start(one.at - REPORT_GRACE)))
            since = None
    if since is not None:
        times.append(TimeRange(since, FOREVER))
    return ReportingTimes(tuple(one for one in times if one.start < one.end))
