"""The reset rule at its edges and under any history."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

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

NOW = datetime(2028, 2, 29, 12, tzinfo=UTC)  # a leap day
MS = timedelta(milliseconds=1)
spans = st.timedeltas(timedelta(), timedelta(hours=30))


@pytest.mark.parametrize(
    ("ago_s", "decision"),
    [
        (299.9, ResetTooSoon(NOW + timedelta(seconds=0.1), NOW)),
        (300, ResetPermitted(3)),
        (300.1, ResetPermitted(3)),
    ],
)
def test_the_wait_ends_after_300_s_exactly(ago_s: float, decision: object) -> None:
    assert decide([NOW - timedelta(seconds=ago_s)], NOW) == decision


@pytest.mark.parametrize("before", [MS, timedelta(), -MS])
def test_the_fifth_reset_leaves_the_period_after_24_hours_exactly(before: timedelta) -> None:
    oldest = NOW - PERIOD + before
    history = [oldest, *(NOW - timedelta(hours=h) for h in (4, 3, 2, 1))]

    decision = decide(history, NOW)

    if before > timedelta():
        assert decision == ResetLimitReached(oldest + PERIOD, NOW)
    else:
        assert decision == ResetPermitted(0)


def test_rows_in_the_future_count_as_now_so_a_clock_set_back_permits_nothing() -> None:
    ahead = [NOW + timedelta(days=1, hours=n) for n in range(MAX_RESETS)]

    assert decide(ahead[:1], NOW) == ResetTooSoon(NOW + WAIT, NOW)
    assert decide(ahead, NOW) == ResetLimitReached(NOW + PERIOD, NOW)


@given(st.lists(spans, max_size=12), st.lists(spans, max_size=40))
def test_no_sequence_of_attempts_gets_more_than_5_in_24_hours_or_two_within_5_minutes(
    attempts: list[timedelta], more: list[timedelta]
) -> None:
    done: list[datetime] = []
    for at in sorted(NOW + span for span in attempts + more):
        if isinstance(decide(done, at), ResetPermitted):
            done.append(at)

    assert all(later - former >= WAIT for former, later in itertools.pairwise(done))
    for at in done:
        assert sum(at <= other < at + PERIOD for other in done) <= MAX_RESETS


@given(st.lists(st.timedeltas(timedelta(hours=-30), timedelta(hours=3)), max_size=9))
def test_a_refused_reset_is_permitted_at_the_returned_time_and_not_a_millisecond_before(
    offsets: list[timedelta],
) -> None:
    history = [NOW + offset for offset in offsets if offset <= timedelta()]
    decision = decide(history, NOW)

    if isinstance(decision, ResetPermitted):
        assert 0 <= decision.left < MAX_RESETS
        return
    assert decision.retry_at > NOW
    assert not isinstance(decide(history, decision.retry_at - MS), ResetPermitted)
    # A history beyond the rule (rows by hand) may need more than one wait; ours never does.
    if len([at for at in history if at > NOW - PERIOD]) <= MAX_RESETS:
        assert isinstance(decide(history, decision.retry_at), ResetPermitted)


@given(st.lists(spans, max_size=40))
def test_the_time_of_the_reset_after_the_next_is_exact_to_the_millisecond(
    attempts: list[timedelta],
) -> None:
    done: list[datetime] = []
    for at in sorted(NOW + span for span in attempts):
        if isinstance(decide(done, at), ResetPermitted):
            then = permitted_after(done, at)
            done.append(at)

            assert isinstance(decide(done, then), ResetPermitted)
            assert not isinstance(decide(done, then - MS), ResetPermitted)
