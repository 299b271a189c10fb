"""Weeks of comparisons: whole, of UTC, and settled only when no report can change them."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mudra.comparison.weeks import (
    last_settled,
    week_name,
    week_named,
    week_of,
    week_start,
    weeks_within,
)
from mudra.metrics.rollup.coverage import TimeRange

MOMENTS = st.integers(315_532_800, 7_258_118_400).map(lambda at: datetime.fromtimestamp(at, UTC))
"""From 1980 to 2200."""
DAY = timedelta(days=1)


@given(MOMENTS)
def test_a_week_has_one_name_and_that_name_one_week(at: datetime) -> None:
    start = week_start(at)

    assert start <= at < start + 7 * DAY
    assert (start.weekday(), start.hour, start.minute) == (0, 0, 0)
    assert week_named(week_name(start)) == start


@pytest.mark.parametrize("name", ["", "2026", "2026-W00", "2026-W54", "2025-W53", "0000-W01", "x"])
def test_a_name_of_no_week_is_none(name: str) -> None:
    assert week_named(name) is None


@given(MOMENTS)
def test_the_last_settled_week_is_over_for_eight_days_and_the_next_is_not(at: datetime) -> None:
    last = week_of(last_settled(at))

    assert at - last.end >= 8 * DAY
    assert at - (last.end + 7 * DAY) < 8 * DAY


@given(MOMENTS, st.integers(10, 60 * 24 * 100))
def test_the_weeks_of_a_time_are_that_time_once(start: datetime, minutes: int) -> None:
    within = TimeRange(start, start + timedelta(minutes=minutes))
    parts = weeks_within(within)

    assert sum(one.number for one in parts) == within.number
    assert all(one.end == other.start for one, other in pairwise(parts))
    assert all(one.start.weekday() == 0 for one in parts[1:])
