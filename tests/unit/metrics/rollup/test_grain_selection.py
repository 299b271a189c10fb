"""Which rows are read for a range: each report once, and the coarsest that are usable."""

from datetime import UTC, datetime, timedelta

from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.grain_selection import Notes, SeriesKey, sources, sources_of_all
from mudra.metrics.rollup.stale import HOUR

DAY = datetime(2026, 3, 4, tzinfo=UTC)


def test_a_range_of_the_last_hours_that_needs_windows_is_read_by_windows_alone() -> None:
    hour, late = DAY + timedelta(hours=1), timedelta(minutes=20)
    nothing_stale = Notes(frozenset(), frozenset())

    of_both = sources(TimeRange(hour - late, hour + HOUR), nothing_stale, hour)
    of_older = sources(TimeRange(hour - late, hour + HOUR), nothing_stale, hour + WINDOW)
    of_hour = sources(TimeRange(hour, hour + HOUR), nothing_stale, hour)

    assert (of_both.hours.times, len(of_both.windows.times)) == ((), 8)
    assert (of_older.hours.times, len(of_older.windows.times)) == ((hour,), 2)
    assert (of_hour.hours.times, of_hour.windows.times) == ((hour,), ())


def test_the_stale_sums_of_one_aa_are_stood_in_for_by_finer_ones_of_its_own() -> None:
    within = TimeRange(DAY, DAY + timedelta(days=2))
    hour = DAY + timedelta(hours=5)
    used = sources(within, Notes(frozenset(), frozenset({SeriesKey("aa", "req", hour)})))
    assert used.days.times == (DAY, DAY + timedelta(days=1))
    assert used.days.without == {SeriesKey("aa", "req", DAY)}
    assert len(used.hours.only) == 23
    assert used.windows.only == {
        SeriesKey("aa", "req", hour + place * WINDOW) for place in range(6)
    }


def test_the_stale_sums_of_many_aas_are_stood_in_for_by_finer_ones_of_all() -> None:
    within = TimeRange(DAY, DAY + timedelta(days=2))
    hour = DAY + timedelta(hours=5)
    many = frozenset(SeriesKey(f"aa-{place}", "req", hour) for place in range(20))
    used = sources(within, Notes(frozenset(), many))
    assert used.days.times == (DAY + timedelta(days=1),)
    assert len(used.hours.times) == 23
    assert used.windows.times == tuple(hour + place * WINDOW for place in range(6))


def test_sums_over_all_are_not_taken_where_those_of_one_aa_are_stale() -> None:
    within = TimeRange(DAY, DAY + timedelta(days=2))
    hour = DAY + timedelta(hours=5)
    used = sources_of_all(within, Notes(frozenset(), frozenset({SeriesKey("aa", "req", hour)})))
    assert used.days == (DAY + timedelta(days=1),)
    assert len(used.hours) == 23
    assert used.rest.hours.times == (hour,)
    assert used.rest.hours.without == {SeriesKey("aa", "req", hour)}
