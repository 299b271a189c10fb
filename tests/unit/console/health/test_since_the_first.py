"""A chart of a long time with few points begins with the first calls, in finer steps."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from mudra.console.health.over_time import since_the_first
from mudra.metrics.health.health import NO_CALLS
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.series import Point
from mudra.metrics.rollup.step import Step, starts

END = datetime(2026, 3, 30, 18, tzinfo=UTC)
MONTH = TimeRange(END - timedelta(days=30), END)


def drawn_of_calls_since(first: datetime) -> tuple[TimeRange, Step, Sequence[Point]]:
    async def read(within: TimeRange, step: Step) -> Sequence[Point]:
        return [
            Point(at, NO_CALLS if at + step.value > first else None) for at in starts(within, step)
        ]

    return asyncio.run(since_the_first(MONTH, read))


def test_calls_of_half_a_day_are_drawn_by_the_hour_from_the_first_one_on() -> None:
    first = END - timedelta(hours=12)

    within, step, points = drawn_of_calls_since(first)

    assert (within, step) == (TimeRange(first, END), Step.HOUR)
    assert [points[0].start, len(points)] == [first, 12]
    assert all(one.health for one in points)


def test_calls_of_some_days_are_drawn_as_they_were_asked_for() -> None:
    within, step, points = drawn_of_calls_since(END - timedelta(days=5))

    assert (within, step, len(points)) == (MONTH, Step.DAY, 31)


def test_a_time_without_calls_stays_as_it_is() -> None:
    within, step, _ = drawn_of_calls_since(END + timedelta(days=1))

    assert (within, step) == (MONTH, Step.DAY)
