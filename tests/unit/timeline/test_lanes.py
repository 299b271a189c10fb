"""What a timeline draws: from shortly before its first event on, and says so."""

from datetime import UTC, datetime, timedelta

import pytest

from mudra.console.timeline.lanes import picture_of
from mudra.metrics.rollup.coverage import TimeRange
from mudra.timeline.happening import Happening, HappeningKind

NOW = datetime(2026, 11, 30, 16, 42, tzinfo=UTC)
WEEK = TimeRange(NOW - timedelta(days=7), NOW)


@pytest.mark.parametrize(
    ("hours", "is_said"), [((10, 2), True), ((24 * 7 - 1, 2), False), ((), False)]
)
def test_a_picture_says_from_when_it_is_drawn_if_that_is_not_what_was_chosen(
    hours: tuple[int, ...], is_said: bool
) -> None:
    events = [
        Happening(NOW - timedelta(hours=one), HappeningKind.KEY, "", "rotated") for one in hours
    ]

    picture = picture_of(events, WEEK, NOW, lambda one: one.text, lambda _: "")

    assert picture.first == (events[0].at if is_said else None)


def test_events_that_would_cover_each_other_are_one_dot_that_counts_them() -> None:
    minutes = (200, 2, 1, 0)
    events = [
        Happening(NOW - timedelta(minutes=one), HappeningKind.KEY, "", str(one)) for one in minutes
    ]

    picture = picture_of(events, WEEK, NOW, lambda one: one.text, lambda _: "")

    assert [(one.text, one.count) for one in picture.dots] == [("200", 1), ("2\n1\n0", 3)]


@pytest.mark.parametrize(("hours", "within_a_day"), [(1, True), (24, False)])
def test_an_end_on_the_day_of_the_beginning_needs_no_day(hours: int, within_a_day: bool) -> None:
    began = NOW.replace(hour=2) - timedelta(days=3)
    ended = began + timedelta(hours=hours)
    incident = Happening(began, HappeningKind.INCIDENT, "", "failing", until=ended)

    picture = picture_of([incident], WEEK, NOW, lambda one: one.text, lambda _: "")

    assert [one.is_within_a_day for one in picture.lanes] == [within_a_day]
