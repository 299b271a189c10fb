"""Selects the blocks of a range, so that every acknowledged push counts exactly once.

A range consists of whole days, whole hours and single windows. Where the sums of an AA are stale,
the next finer ones replace them for that AA. Sums over all AAs are used only where none are stale.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from mudra.metrics.payload.catalogue import WINDOW, day_start, hour_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.stale import ALL_AAS, DAY, HOUR


class SeriesKey(Struct, frozen=True):
    """One AA and the short form of a tag, at one time."""

    aa_id: str
    tag: str
    at: datetime


class StaleSums(Struct, frozen=True):
    """The sums that are older than what they are made of."""

    days: frozenset[SeriesKey] = frozenset()
    hours: frozenset[SeriesKey] = frozenset()
    windows: frozenset[datetime] = frozenset()
    """Windows whose sums over all AAs are stale, or were never made."""

    def of_aa(self, aa_id: str) -> "StaleSums":
        """Returns the stale hours and days of one AA."""
        return StaleSums(
            frozenset(one for one in self.days if one.aa_id == aa_id),
            frozenset(one for one in self.hours if one.aa_id == aa_id),
        )

    def by_day(self) -> dict[datetime, set[SeriesKey]]:
        """Returns the series with a stale day, or a stale hour of it, by day."""
        found: dict[datetime, set[SeriesKey]] = defaultdict(set)
        for one in (*self.days, *self.hours):
            day = day_start(one.at)
            found[day].add(SeriesKey(one.aa_id, one.tag, day))
        return found

    def by_hour(self) -> dict[datetime, set[SeriesKey]]:
        """Returns the series with a stale hour, by hour."""
        found: dict[datetime, set[SeriesKey]] = defaultdict(set)
        for one in self.hours:
            found[one.at].add(one)
        return found


class Times(Struct, frozen=True):
    """Times of one grain: those of `times` for all series but `without`, and `only` besides."""

    times: frozenset[datetime] = frozenset()
    without: frozenset[SeriesKey] = frozenset()
    only: frozenset[SeriesKey] = frozenset()


class OfAas(Struct, frozen=True):
    """The choice of what is read of each AA: disjoint, and together the whole range."""

    days: Times = Times()
    hours: Times = Times()
    windows: Times = Times()


class OverAas(Struct, frozen=True):
    """Times whose sums over all AAs are valid; `rest` is read of each AA."""

    days: frozenset[datetime]
    hours: frozenset[datetime]
    windows: frozenset[datetime]
    rest: OfAas


class _Split(Struct, frozen=True):
    days: tuple[datetime, ...]
    hours: tuple[datetime, ...]
    windows: tuple[datetime, ...]


def of_aas(within: TimeRange, stale: StaleSums, longest: timedelta = DAY) -> OfAas:
    """Returns the coarsest valid sums of each AA, none of a time longer than `longest`."""
    return _of_aas(_split(within, longest), stale)


def over_aas(within: TimeRange, stale: StaleSums, longest: timedelta = DAY) -> OverAas:
    """Returns the coarsest valid sums over all AAs, none of a time longer than `longest`."""
    split = _split(within, longest)
    days, good, bad = _days_and_hours(split, stale)
    by_windows = frozenset(
        hour for hour in bad if not stale.windows.issuperset(_windows_of([hour]))
    )
    windows = (*split.windows, *_windows_of(by_windows))
    left = _Split(
        (),
        tuple(hour for hour in bad if hour not in by_windows),
        tuple(one for one in windows if one in stale.windows),
    )
    return OverAas(days, good, frozenset(windows) - stale.windows, _of_aas(left, stale))


def windows_asked(
    within: TimeRange, stale: StaleSums, longest: timedelta = DAY
) -> frozenset[datetime]:
    """Returns the windows that `over_aas` or `of_aas` may select."""
    split = _split(within, longest)
    _, _, bad = _days_and_hours(split, stale)
    return frozenset((*split.windows, *_windows_of(bad)))


def _days_and_hours(
    split: _Split, stale: StaleSums
) -> tuple[frozenset[datetime], frozenset[datetime], Sequence[datetime]]:
    """Returns the days that are valid, the hours of the others that are, and those that are not."""
    stale_days, stale_hours = stale.by_day(), stale.by_hour()
    days = frozenset(day for day in split.days if day not in stale_days)
    hours = (*_hours_of(set(split.days) - days), *split.hours)
    good = frozenset(hour for hour in hours if hour not in stale_hours)
    return days, good, [hour for hour in hours if hour not in good]


def valid_days(within: TimeRange, stale: StaleSums) -> tuple[datetime, ...]:
    """Returns the whole days of a range none of whose sums is stale, in order."""
    stale_days = stale.by_day()
    return tuple(day for day in _split(within, DAY).days if day not in stale_days)


def _of_aas(split: _Split, stale: StaleSums) -> OfAas:
    stale_days, stale_hours = stale.by_day(), stale.by_hour()
    days_without = {one for day in split.days for one in _each(stale_days.get(day))}
    finer = {
        SeriesKey(one.aa_id, one.tag, hour) for one in days_without for hour in _hours_of([one.at])
    }
    hours_without = {one for hour in split.hours for one in _each(stale_hours.get(hour))}
    still_finer = hours_without | (finer & stale.hours)
    return OfAas(
        Times(frozenset(split.days), frozenset(days_without)),
        Times(frozenset(split.hours), frozenset(hours_without), frozenset(finer - stale.hours)),
        Times(
            frozenset(split.windows),
            only=frozenset(
                SeriesKey(one.aa_id, one.tag, window)
                for one in still_finer
                for window in _windows_of([one.at])
            ),
        ),
    )


def _each(stale: set[SeriesKey] | None) -> Iterator[SeriesKey]:
    """Leaves out the stale sums over all AAs: what is read of each AA does not depend on them."""
    return (one for one in stale or () if one.aa_id != ALL_AAS)


def _split(within: TimeRange, longest: timedelta) -> _Split:
    # Not window by window: a month has thousands.
    span = TimeRange(within.first, within.first + within.number * WINDOW)
    days = tuple(_whole(span, day_start, DAY)) if longest >= DAY else ()
    hours: list[datetime] = []
    windows: list[datetime] = []
    for part in _around(span, days, DAY):
        whole = tuple(_whole(part, hour_start, HOUR)) if longest >= HOUR else ()
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
    for day in days:
        yield from (day + place * HOUR for place in range(DAY // HOUR))


def _windows_of(hours: Iterable[datetime]) -> Iterator[datetime]:
    for hour in hours:
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
