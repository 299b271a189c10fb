"""Quality S9: each reminder exactly once, also when the service was down on the day."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.depth import examples

from mudra.tokens.reminders.remind import (
    AFTER_EXPIRY,
    DAYS_BEFORE,
    NOTHING_DUE,
    Reminder,
    reminder_due,
)

MADE = datetime(2026, 1, 1, tzinfo=UTC)
MARKS = {*DAYS_BEFORE, AFTER_EXPIRY}


def due(days_before: float, done: set[int] | None = None, life: int = 180) -> Reminder:
    expires = MADE + timedelta(days=life)
    return reminder_due(
        made_at=MADE,
        expires_at=expires,
        done=done or set(),
        now=expires - timedelta(days=days_before),
    )


def emails(life_days: int, checks: list[float]) -> list[tuple[float, int]]:
    """Look at these days after the making of the secret; give the emails that went out."""
    done: set[int] = set()
    sent = []
    for day in checks:
        found = due(life_days - day, done, life_days)
        done |= found.done
        if found.send is not None:
            sent.append((day, found.send))
    return sent


@pytest.mark.parametrize("mark", [30, 14, 7, 3, 1, 0])
def test_each_day_is_due_from_its_very_moment(mark: int):
    before = {day for day in MARKS if day > mark}

    assert due(mark + 0.0001, before) == NOTHING_DUE
    assert due(mark, before) == Reminder(mark, frozenset({mark}))


def test_a_year_of_hourly_looks_sends_each_exactly_once():
    hours = [hour / 24 for hour in range(24 * 365)]

    assert emails(180, hours) == [(150, 30), (166, 14), (173, 7), (177, 3), (179, 1), (180, 0)]


def test_after_days_of_downtime_only_the_most_urgent_is_sent():
    assert due(2) == Reminder(3, frozenset({30, 14, 7, 3}))
    assert due(2, {30}) == Reminder(3, frozenset({14, 7, 3}))
    assert due(-50) == Reminder(AFTER_EXPIRY, frozenset(MARKS))


def test_after_a_late_one_the_next_comes_at_its_time():
    assert emails(180, [0, 178, 178.5, 179, 180, 181]) == [(178, 3), (179, 1), (180, 0)]


def test_a_secret_of_ten_days_is_not_reminded_of_days_before_it_was_made():
    assert emails(10, [0, 0.1, 3, 7, 9, 10]) == [(3, 7), (7, 3), (9, 1), (10, 0)]


def test_a_secret_of_one_day_gets_only_the_email_after_its_expiry():
    assert emails(1, [0, 0.5, 1]) == [(1, 0)]


def test_a_clock_that_jumps_back_sends_nothing_again():
    assert due(20, {30, 14, 7}) == NOTHING_DUE
    assert due(20, {14, 7}) == Reminder(None, frozenset({30}))


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 180), st.lists(st.floats(0, 200), min_size=1, max_size=60))
def test_whenever_one_looks_no_mark_is_sent_twice_and_urgency_only_grows(
    life: int, looks: list[float]
):
    sent = [mark for _, mark in emails(life, sorted(looks))]

    assert sent == sorted(set(sent), reverse=True)
    assert (AFTER_EXPIRY in sent) == any(day >= life for day in looks)
