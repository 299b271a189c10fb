"""The rows of a chart: each window once, and no stale sum."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.chart_grains import grains
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.step import Step

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def windows_of(starts: tuple[datetime, ...], length: timedelta) -> list[datetime]:
    return [start + n * WINDOW for start in starts for n in range(length // WINDOW)]


@pytest.mark.parametrize("step", list(Step))
@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 300),
    st.integers(1, 700),
    st.sets(st.integers(0, 5)),
    st.sets(st.integers(0, 120)),
)
def test_every_window_is_read_once_and_no_stale_sum(
    step: Step, first: int, count: int, stale_days: set[int], stale_hours: set[int]
):
    within = TimeRange(BEGIN + first * WINDOW, BEGIN + (first + count) * WINDOW)
    days, hours = {BEGIN + n * DAY for n in stale_days}, {BEGIN + n * HOUR for n in stale_hours}

    used = grains(within, step, days, hours)

    read = [*windows_of(used.days, DAY), *windows_of(used.hours, HOUR), *used.windows]
    assert sorted(read) == list(within.windows)
    assert not days & set(used.days)
    assert not hours & set(used.hours)
    assert not {hour.replace(hour=0) for hour in hours} & set(used.days)
