"""Calls and their answers, in halves and whole, and the windows they belong to."""

import pytest
from tests.support.manual_clock import INBOUND, OUTBOUND, SECOND, START, WINDOW

from mudra.agent.counting.counter import Counter
from mudra.agent.counting.event import Call, CallEnded, CallStarted, FiStatus, Notification
from mudra.agent.counting.fi_session_tracker import FiSessionTracker
from mudra.agent.counting.window import Windows

MAX_FIPS = 5_000


@pytest.fixture
def counter() -> Counter:
    return Counter(Windows(), FiSessionTracker())


def _started(
    key: str = "k", at: int = 0, code: str = "adisc", *, inbound: bool = False
) -> CallStarted:
    return CallStarted(key, inbound, "FIP-1", code, START + at, at)


def _ended(
    key: str = "k", at: int = 120, status: int = 200, *, inbound: bool = False, size: int = 0
) -> CallEnded:
    return CallEnded(key, inbound, START + at, at, status, size)


def test_two_halves_make_one_call_with_its_duration(counter: Counter) -> None:
    counter.apply([_started(), _ended(at=120, status=404)])

    tally = counter.close(START).requests["FIP-1", "adisc"]
    assert tally.counts == [1, 0, 0, 0, 0, 1, *[0] * 9]
    assert tally.times is not None
    assert tally.times.percentiles() == (120,) * 4


def test_a_call_without_an_answer_is_in_the_total_only(counter: Counter) -> None:
    counter.apply([_started("1"), _started("2"), _ended("2", status=0)])

    tally = counter.close(START).requests["FIP-1", "adisc"]
    assert tally.counts == [2, *[0] * 14]
    assert tally.times is None


def test_an_answer_later_than_30_seconds_is_no_answer(counter: Counter) -> None:
    counter.apply([_started(), _ended(at=30 * SECOND + 1)])
    counter.apply([Call(OUTBOUND, "FIP-1", "adisc", START, 0, 30 * SECOND + 1, 200)])

    assert counter.close(START).requests["FIP-1", "adisc"].counts == [2, *[0] * 14]
    assert counter.metrics.late_answers == 2


def test_a_call_belongs_to_the_window_in_which_it_began(counter: Counter) -> None:
    counter.apply([_started(at=WINDOW - 1), _ended(at=WINDOW + 20 * SECOND)])

    assert counter.windows.due(START + WINDOW + 29_999) == []
    assert counter.windows.due(START + WINDOW + 30_000) == [START]
    assert counter.close(START).requests["FIP-1", "adisc"].counts[:2] == [1, 1]


def test_what_comes_for_a_closed_window_is_late_and_never_opens_it_again(counter: Counter) -> None:
    counter.apply([_started()])
    counter.close(START)

    counter.apply([_started("other", at=5), Call(INBOUND, "FIP-1", "alnot", START, 0, 1, 200)])

    assert counter.windows.open == {}
    assert counter.metrics.late == 2


def _timeout(at: int, took: int, code: str = "adisc") -> Call:
    return Call(OUTBOUND, "FIP-1", code, START + at, at, took, 504)


@pytest.mark.parametrize("took", [31 * SECOND, 60 * SECOND, 120 * SECOND])
def test_a_call_without_an_answer_counts_once_whenever_its_window_closes(
    counter: Counter, took: int
) -> None:
    for at in range(0, 2 * WINDOW, SECOND):
        for start in counter.windows.due(START + at + took):
            if start == START:
                first = counter.close(start).requests["FIP-1", "adisc"].counts
        counter.apply([_timeout(at, took)])

    second = counter.close(START + WINDOW).requests["FIP-1", "adisc"].counts
    moved = (took - 30 * SECOND) // SECOND
    assert (first, second) == ([600 - moved, *[0] * 14], [600 + moved, *[0] * 14])
    assert counter.metrics.late == 0


def test_a_call_that_ended_in_a_closed_window_stays_late(counter: Counter) -> None:
    counter.apply([_timeout(0, 31 * SECOND)])
    counter.close(START)
    ended, earlier = _timeout(WINDOW - 32 * SECOND, 31 * SECOND), WINDOW - SECOND
    counter.apply([ended, Call(OUTBOUND, "FIP-1", "adisc", START + earlier, earlier, 5, 200)])

    assert counter.windows.open == {}
    assert counter.metrics.late == 2


