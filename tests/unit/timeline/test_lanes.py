"""What a timeline draws: from shortly before its first event on, and says so."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

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


@pytest.mark.parametrize("ago", range(1, 30))
def test_a_label_that_names_a_new_day_is_left_out_on_no_phone(ago: int) -> None:
    event = Happening(NOW - timedelta(hours=ago), HappeningKind.KEY, "", "rotated")

    ticks = picture_of([event], WEEK, NOW, lambda one: one.text, lambda _: "").ticks

    new_days = [one for place, one in enumerate(ticks) if place and not one.is_clock]
    assert not any(one.is_second for one in new_days)
    assert all(one.is_second != each.is_second for one, each in pairwise(ticks)) or not any(
        one.is_second for one in ticks
    )


@pytest.mark.parametrize(("hours", "is_of_one_day"), [((5, 4), True), ((20, 2), False)])
def test_an_end_on_the_day_of_the_beginning_is_known_as_such(
    hours: tuple[int, int], is_of_one_day: bool
) -> None:
    began, ended = (NOW - timedelta(hours=one) for one in hours)
    event = Happening(began, HappeningKind.INCIDENT, "", "failed", until=ended, severity="major")

    (lane,) = picture_of([event], WEEK, NOW, lambda one: one.text, lambda _: "").lanes

    assert lane.is_of_one_day is is_of_one_day


@pytest.mark.parametrize("hours", [8, 10.5])
def test_a_phone_names_the_tick_at_which_a_day_begins(hours: float) -> None:
    now = datetime(2026, 12, 1, 1, 30, tzinfo=UTC)
    event = Happening(now - timedelta(hours=hours), HappeningKind.KEY, "", "rotated")
    week = TimeRange(now - timedelta(days=7), now)

    ticks = picture_of([event], week, now, lambda one: one.text, lambda _: "").ticks

    (of_day,) = [one for one in ticks[1:] if not one.is_clock]
    assert not of_day.is_second
    assert any(one.is_second for one in ticks)


def test_dots_that_would_cover_each_other_are_one_with_their_number() -> None:
    minutes = (0, 1, 2, 300, 3000)
    events = [
        Happening(NOW - timedelta(minutes=one), HappeningKind.KEY, "", f"{one} ago")
        for one in minutes
    ]

    picture = picture_of(events, WEEK, NOW, lambda one: one.text, lambda _: "")

    assert [one.count for one in picture.marks] == [1, 1, 3]
    assert picture.marks[-1].text == "2 ago; 1 ago; 0 ago"
    assert len(picture.dots) == len(minutes)
