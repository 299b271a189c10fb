"""Windows expected, heard and missed."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.rollup.coverage import TimeRange, closed_before, gaps, latest

START = datetime(2026, 3, 4, tzinfo=UTC)


def at(number: float) -> datetime:
    return START + number * WINDOW


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 3, [0, 1, 2]),
        (0.5, 3, [1, 2]),
        (0, 2.5, [0, 1, 2]),
        (0.5, 0.9, []),
        (0, 0, []),
        (3, 0, []),
    ],
)
def test_a_range_holds_the_windows_that_start_in_it(start, end, expected):
    assert TimeRange(at(start), at(end)).windows == tuple(at(n) for n in expected)


@given(st.integers(-9000, 9000), st.integers(-9000, 9000))
def test_windows_of_a_range_equal_a_count_by_the_minute(start, length):
    asked = TimeRange(START + timedelta(seconds=start), START + timedelta(seconds=start + length))

    by_second = [
        START + timedelta(seconds=second)
        for second in range(start, start + length)
        if window_start(START + timedelta(seconds=second)) == START + timedelta(seconds=second)
    ]
    assert list(asked.windows) == by_second


def test_the_window_that_is_running_is_not_expected_yet():
    found = closed_before(at(6.7), timedelta(hours=1))

    assert found == TimeRange(at(0), at(6))
    assert len(found.windows) == 6


@pytest.mark.parametrize(
    ("length", "begins"),
    [
        (timedelta(hours=1), timedelta(hours=4, minutes=40)),
        (timedelta(hours=2), timedelta(hours=3, minutes=40)),
        (timedelta(hours=6), timedelta(hours=-1)),
        (timedelta(days=1), timedelta(hours=-19)),
        (timedelta(days=7), timedelta(days=-7)),
    ],
)
def test_a_time_that_moves_with_the_clock_begins_at_a_full_hour_or_day_if_it_is_long(
    length, begins
):
    day = datetime(2026, 3, 4, tzinfo=UTC)
    end = day + timedelta(hours=5, minutes=40)

    assert latest(end, length) == TimeRange(day + begins, end)


def test_missed_windows_that_touch_are_one_gap():
    heard = [at(0), at(3), at(6)]

    assert gaps(TimeRange(at(0), at(8)), heard) == (
        TimeRange(at(1), at(3)),
        TimeRange(at(4), at(6)),
        TimeRange(at(7), at(8)),
    )


def test_without_a_missed_window_there_is_no_gap():
    assert gaps(TimeRange(at(0), at(3)), [at(0), at(1), at(2)]) == ()
