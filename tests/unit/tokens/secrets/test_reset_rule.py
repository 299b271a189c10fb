"""How many resets are left, and when the next one is permitted (spec 2.3)."""

from datetime import UTC, datetime, timedelta

from mudra.tokens.secrets.reset_rule import (
    ResetLimitReached,
    ResetPermitted,
    ResetTooSoon,
    decide,
    permitted_after,
)

MAX_RESETS = 5
PERIOD = timedelta(hours=24)
WAIT = timedelta(minutes=5)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_the_first_reset_of_a_day_leaves_four() -> None:
    assert decide([], NOW) == ResetPermitted(MAX_RESETS - 1)
    assert decide([NOW - PERIOD], NOW) == ResetPermitted(MAX_RESETS - 1)
    assert decide([NOW - WAIT], NOW) == ResetPermitted(MAX_RESETS - 2)


def test_the_wait_and_the_day_end_to_the_second() -> None:
    five = [NOW - PERIOD + SECOND, *(NOW - WAIT * n for n in range(4, 0, -1))]

    assert decide([NOW - WAIT + SECOND], NOW) == ResetTooSoon(NOW + SECOND, NOW)
    assert decide(five, NOW) == ResetLimitReached(NOW + SECOND, NOW)
    assert decide([NOW - PERIOD, *five[1:]], NOW) == ResetPermitted(0)


def test_the_page_says_when_the_reset_after_this_one_is_permitted() -> None:
    assert permitted_after([], NOW) == NOW + WAIT
    four = [NOW - timedelta(hours=n) for n in (4, 3, 2, 1)]
    assert permitted_after(four, NOW) == four[0] + PERIOD
