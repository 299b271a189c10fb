"""How long a session of the console lets its holder in. Pure."""

from datetime import UTC, datetime, timedelta

from mudra.identity.sessions.session import Session

BEGUN = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


def session(used_after: timedelta) -> Session:
    return Session(b"key", "user", "word", BEGUN, BEGUN + used_after, BEGUN, "192.0.2.1")


def test_it_ends_after_one_hour_unused() -> None:
    assert session(timedelta()).is_open(BEGUN + timedelta(minutes=59))
    assert not session(timedelta()).is_open(BEGUN + timedelta(minutes=60))


def test_it_ends_after_twelve_hours_however_much_it_is_used() -> None:
    late = session(timedelta(hours=11, minutes=59))

    assert late.is_open(BEGUN + timedelta(hours=11, minutes=59, seconds=30))
    assert not late.is_open(BEGUN + timedelta(hours=12))


def test_secrets_are_shown_for_five_minutes_after_a_typed_password() -> None:
    assert session(timedelta()).may_show_secrets(BEGUN + timedelta(minutes=4))
    assert not session(timedelta()).may_show_secrets(BEGUN + timedelta(minutes=5))
    assert not session(timedelta()).may_show_secrets(BEGUN - timedelta(seconds=1))
