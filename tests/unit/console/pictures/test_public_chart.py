"""The line of success on the public pages: its gaps, its steps and its axis."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from mudra.console.pictures.public_chart import hour_chart, line_chart


@pytest.mark.parametrize(
    ("values", "floor"),
    [([100.0, 99.0], 90), ([90.0], 90), ([89.9], 75), ([60.0], 50), ([12.0], 0), ([], 90)],
)
def test_the_axis_begins_at_a_round_number_below_all_values(
    values: list[float], floor: int
) -> None:
    assert line_chart(values).floor == floor


def test_a_gap_interrupts_the_line_and_one_alone_is_a_level_of_its_hour() -> None:
    path = line_chart([None, 100.0, 95.0, None, 90.0, None]).path

    assert re.sub(r"[0-9. -]+", "", path) == "MHLHMH"


def test_it_begins_with_the_first_value_and_ends_at_the_edge() -> None:
    chart = line_chart([None, None, 100.0, 90.0])

    assert chart.skipped == 2
    assert chart.path == "M0.0 0.0H300.0L300.0 120.0H600.0"
    assert (chart.lowest, chart.latest) == (90.0, 90.0)


def test_a_whole_line_leaves_the_first_places_empty_and_ends_with_the_part_of_the_last() -> None:
    chart = line_chart([None, None, 100.0, 90.0], whole=True, length=3.2)

    assert chart.skipped == 0
    assert chart.path == "M375.0 0.0H562.5L562.5 120.0H600.0"


def test_without_values_nothing_is_drawn() -> None:
    assert line_chart([None] * 24).path == ""


INDIA = ZoneInfo("Asia/Kolkata")
UNTIL = datetime(2026, 3, 4, 12, 40, tzinfo=UTC)


def test_lines_by_hour_end_with_the_part_of_the_hour_that_is_over() -> None:
    whole = (*[100.0] * 24, 90.0)
    failing = (*[100.0] * 24, 40.0)

    chart = hour_chart([("all", whole), ("FI fetch", failing)], UNTIL, INDIA)

    assert (chart.floor, chart.middle, chart.since) == (0, 50, None)
    first, second = chart.lines
    assert first.path.endswith("H600.0")
    assert (first.end, second.end, second.lowest, second.latest) == (10.0, 60.0, 40.0, 40.0)


def test_the_times_of_the_axis_are_whole_hours_of_the_zone_in_their_places() -> None:
    chart = hour_chart([("", (*[100.0] * 24, 99.0))], UNTIL, INDIA)

    start = UNTIL - timedelta(hours=24, minutes=40)
    assert chart.ticks
    for tick in chart.ticks:
        assert (tick.at.hour % 3, tick.at.minute) == (0, 0)
        assert tick.place == round((tick.at - start) / (UNTIL - start) * 100, 1)
    assert max(tick.place for tick in chart.ticks) <= 93


def test_many_hours_without_a_figure_are_left_out_and_an_hour_that_begins_is_no_part() -> None:
    values = (*[None] * 12, *[99.0] * 12, None)

    chart = hour_chart([("", values)], UNTIL.replace(minute=0), INDIA)

    assert chart.since == UNTIL.replace(hour=0, minute=0)
    assert chart.lines[0].path.startswith("M0.0")
    assert chart.lines[0].path.endswith("H600.0")
    assert hour_chart([("", [None] * 25)], UNTIL, INDIA).lines == []


def test_names_at_the_ends_of_lines_are_not_over_one_another() -> None:
    chart = hour_chart([("all", [96.0] * 25), ("one", [95.5] * 25)], UNTIL, INDIA)

    first, second = chart.lines
    assert second.end - first.end == 12.0
