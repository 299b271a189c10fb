"""Windows of a payload at the very ends of what is taken, and what a refusal says."""

from datetime import UTC, datetime, timedelta

import pytest

from mudra.metrics.payload.window_rule import WINDOW, window_findings

CLOCK_TOLERANCE = timedelta(seconds=60)
OLDEST = timedelta(days=7)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def found(start: datetime, end: datetime, now: datetime = NOW) -> list[tuple[str, str]]:
    texts = [moment.strftime("%Y-%m-%dT%H:%M:%SZ") for moment in (start, end)]
    return [(one.path, one.problem) for one in window_findings(*texts, now)]


def test_a_window_is_taken_until_it_is_seven_days_old_to_the_second() -> None:
    start = NOW - WINDOW

    assert found(start, NOW, NOW - CLOCK_TOLERANCE) == []
    early = found(start, NOW, NOW - CLOCK_TOLERANCE - timedelta(seconds=1))
    assert early[0][0] == "$.toDateTime"
    assert early[0][1].startswith("lies in the future: here it is 2026-03-01T")
    assert early[0][1].endswith("Z")
    assert found(start, NOW, NOW + OLDEST) == []
    late = found(start, NOW, NOW + OLDEST + timedelta(seconds=1))
    assert late == [("$.toDateTime", "is more than 7 days ago: here it is 2026-03-08T12:00:01Z")]


@pytest.mark.parametrize("minutes", [9, 11])
def test_a_window_lasts_ten_minutes(minutes: int) -> None:
    start = NOW - timedelta(minutes=30)
    ((path, problem),) = found(start, start + timedelta(minutes=minutes))

    assert path == "$.toDateTime"
    assert problem == f"is {minutes * 60} seconds after fromDateTime"


def test_a_window_begins_at_a_full_ten_minutes_and_the_refusal_says_which() -> None:
    start = NOW - timedelta(minutes=33)
    (first, *_) = window_findings(
        start.strftime("%Y-%m-%dT%H:%M:%SZ"),
        (start + WINDOW).strftime("%Y-%m-%dT%H:%M:%SZ"),
        NOW,
    )

    assert first.path == "$.fromDateTime"
    assert first.nearest == "2026-03-01T11:20:00Z"
