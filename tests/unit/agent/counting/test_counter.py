"""Calls and their answers, in halves and whole, and the windows they belong to."""

import pytest
from tests.support.manual_clock import INWARD, OUTWARD, SECOND, START, WINDOW

from mudra.agent.counting.counter import Counter
from mudra.agent.counting.event import Began, Call, Ended
from mudra.agent.counting.fi_session_tracker import Sessions
from mudra.agent.counting.window import MAX_FIPS, Windows


@pytest.fixture
def counter() -> Counter:
    return Counter(Windows(), Sessions())


def _began(key: str = "k", at: int = 0, code: str = "adisc", *, inward: bool = False) -> Began:
    return Began(key, inward, "FIP-1", code, START + at, at)


def _ended(
    key: str = "k", at: int = 120, status: int = 200, *, inward: bool = False, size: int = 0
) -> Ended:
    return Ended(key, inward, START + at, at, status, size)


def test_two_halves_make_one_call_with_its_duration(counter: Counter) -> None:
    counter.apply([_began(), _ended(at=120, status=404)])

    tally = counter.close(START).requests["FIP-1", "adisc"]
    assert tally.counts == [1, 0, 0, 0, 0, 1, *[0] * 9]
    assert tally.times is not None
    assert tally.times.percentiles() == (120,) * 4


def test_a_call_without_an_answer_is_in_the_total_only(counter: Counter) -> None:
    counter.apply([_began("1"), _began("2"), _ended("2", status=0)])

    tally = counter.close(START).requests["FIP-1", "adisc"]
    assert tally.counts == [2, *[0] * 14]
    assert tally.times is None


def test_an_answer_later_than_30_seconds_is_no_answer(counter: Counter) -> None:
    counter.apply([_began(), _ended(at=30 * SECOND + 1)])
    counter.apply([Call(OUTWARD, "FIP-1", "adisc", START, 0, 30 * SECOND + 1, 200)])

    assert counter.close(START).requests["FIP-1", "adisc"].counts == [2, *[0] * 14]
    assert counter.figures.late_answers == 2


def test_a_call_belongs_to_the_window_in_which_it_began(counter: Counter) -> None:
    counter.apply([_began(at=WINDOW - 1), _ended(at=WINDOW + 20 * SECOND)])

    assert counter.windows.due(START + WINDOW + 29_999) == []
    assert counter.windows.due(START + WINDOW + 30_000) == [START]
    assert counter.close(START).requests["FIP-1", "adisc"].counts[:2] == [1, 1]


def test_what_comes_for_a_closed_window_is_late_and_never_opens_it_again(counter: Counter) -> None:
    counter.apply([_began()])
    counter.close(START)

    counter.apply([_began("other", at=5), Call(INWARD, "FIP-1", "alnot", START, 0, 1, 200)])

    assert counter.windows.open == {}
    assert counter.figures.late == 2


def test_a_half_told_twice_counts_once(counter: Counter) -> None:
    counter.apply([_began(), _began(), _ended(), _ended(), _began()])

    assert counter.close(START).requests["FIP-1", "adisc"].counts[:2] == [1, 1]
    assert counter.figures.repeated == 2
    assert counter.figures.unmatched == 0


def test_an_answer_to_nothing_is_noted(counter: Counter) -> None:
    counter.apply([_ended("never")])

    assert counter.figures.unmatched == 1
    assert not counter.windows.open


def test_the_same_key_in_both_directions_is_two_calls(counter: Counter) -> None:
    counter.apply([_began(), _began(code="alnot", inward=True), _ended(inward=True), _ended()])

    tally = counter.close(START)
    assert tally.requests["FIP-1", "adisc"].counts[:2] == [1, 1]
    assert tally.notices["FIP-1", "alnot"].counts[:2] == [1, 1]


def test_sizes_of_fetched_packets_add_up_for_good_answers_only(counter: Counter) -> None:
    counter.apply(
        [
            _began("1", code="fif"),
            _ended("1", size=700),
            _began("2", code="fif"),
            _ended("2", status=500, size=9),
        ]
    )

    assert counter.close(START).requests["FIP-1", "fif"].size == 700


def test_calls_under_way_that_are_overdue_are_given_up(counter: Counter) -> None:
    counter.apply([_began("old"), _began("new", at=20_000)])

    counter.expire(31_000)

    assert counter.under_way == 1


def test_a_window_takes_no_more_fips_than_there_can_be(counter: Counter) -> None:
    counter.apply(
        Call(OUTWARD, f"F-{number}", "hbt", START, 0, 1, 200) for number in range(MAX_FIPS + 7)
    )

    assert len(counter.close(START).fips) == MAX_FIPS
    assert counter.figures.over_limit == 7


def test_fi_notifications_without_session_are_noted_not_guessed(counter: Counter) -> None:
    counter.apply(
        [_began(code="finot", inward=True), Call(INWARD, "FIP-1", "finot", START, 0, 1, 200)]
    )

    assert counter.figures.unread_notices == 2
    assert not counter.windows.open


def test_a_snapshot_in_the_middle_of_calls_changes_nothing(counter: Counter) -> None:
    counter.apply([_began("1"), _began("2"), _ended("2")])

    other = Counter(Windows(), Sessions())
    other.restore(counter.state(), shift=0)
    other.apply([_ended("1", at=77), _began("2")])

    tally = other.close(START).requests["FIP-1", "adisc"]
    assert tally.counts[:2] == [2, 2]
    assert tally.times is not None
    assert tally.times.percentiles() == (77, 120, 120, 120)
