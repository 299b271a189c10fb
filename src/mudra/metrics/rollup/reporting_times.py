"""When an AA had to report: since it is live, except while it was suspended."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from msgspec import Struct

from mudra.metrics.incidents.window_reports import REPORT_GRACE
from mudra.metrics.payload.catalogue import window_start
from mudra.metrics.rollup.coverage import TimeRange

FOREVER: Final = datetime.max.replace(tzinfo=UTC)


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
