"""Quality A1, over any order of tries, right and wrong, at any times."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.depth import examples

from mudra.identity.sign_in.sign_in import throttle
from mudra.identity.sign_in.throttle import FRESH, Disabled, History, Proceed, Wait

pytestmark = pytest.mark.deeper

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

pauses = st.one_of(
    st.floats(0, 0.01), st.floats(0, 3), st.floats(0, 1000), st.just(900.0), st.floats(0, 90000)
)


@settings(max_examples=examples(13), deadline=None)
@given(st.lists(pauses, min_size=1, max_size=400))
def test_never_more_than_a_hundred_failures_are_counted(seconds: list[float]):
    """A1: guesses are few and slow."""
    history, now, counted = FRESH, NOON, 0
    for pause in seconds:
        now += timedelta(seconds=pause)
        if isinstance(throttle.decide(history, now), Proceed):
            history = throttle.after_failure(history, now)
            counted += 1

    assert counted <= 100
    assert history.failures == counted


@settings(max_examples=examples(10), deadline=None)
@given(st.lists(st.floats(20, 800), min_size=1, max_size=50))
def test_reaching_a_hundred_takes_at_least_21_hours(impatience: list[float]):
    """A1: the attacker tries the moment it may, and now and then before that."""
    history, now, tries = FRESH, NOON, 0
    while not isinstance(decision := throttle.decide(history, now), Disabled):
        if isinstance(decision, Wait):
            early = impatience[tries % len(impatience)]
            now = min(decision.until, now + timedelta(seconds=early))
        else:
            history = throttle.after_failure(history, now)
        tries += 1

    assert history.failures == 100
    assert now - NOON >= timedelta(hours=21)
    assert now - NOON < timedelta(hours=22)


@settings(max_examples=examples(26), deadline=None)
@given(st.integers(0, 99), st.floats(0, 100_000))
def test_a_try_in_an_open_slot_always_proceeds(failures: int, seconds: float):
    """A1: guesses are few and slow."""
    history = History(failures, NOON)
    decision = throttle.decide(history, NOON + timedelta(seconds=seconds))
    until = decision.until if isinstance(decision, Wait) else NOON

    assert until <= NOON + timedelta(minutes=15)
    assert throttle.decide(history, max(until, NOON + timedelta(seconds=seconds))) == Proceed()


@settings(max_examples=examples(13), deadline=None)
@given(st.lists(st.floats(0, 120), max_size=60))
def test_an_address_never_has_more_than_ten_counted_failures_in_five_minutes(gaps: list[float]):
    """A3: by address."""
    counted: list[datetime] = []
    now = NOON
    for gap in gaps:
        now += timedelta(seconds=gap)
        if throttle.decide_address(counted, now) == Proceed():
            counted.append(now)

    for at in counted:
        assert sum(1 for t in counted if at - timedelta(minutes=5) < t <= at) <= 10


@settings(max_examples=examples(13), deadline=None)
@given(st.lists(st.floats(0, 5), max_size=60))
def test_link_mails_keep_both_limits_over_any_day(hours: list[float]):
    """A13: how often a link goes out."""
    sent: list[datetime] = []
    now = NOON
    for pause in hours:
        now += timedelta(hours=pause)
        if throttle.may_send_link(sent, now):
            sent.append(now)

    for at in sent:
        assert sum(1 for t in sent if at - timedelta(hours=6) < t <= at) <= 3
        assert sum(1 for t in sent if at - timedelta(hours=24) < t <= at) <= 5
