"""Error budgets: what is left of a month, how fast it goes, and when the alarm is due."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mudra.levels.budgets.burn_rule import Burn, Outlook, Seen, at_pace, burns_of, shown_allowed
from mudra.levels.calculation import Figure
from mudra.levels.target import Measure
from mudra.metrics.rollup.coverage import TimeRange

START = datetime(2026, 4, 1, tzinfo=UTC)
DAYS = 30
MONTH = TimeRange(START, START + timedelta(days=DAYS))
CALLS = 10_000
"""Of each day."""
TARGET = 99.0
"""Of 10,000 calls of a day 100 may fail: 3,000 of the month."""


def figure(calls: int, failed: int, target: float | None = TARGET) -> Figure:
    return Figure(
        *(Measure.SUCCESS, "", None, calls - failed, calls, 3, 0, 0, 0, 0),
        target=target,
        met=None,
        budget=None,
    )


def burn(failed: list[int], target: float = TARGET) -> Burn:
    """The budget after so many days of the month, with so many failures on each."""
    week = [0] * 7 + failed
    seen = Seen(
        [figure(CALLS * len(failed), sum(failed), target)],
        [figure(CALLS * 7, sum(week[-7:]), target)],
        [figure(CALLS, failed[-1], target)],
    )
    (found,) = burns_of(seen, MONTH, START + timedelta(days=len(failed)))
    return found


def test_a_burn_rate_of_one_uses_up_the_budget_on_the_last_day() -> None:
    found = burn([100] * 20)

    assert (found.day_rate, found.week_rate) == (1.0, 1.0)
    assert (found.allowed, found.spent) == (3_000, 2_000)
    assert found.left_percent == pytest.approx(33.33)
    assert found.outlook is Outlook.WITHIN


def test_an_open_incident_that_uses_up_the_rest_within_a_day_will_not_let_it_last() -> None:
    found, until = burn([50] * 20), START + timedelta(days=20)  # 2,000 are left

    at_100, at_83 = (at_pace(found, until, pace, MONTH.end) for pace in (100.0, 83.0))

    assert (at_100.outlook, at_100.gone_at) == (Outlook.BURNING, until + timedelta(hours=20))
    assert at_83 == at_pace(found, until, 0.0, MONTH.end) == found
    assert at_pace(found, until, 100.0, until + timedelta(hours=19)) == found


def test_both_windows_have_to_agree() -> None:
    one_bad_day = burn([*[50] * 16, 500])
    a_bad_week = burn([*[0] * 10, *[200] * 7])
    a_bad_week_that_is_over = burn([*[0] * 10, *[200] * 7, 0])

    assert one_bad_day.outlook is Outlook.WITHIN
    assert a_bad_week.outlook is Outlook.BURNING
    assert a_bad_week_that_is_over.outlook is Outlook.WITHIN
    assert burn([*[0] * 10, *[500] * 7, 0]).outlook is Outlook.GONE


def test_the_time_at_which_it_is_gone_is_that_of_the_slower_rate() -> None:
    found = burn([*[0] * 10, *[300] * 7, 600])

    # 2,700 of 3,000 are spent after 18 days; the week has 343 a day, the day has 600.
    week = sum([300] * 6 + [600]) / 7
    assert found.spent == 2_700
    assert found.gone_at is not None
    left = (found.gone_at - START) / timedelta(days=1) - 18
    assert left == pytest.approx(300 / week, abs=0.01)


@given(
    st.lists(st.integers(0, 1_500), min_size=1, max_size=DAYS - 1),
    st.sampled_from([95.0, 99.0, 99.5, 99.9]),
)
def test_the_outlook_equals_a_count_day_by_day(failed: list[int], target: float) -> None:
    found = burn(failed, target)

    allowed = Fraction(str(100 - Fraction(str(target)))) * CALLS * DAYS / 100
    week = sum(([0] * 7 + failed)[-7:])
    ends = []
    for a_day in (Fraction(failed[-1]), Fraction(week, 7)):
        total = Fraction(sum(failed))
        for _ in range(DAYS - len(failed)):
            total += a_day
        ends.append(total)
    gone = sum(failed) > allowed
    burning = not gone and all(one > allowed for one in ends)
    expected = Outlook.GONE if gone else Outlook.BURNING if burning else Outlook.WITHIN
    assert found.outlook is expected
    assert (found.gone_at is not None) == burning
    if found.gone_at is not None:
        assert START + timedelta(days=len(failed)) <= found.gone_at <= MONTH.end


def test_a_measure_without_a_target_or_without_calls_has_no_budget() -> None:
    now = START + timedelta(days=5)

    assert burns_of(Seen([figure(10, 1, None)], [], []), MONTH, now) == ()
    assert burns_of(Seen([figure(10, 1)], [figure(10, 1)], [figure(0, 0)]), MONTH, now) == ()


def test_of_few_failures_that_are_allowed_the_fraction_is_shown() -> None:
    """4 of 1 would be over by 300 %; it is over by 192 %."""
    four_of = figure(137, 4)
    (found,) = burns_of(Seen([four_of], [four_of], [four_of]), MONTH, MONTH.end)

    assert (found.allowed, found.spent, found.left_percent) == (1, 4, -191.97)
    allowed, places = shown_allowed(found)
    assert (round(allowed, places), places) == (1.4, 1)
    assert shown_allowed(burn([100] * 20)) == (3_000, 0)
    assert shown_allowed(burn([0] * 20, 99.9999)) == (0, 0)
