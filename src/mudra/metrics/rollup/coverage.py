"""Windows expected and windows missing. A gap counts neither as healthy nor as zero."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from mudra.metrics.detection.window_reports import REPORT_GRACE, deadline_of
from mudra.metrics.payload.catalogue import WINDOW, Tag, day_start, hour_start, window_start

if TYPE_CHECKING:
    from mudra.metrics.ports import PublicMembers, ReportMarks

_BY_WINDOWS: Final = timedelta(hours=2)
_BY_HOURS: Final = timedelta(days=2)
_MOST_NAMED: Final = 3
"""AAs that are named where reports lack; of more there is a list."""
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
    """The number of windows that were reported, by AA and tag, with or without traffic."""

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
    """The status of an AA before a moment, and from then on."""

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


class Proof(Struct, frozen=True):
    """The number of reports received and expected; every aggregate includes it."""

    reporters_seen: int
    reporters_expected: int
    windows_received: int
    windows_expected: int

    @property
    def complete(self) -> bool:
        """True when every expected AA reported every window."""
        return self.windows_received == self.windows_expected > 0


class Coverage(Struct, frozen=True):
    """Windows expected and windows received, by AA; each window has both payloads."""

    expected: Mapping[str, int]
    """Those that are due: reports of later ones may still come in time."""
    received: Mapping[tuple[str, Tag], int]
    early: Mapping[tuple[str, Tag], int] = MappingProxyType({})
    """Those of the received that are not due yet; each counts as expected."""

    def proof(self, aa_id: str = "") -> Proof:
        """Returns the proof over one AA, or over all."""
        counted = [self._reports(aa) for aa in self.expected if aa_id in {"", aa}]
        return Proof(
            reporters_seen=sum(1 for received, _ in counted if received),
            reporters_expected=sum(1 for _, expected in counted if expected),
            windows_received=sum(received for received, _ in counted),
            windows_expected=sum(expected for _, expected in counted),
        )

    def reported_until(self, end: datetime, now: datetime, aa_id: str = "") -> datetime:
        """Returns up to when the reports of a time came, if all that are due did.

        Each AA reports its windows in order, so what is early follows what is due.
        """
        early = [
            self.early.get((one, tag), 0)
            for one in self.expected
            if aa_id in {"", one}
            for tag in Tag
        ]
        return min(end, due_until(now) + min(early, default=0) * WINDOW)

    def _reports(self, aa_id: str) -> tuple[int, int]:
        """Returns the reports of an AA that were received, and those that were expected."""
        received = expected = 0
        for tag in Tag:
            due, early = self.expected[aa_id], self.early.get((aa_id, tag), 0)
            received += min(self.received.get((aa_id, tag), 0) - early, due) + early
            expected += due + early
        return received, expected


class Completeness(Struct, frozen=True):
    """The reports of a time: those received and expected, and up to when they came."""

    proof: Proof
    until: datetime
    end: datetime
    """The end of the time, up to the last window that is over."""
    lacking: Sequence[str] = ()
    """The names of the AAs of which some reports are missing, where they are few."""
    silent: Sequence[str] = ()
    """The same of those of which no report came."""

    @property
    def is_pending(self) -> bool:
        """Returns whether the newest windows were not reported, and may still be."""
        return self.until < self.end

    @property
    def due(self) -> datetime:
        """The time until which the last of the pending windows has to be reported."""
        return deadline_of(self.end - WINDOW)


def completeness(
    coverage: Coverage,
    within: TimeRange,
    now: datetime,
    aa_id: str = "",
    names: Mapping[str, str] | None = None,
) -> Completeness:
    """Returns how complete the reports are; AAs of which some are missing have these `names`."""
    end = min(within.end, window_start(now))
    lacking = [one for one in sorted(coverage.expected) if _lacks(coverage.proof(one))]
    if names is None or aa_id or len(lacking) > _MOST_NAMED:
        lacking = []
    named = names or {}
    some = [one for one in lacking if coverage.proof(one).windows_received]
    return Completeness(
        coverage.proof(aa_id),
        coverage.reported_until(end, now, aa_id),
        end,
        [named.get(one, one) for one in some],
        [named.get(one, one) for one in lacking if one not in some],
    )


def _lacks(proof: Proof) -> bool:
    return proof.windows_received < proof.windows_expected


def expected_windows(
    within: TimeRange, reporting: Mapping[str, ReportingTimes], now: datetime
) -> dict[str, int]:
    """Returns how many windows of this time that are due each AA had to report.

    An AA that need not report now is among them if it had to within this time.
    """
    due = TimeRange(within.start, min(within.end, due_until(now)))
    numbers = {
        aa_id: sum(one.number for one in times.within(due)) for aa_id, times in reporting.items()
    }
    return {
        aa_id: number
        for aa_id, number in numbers.items()
        if number or reporting[aa_id].open_since is not None
    }


async def coverage_of(
    members: "PublicMembers",
    marks: "ReportMarks",
    within: TimeRange,
    now: datetime,
    aa_id: str | None = None,
) -> Coverage:
    """Returns which reports of all AAs, or of one, were expected in a time, and which came."""
    reporting = await members.reporting_aas()
    if aa_id is not None:
        reporting = {aa: times for aa, times in reporting.items() if aa == aa_id}
    expected = expected_windows(within, reporting, now)
    reported = await marks.received(within, due_until(now))
    received = dict(reported.windows)
    for aa, times in reporting.items():
        parts = times.within(within)
        if aa in expected and times.has_pauses and parts != (within,):
            received |= await _received_in(marks, aa, parts)
    return Coverage(expected, received, reported.early)


async def _received_in(
    marks: "ReportMarks", aa_id: str, times: Sequence[TimeRange]
) -> Mapping[tuple[str, Tag], int]:
    """Returns the windows that an AA had to report, and did.

    Once it is active again it may send those of its suspension too: they must not stand for others
    that it did not send.
    """
    found = {(aa_id, tag): 0 for tag in Tag}
    for part in times:
        reported = await marks.received(part)
        for key in found:
            found[key] += reported.windows.get(key, 0)
    return found
