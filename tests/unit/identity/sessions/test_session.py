"""How long a session of the console lets its holder in. Pure."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from mudra.identity.sessions.session import Session, Stage

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


def test_a_proof_counts_for_its_time() -> None:
    within = timedelta(minutes=5)

    assert session(timedelta()).is_proven(BEGUN, within)
    assert session(timedelta()).is_proven(BEGUN + timedelta(minutes=4), within)
    assert not session(timedelta()).is_proven(BEGUN + timedelta(minutes=5), within)
    assert not session(timedelta()).is_proven(BEGUN - timedelta(seconds=1), within)


@pytest.mark.parametrize("stage", [Stage.CODE, Stage.ENROLL])
def test_one_that_waits_for_its_second_step_ends_after_a_quarter_of_an_hour(stage: Stage) -> None:
    waiting = replace(session(timedelta()), stage=stage)

    assert waiting.is_open(BEGUN + timedelta(minutes=14, seconds=59))
    assert not waiting.is_open(BEGUN + timedelta(minutes=15))
