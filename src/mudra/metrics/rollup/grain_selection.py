"""Selects the rows for a range, so that every acknowledged push counts exactly once.

A range consists of whole days, whole hours and single windows. Where the sums
of an AA are stale, the next finer ones replace them for that AA; where those of
many are, for all. Sums over all AAs are used only where none are stale.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.metrics.payload.catalogue import WINDOW, day_start, hour_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.stale import DAY, HOUR

FEW: Final = 8
"""Beyond so many AAs with stale sums of one time, the finer rows of all are read."""


class SeriesKey(Struct, frozen=True):
    """One AA and the short form of a tag, at one time."""

    aa_id: str
    tag: str
    at: datetime


class Notes(Struct, frozen=True):
    """The stale sums."""

    days: frozenset[SeriesKey]
    hours: frozenset[SeriesKey]

    def stale_days(self) -> dict[datetime, set[SeriesKey]]:
        """Returns the series with a stale day, or a stale hour of it, by day."""
        found: dict[datetime, set[SeriesKey]] = defaultdict(set)
        for one in (*self.days, *self.hours):
            day = day_start(one.at)
            found[day].add(SeriesKey(one.aa_id, one.tag, day))
        return found

    def stale_hours(self) -> dict[datetime, set[SeriesKey]]:
        """Returns the series with a stale hour, by hour."""
        found: dict[datetime, set[SeriesKey]] = defaultdict(set)
        for one in self.hours:
            found[one.at].add(one)
        return found


class Rows(Struct, frozen=True):
    """Rows of one grain: those of `times` except `without`, and in addition `only`."""

    times: tuple[datetime, ...] = ()
    without: frozenset[SeriesKey] = frozenset()
    only: frozenset[SeriesKey] = frozenset()


class Sources(Struct, frozen=True):
    """The rows of each grain: disjoint, and together the whole range."""

    days: Rows
    hours: Rows
    windows: Rows


class AllSources(Struct, frozen=True):
    """Days and hours with valid sums over all AAs; `rest` is read by AA.

    Its windows have sums over all AAs of their own where they are recent.
    """

    days: tuple[datetime, ...]
    hours: tuple[datetime, ...]
    rest: Sources


class _Split(Struct, frozen=True):
    days: tuple[datetime, ...]
    hours: tuple[datetime, ...]
    windows: tuple[datetime, ...]


def sources(within: TimeRange, stale: Notes, windows_since: datetime | None = None) -> Sources:
    """Returns the coarsest usable rows by AA, or windows alone where they are added up faster.

    With `windows_since`, the first window that has sums, all rows are of windows where a range
    needs some of them and all its hours have them: packed sums are added up without a cell of
    each, and a cell that is a sum of two grains is made three times.
    """
    return _by_aa(_of_one_grain(_split(within), windows_since), stale)


def _of_one_grain(split: _Split, windows_since: datetime | None) -> _Split:
    if windows_since is None or not split.windows or split.days or not split.hours:
        return split
    if min(split.hours) < windows_since:
        return split
    return _Split((), (), (*split.windows, *_windows_of(split.hours)))


def sources_of_all(
    within: TimeRange,
    stale: Notes,
    windows_since: datetime | None = None,
    *,
    of_one_grain: bool = False,
) -> AllSources:
    """Returns the coarsest usable rows over all AAs together; `of_one_grain` as in `sources`.

    Of hours that begin at `windows_since` or later the windows are used in place of rows by AA:
    they have sums over all AAs, also while the hour runs.
    """
    split = _split(within)
    if of_one_grain:
        split = _of_one_grain(split, windows_since)
    stale_days, stale_hours = stale.stale_days(), stale.stale_hours()
    days = tuple(day for day in split.days if day not in stale_days)
    hours = (*_hours_of(set(split.days) - set(days)), *split.hours)
    good = tuple(hour for hour in hours if hour not in stale_hours)
    recent = [
        hour
        for hour in hours
        if hour in stale_hours and windows_since is not None and hour >= windows_since
    ]
    left = tuple(hour for hour in hours if hour in stale_hours and hour not in recent)
    windows = (*split.windows, *_windows_of(recent))
    return AllSources(days, good, _by_aa(_Split((), left, windows), stale))


def _by_aa(split: _Split, stale: Notes) -> Sources:
    stale_days, stale_hours = stale.stale_days(), stale.stale_hours()
    days, day_exceptions = _usable(split.days, stale_days)
    hours = (*split.hours, *_hours_of(set(split.days) - set(days)))
    hours_left, hour_exceptions = _usable(hours, stale_hours)
    windows = (*split.windows, *_windows_of(set(hours) - set(hours_left)))
    finer = {
        SeriesKey(one.aa_id, one.tag, hour)
        for one in day_exceptions
        for hour in _hours_of({one.at})
    }
    return Sources(
        Rows(days, frozenset(day_exceptions)),
        Rows(hours_left, frozenset(hour_exceptions), frozenset(finer - stale.hours)),
        Rows(
            windows,
            only=frozenset(
                SeriesKey(one.aa_id, one.tag, window)
                for one in hour_exceptions | (finer & stale.hours)
                for window in _windows_of({one.at})
            ),
        ),
    )


def _usable(
    times: Iterable[datetime], stale: dict[datetime, set[SeriesKey]]
) -> tuple[tuple[datetime, ...], set[SeriesKey]]:
    usable = tuple(at for at in times if len(_of_aas(stale.get(at, set()))) <= FEW)
    return usable, {one for at in usable for one in _of_aas(stale.get(at, set()))}


def _of_aas(stale: set[SeriesKey]) -> set[SeriesKey]:
    """Leaves out the stale sums over all AAs: rows by AA are not affected by them."""
    return {one for one in stale if one.aa_id}


def _split(within: TimeRange) -> _Split:
    # Not window by window: a month has thousands.
    span = TimeRange(within.first, within.first + within.number * WINDOW)
    days = tuple(_whole(span, day_start, DAY))
    hours: list[datetime] = []
    windows: list[datetime] = []
    for part in _around(span, days, DAY):
        whole = tuple(_whole(part, hour_start, HOUR))
        hours.extend(whole)
        for edge in _around(part, whole, HOUR):
            windows.extend(edge.windows)
    return _Split(days, tuple(hours), tuple(windows))


def _around(span: TimeRange, times: tuple[datetime, ...], length: timedelta) -> list[TimeRange]:
    """Returns the parts of a span before and after consecutive times."""
    if not times:
        return [span]
    return [TimeRange(span.start, times[0]), TimeRange(times[-1] + length, span.end)]


def _hours_of(days: Iterable[datetime]) -> Iterator[datetime]:
    for day in sorted(days):
        yield from (day + place * HOUR for place in range(DAY // HOUR))


def _windows_of(hours: Iterable[datetime]) -> Iterator[datetime]:
    for hour in sorted(hours):
        yield from TimeRange(hour, hour + HOUR).windows


def _whole(
    span: TimeRange, start_of: Callable[[datetime], datetime], length: timedelta
) -> Iterator[datetime]:
    at = start_of(span.start)
    if at < span.start:
        at += length
    while at + length <= span.end:
        yield at
        at += length
