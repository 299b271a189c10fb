"""The forecast of calls: its error is that of weeks it did not know; a recount in plain loops."""

import random
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mudra.comparison.forecast import capacity_notice, forecast, growth

MONDAY = date(2026, 6, 1)
DAY = timedelta(days=1)
SHAPE = (100, 98, 97, 96, 110, 60, 40)
"""Calls of each weekday, for a hundred on Mondays."""


def history(weeks: int, level: float = 50.0, grows: float = 1.0, noise: float = 0.0):
    """So many weeks up to MONDAY."""
    dice = random.Random(7)
    found = {}
    for back in range(1, weeks * 7 + 1):
        day = MONDAY - back * DAY
        week = -((MONDAY - day).days + 6) // 7
        calls = level * SHAPE[day.weekday()] * grows**week
        found[day] = round(calls * (1 + noise * dice.uniform(-1, 1)))
    return found


def test_weeks_that_repeat_are_forecast_without_error() -> None:
    found = forecast(history(12), MONDAY)

    assert found is not None
    assert [one.wape for one in found.errors] == [0.0] * 4
    assert [one.day for one in found.days] == [MONDAY + place * DAY for place in range(28)]
    assert all(one.calls == 50 * SHAPE[one.day.weekday()] for one in found.days)
    assert all(one.low == one.calls == one.high for one in found.days)


def test_growth_goes_on_and_its_method_is_found() -> None:
    found = forecast(history(16, level=5000, grows=1.04), MONDAY)

    assert found is not None
    assert found.method == "grown_mean"
    assert found.errors[-1].wape < 0.01
    assert found.errors[-1].naive_wape == pytest.approx(1 - 1.04**-4, abs=0.01)
    first, last = found.days[0], found.days[21]
    assert last.calls / first.calls == pytest.approx(1.04**3, abs=0.01)


def test_errors_are_those_of_a_plain_recount() -> None:
    """Of `last_week`: each held-back day against the same weekday so many weeks before."""
    known = history(12, noise=0.3)
    found = forecast(known, MONDAY)

    assert found is not None
    for one in found.errors:
        off = came = days = 0
        for back in range(1, 29):
            day = MONDAY - back * DAY
            off += abs(known[day] - known[day - one.weeks_ahead * 7 * DAY])
            came, days = came + known[day], days + 1
        assert (one.naive_wape, one.days) == (pytest.approx(off / came), days)
        assert one.wape <= 1.3 * one.naive_wape


def test_a_day_with_a_gap_is_no_zero() -> None:
    known = history(12)
    gap = MONDAY - 3 * DAY
    del known[gap]

    found = forecast(known, MONDAY)

    assert found is not None
    assert [one.days for one in found.errors] == [27] * 4 or found.errors[0].days == 27
    same = [one for one in found.days if one.day.weekday() == gap.weekday()]
    assert {one.calls for one in same} <= {50 * SHAPE[gap.weekday()]}
    assert growth(known, MONDAY).calls is None


@pytest.mark.parametrize("weeks", [0, 1, 2])
def test_without_weeks_to_measure_by_there_is_no_forecast(weeks: int) -> None:
    assert forecast(history(weeks), MONDAY) is None


@given(st.dictionaries(st.integers(1, 112), st.integers(0, 10**9), max_size=112))
def test_any_history_has_an_answer_in_order(days: dict[int, int]) -> None:
    known = {MONDAY - back * DAY: calls for back, calls in days.items()}
    found = forecast(known, MONDAY)

    for one in found.days if found else ():
        assert 0 <= one.low <= one.calls <= one.high


@given(st.dictionaries(st.integers(-40, 0), st.integers(0, 10**9)))
def test_what_came_later_changes_nothing(later: dict[int, int]) -> None:
    known = history(12, noise=0.2)
    more = {MONDAY - back * DAY: calls for back, calls in later.items()}

    assert forecast({**known, **more}, MONDAY) == forecast(known, MONDAY)


def test_growth_is_that_of_whole_weeks() -> None:
    known = history(8, level=1000, grows=1.1)
    weeks = [
        sum(known[MONDAY - (7 * back - place) * DAY] for place in range(7)) for back in (1, 2, 5)
    ]

    found = growth(known, MONDAY)

    assert found.calls == weeks[0]
    assert found.of_week_before == weeks[0] / weeks[1]
    assert found.of_four_before == weeks[0] / weeks[2]


def test_a_notice_names_the_day_beyond_what_was_handled_well() -> None:
    known = history(16, level=5000, grows=1.05)
    found = forecast(known, MONDAY)
    assert found is not None

    notice = capacity_notice(found, known)
    nothing = capacity_notice(found, {**known, MONDAY: 10**9})

    assert notice is not None
    assert notice.handled == max(known.values())
    assert notice.expected.day == date(2026, 6, 26)  # the last Friday
    assert nothing is None
