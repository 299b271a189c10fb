"""Quality A1, A3, A13."""

from datetime import UTC, datetime, timedelta

import pytest

from mudra.identity.sign_in.sign_in import throttle
from mudra.identity.sign_in.throttle import FRESH, Disabled, History, Proceed, Wait

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("failures", [0, 1, 2, 3])
def test_three_failures_are_free(failures: int):
    """A1: guesses are few and slow."""
    assert throttle.decide(History(failures, NOON), NOON) == Proceed()


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(4, 1), (5, 2), (6, 4), (7, 8), (12, 256), (13, 512), (14, 900), (15, 900), (99, 900)],
)
def test_each_further_failure_doubles_the_wait_up_to_15_minutes(failures: int, seconds: int):
    """A1: guesses are few and slow."""
    until = NOON + timedelta(seconds=seconds)

    assert throttle.decide(History(failures, NOON), until - timedelta(milliseconds=1)) == Wait(
        until
    )
    assert throttle.decide(History(failures, NOON), until) == Proceed()


def test_at_a_hundred_failures_the_password_is_off_for_good():
    """A1: guesses are few and slow."""
    history = throttle.after_failure(History(99, NOON), NOON)

    assert throttle.decide(history, NOON + timedelta(days=3650)) == Disabled()
    assert throttle.after_failure(history, NOON) == history


def test_the_user_is_notified_once_at_5_20_and_50():
    """A1: guesses are few and slow."""
    history, shown = FRESH, []
    while not isinstance(throttle.decide(history, NOON), Disabled):
        after = throttle.after_failure(history, NOON)
        shown.append(throttle.notice_due(history, after))
        history = after

    assert [at for at in shown if at] == [5, 20, 50]


def test_a_clock_that_jumps_back_does_not_open_the_gate():
    assert isinstance(throttle.decide(History(20, NOON + timedelta(hours=1)), NOON), Wait)


def test_an_address_has_ten_failures_in_five_minutes():
    """A3: by address."""
    nine = [NOON + timedelta(seconds=n) for n in range(9)]
    now = NOON + timedelta(seconds=30)

    assert throttle.decide_address(nine, now) == Proceed()
    assert throttle.decide_address([*nine, now], now) == Wait(NOON + timedelta(minutes=5))
    assert throttle.decide_address([*nine, now], NOON + timedelta(minutes=5)) == Proceed()


def test_an_address_gets_three_links_in_six_hours_and_five_in_a_day():
    """A13: how often a link goes out."""

    def allowed(*hours_ago: float) -> bool:
        return throttle.may_send_link([NOON - timedelta(hours=h) for h in hours_ago], NOON)

    assert allowed()
    assert allowed(1, 2)
    assert not allowed(1, 2, 5.99)
    assert allowed(1, 2, 6)
    assert allowed(1, 7, 13, 19)
    assert not allowed(1, 7, 13, 19, 23.99)
    assert allowed(1, 7, 13, 19, 24)


def test_an_account_signs_in_so_often_in_an_hour_and_waits_for_the_oldest():
    hour, second = timedelta(hours=1), timedelta(seconds=1)
    times = [NOON - timedelta(minutes=minutes) for minutes in (50, 30, 10)]

    assert throttle.decide_successes(times, NOON, 4) == Proceed()
    assert throttle.decide_successes(times, NOON, 3) == Wait(times[0] + hour)
    assert throttle.decide_successes(times, NOON, 2) == Wait(times[1] + hour)
    assert throttle.decide_successes([NOON - hour], NOON, 1) == Proceed()
    assert throttle.decide_successes([NOON - hour + second], NOON, 1) == Wait(NOON + second)
    assert throttle.decide_successes([NOON + hour], NOON, 1) == Wait(NOON + hour)


def test_a_failure_counts_once_and_from_now_on():
    assert throttle.after_failure(FRESH, NOON) == History(1, NOON)
    assert throttle.after_failure(History(99, None), NOON) == History(100, NOON)
    assert throttle.after_failure(History(100, None), NOON) == History(100, None)
