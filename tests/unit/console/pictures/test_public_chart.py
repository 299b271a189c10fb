"""The line of success on the public pages: its gaps, its steps and its axis."""

import re

import pytest

from mudra.console.pictures.public_chart import line_chart


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