def test_both_halves_of_a_call_that_are_reported_once_it_is_over_count_in_the_next_window(
    counter: Counter,
) -> None:
    began, ended = WINDOW - 20 * SECOND, WINDOW + 40 * SECOND
    counter.apply([_started()])
    counter.close(START)
    counter.apply([_started("lost", began), _started("late", began), _started("old", 9)], ended)

    other = Counter(Windows((START,)), FiSessionTracker())
    other.restore(counter.state(), shift=0, mono=ended)
    other.apply([_ended("late", began + 9), _ended("lost", ended, status=0)], ended)
    other.apply([_started("lost", began), _ended("lost", ended)], ended)
    other.expire(ended + 31 * SECOND)

    assert other.close(START + WINDOW).requests["FIP-1", "adisc"].counts == [1, *[0] * 14]
    assert other.metrics.late == 2
    assert other.metrics.repeated == 1
    assert other.pending == 0


def test_a_notification_that_is_answered_too_late_counts_in_the_next_window(
    counter: Counter,
) -> None:
    at, took = WINDOW - 20 * SECOND, 60 * SECOND
    ready = Notification("S-1", FiStatus.READY)
    counter.apply([_started()])
    counter.close(START)
    counter.apply([Call(INBOUND, "FIP-1", "finot", START + at, at, took, 200, notification=ready)])

    tally = counter.close(START + WINDOW).notifications["FIP-1", "finot"]
    assert tally.counts == [1, *[0] * 14]
    assert counter.metrics.late == 0


def test_a_half_reported_twice_counts_once(counter: Counter) -> None:
    counter.apply([_started(), _started(), _ended(), _ended(), _started()])

    assert counter.close(START).requests["FIP-1", "adisc"].counts[:2] == [1, 1]
    assert counter.metrics.repeated == 2
    assert counter.metrics.unmatched == 0


def test_an_answer_to_nothing_is_noted(counter: Counter) -> None:
    counter.apply([_ended("never")])

    assert counter.metrics.unmatched == 1
    assert not counter.windows.open


def test_the_same_key_in_both_directions_is_two_calls(counter: Counter) -> None:
    counter.apply(
        [_started(), _started(code="alnot", inbound=True), _ended(inbound=True), _ended()]
    )

    tally = counter.close(START)
    assert tally.requests["FIP-1", "adisc"].counts[:2] == [1, 1]
    assert tally.notifications["FIP-1", "alnot"].counts[:2] == [1, 1]


def test_sizes_of_fetched_packets_add_up_for_good_answers_only(counter: Counter) -> None:
    counter.apply(
        [
            _started("1", code="fif"),
            _ended("1", size=700),
            _started("2", code="fif"),
            _ended("2", status=500, size=9),
        ]
    )

    assert counter.close(START).requests["FIP-1", "fif"].size == 700


def test_calls_under_way_that_are_overdue_are_given_up(counter: Counter) -> None:
    counter.apply([_started("old"), _started("new", at=20_000)])

    counter.expire(31_000)

    assert counter.pending == 1


def test_a_call_of_long_ago_that_was_reported_now_waits_for_its_answer(counter: Counter) -> None:
    counter.apply([_started()], mono=3_600_000)
    counter.expire(3_601_000)

    counter.apply([_ended(at=120)], mono=3_602_000)

    assert counter.close(START).requests["FIP-1", "adisc"].counts[:2] == [1, 1]


def test_a_whole_call_with_a_key_counts_once(counter: Counter) -> None:
    call = Call(OUTBOUND, "FIP-1", "adisc", START, 0, 1, 200, key="trace-span")
    counter.apply([call, call])

    assert counter.close(START).requests["FIP-1", "adisc"].counts[:2] == [1, 1]
    assert counter.metrics.repeated == 1


def test_a_window_takes_no_more_fips_than_there_can_be(counter: Counter) -> None:
    counter.apply(
        Call(OUTBOUND, f"F-{number}", "hbt", START, 0, 1, 200) for number in range(MAX_FIPS + 7)
    )

    assert len(counter.close(START).fips) == MAX_FIPS
    assert counter.metrics.over_limit == 7


def test_fi_notifications_without_session_are_noted_not_guessed(counter: Counter) -> None:
    counter.apply(
        [_started(code="finot", inbound=True), Call(INBOUND, "FIP-1", "finot", START, 0, 1, 200)]
    )

    assert counter.metrics.unread_notifications == 2
    assert not counter.windows.open


def test_a_snapshot_in_the_middle_of_calls_changes_nothing(counter: Counter) -> None:
    counter.apply([_started("1"), _started("2"), _ended("2")])

    other = Counter(Windows(), FiSessionTracker())
    other.restore(counter.state(), shift=0)
    other.apply([_ended("1", at=77), _started("2")])

    tally = other.close(START).requests["FIP-1", "adisc"]
    assert tally.counts[:2] == [2, 2]
    assert tally.times is not None
    assert tally.times.percentiles() == (77, 120, 120, 120)
