"""How an incident is doing, in a sentence that the windows next to it never contradict."""

from datetime import UTC, datetime

import msgspec
import pytest
from tests.support.metrics.incidents import an_incident

from mudra.console.health.incident_state import state_now
from mudra.metrics.incidents.incident import AaReporting, Fip, StoredIncident, Subject
from mudra.metrics.payload.catalogue import WINDOW

NOW = datetime(2026, 11, 24, 7, 24, tzinfo=UTC)
CLOSED = datetime(2026, 11, 24, 7, 20, tzinfo=UTC)


def stored(subject: Subject, last_bad: datetime) -> StoredIncident:
    made = msgspec.structs.replace(an_incident(subject, last_bad - WINDOW), last_bad=last_bad)
    return StoredIncident("1", made, None)


@pytest.mark.parametrize(
    ("judged", "last_bad", "tone", "text"),
    [
        (0, 1, "bad", "Bad in the latest window."),
        (1, 2, "bad", "Bad in the latest judged window; later ones wait for reports."),
        (
            0,
            2,
            "warn",
            "Recovering. Not bad in the last 10 minutes. Closes after 30 good minutes.",
        ),
        (
            0,
            3,
            "warn",
            "Recovering. Not bad in the last 20 minutes. Closes after 30 good minutes.",
        ),
        (2, 3, "bad", "Bad in the latest judged window; later ones wait for reports."),
        (
            2,
            5,
            "warn",
            "Recovering. Not bad in the last 20 minutes. Closes after 30 good minutes.",
        ),
    ],
)
def test_nothing_is_said_of_windows_that_are_not_judged(
    judged: int, last_bad: int, tone: str, text: str
) -> None:
    """`judged` and `last_bad` are windows before the last that has closed."""
    found = state_now(
        stored(Fip("A-FIP"), CLOSED - last_bad * WINDOW), CLOSED - judged * WINDOW, NOW
    )

    assert (found.tone, found.text) == (tone, text)


def test_a_silent_agent_is_still_silent_where_the_last_judged_window_misses_it() -> None:
    found = state_now(stored(AaReporting("A-AA"), CLOSED - 3 * WINDOW), CLOSED - 2 * WINDOW, NOW)

    assert (found.tone, found.text) == ("bad", "Still silent.")


def test_an_agent_that_reports_again_is_recovering() -> None:
    found = state_now(stored(AaReporting("A-AA"), CLOSED - 2 * WINDOW), CLOSED, NOW)

    assert found.recovering
    assert found.text == (
        "Recovering. No report of the last 10 minutes is missing."
        " Closes after 20 minutes with all reports."
    )
