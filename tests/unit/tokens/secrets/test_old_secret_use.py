"""When a member is notified that its old secret is still in use, and how use is described."""

from datetime import UTC, datetime, timedelta

import pytest

from mudra.tokens.secrets.old_secret_use import (
    NEVER_USED,
    AddressUse,
    SecretUse,
    last_use_sentence,
    still_in_use,
)
from mudra.tokens.secrets.secret import EntitySecret, SecretState

RESET = datetime(2026, 3, 1, 12, tzinfo=UTC)


def old(days: int) -> EntitySecret:
    until = RESET + timedelta(days=days)
    made = RESET - timedelta(days=90)
    ends = RESET + timedelta(days=90)
    return EntitySecret("HDFC-FIP", 1, SecretState.GRACE, made, ends, until, days)


def used(hours_after_reset: float, in_grace: int = 1, addresses: int = 1) -> SecretUse:
    at = RESET + timedelta(hours=hours_after_reset)
    places = tuple(AddressUse(f"192.0.2.{n}", 1, at) for n in range(addresses))
    return SecretUse(places, in_grace)


@pytest.mark.parametrize(
    ("days", "used_at", "now", "notified"),
    [
        (7, 6 * 24 + 1, 6 * 24 - 1, False),  # not yet the last day
        (7, 6 * 24 + 1, 6 * 24 + 2, True),
        (7, 1, 6 * 24 + 2, False),  # used at the start only
        (7, 6 * 24 + 20, 8 * 24, True),  # the service was away at the end
        (1, 11, 11, False),  # the last half of a single day
        (1, 13, 14, True),
    ],
)
def test_a_member_is_notified_near_the_end_of_the_grace_period(
    days: int, used_at: float, now: float, notified: bool
):
    assert still_in_use(old(days), used(used_at), RESET + timedelta(hours=now)) is notified


def test_use_before_the_reset_is_no_reason_to_write():
    now = RESET + timedelta(days=6, hours=12)

    assert not still_in_use(old(7), used(6 * 24 + 1, in_grace=0), now)
    assert not still_in_use(old(7), NEVER_USED, now)


@pytest.mark.parametrize(
    ("hours_ago", "addresses", "words"),
    [
        (26, 2, "last used 26 hours ago from 2 addresses"),
        (1, 1, "last used 1 hour ago from 1 address"),
        (0.5, 1, "last used 30 minutes ago from 1 address"),
        (0, 1, "last used just now from 1 address"),
        (49, 3, "last used 2 days ago from 3 addresses"),
    ],
)
def test_the_last_use_is_described_for_people(hours_ago: float, addresses: int, words: str):
    now = RESET + timedelta(hours=hours_ago)

    assert last_use_sentence(used(0, addresses=addresses), now) == words


def test_no_use_is_described_as_never_used():
    assert last_use_sentence(NEVER_USED, RESET) == "never used"
