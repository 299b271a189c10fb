"""An incident that came to be at other members says when, and where it was before."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace
from tests.support.metrics.incidents import an_incident

from mudra.metrics.incidents.incident import (
    Fip,
    FipApi,
    Incident,
    Path,
    Subject,
    TimelineChange,
    TimelineEntry,
)
from mudra.metrics.notifications.alarm import moved_from

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WINDOW = timedelta(minutes=10)


def moving(first: Subject, *later: tuple[int, TimelineChange, Subject]) -> Incident:
    opened = an_incident(first, NOON)
    entries = [TimelineEntry(NOON + at * WINDOW, change, to) for at, change, to in later]
    now = later[-1][2] if later else first
    return replace(opened, subject=now, timeline=(*opened.timeline, *entries))


def test_the_latest_move_counts_and_a_move_within_a_member_does_not() -> None:
    grew = moving(FipApi("BANK", "fif"), (2, TimelineChange.GREW, Fip("BANK")))
    moved = moving(
        Fip("BANK"),
        (2, TimelineChange.SHRANK, Path("AA", "BANK")),
        (5, TimelineChange.MOVED, Fip("BANK")),
        (8, TimelineChange.MOVED, Path("AA", "BANK")),
    )

    assert moved_from(moving(Fip("BANK"))) is None
    assert moved_from(grew) is None
    assert moved_from(moved, {"BANK": "Kaveri Bank"}) == (NOON + 9 * WINDOW, "Kaveri Bank")


def test_what_late_reports_corrected_is_where_it_was() -> None:
    opened = moving(Path("AA", "BANK"))
    late = TimelineEntry(
        NOON + 3 * WINDOW, TimelineChange.CORRECTED, Path("AA", "BANK"), before=Fip("BANK")
    )

    found = moved_from(replace(opened, timeline=(*opened.timeline, late)))

    assert found == (NOON + 4 * WINDOW, "FIP BANK")
