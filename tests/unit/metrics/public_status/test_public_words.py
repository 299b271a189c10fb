"""Shares and times of incidents, honest to the last digit."""

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace
from tests.support.metrics.incidents import an_incident

from mudra.console.health.tables import incident_success
from mudra.console.pages.public.status.status_files import atom_feed
from mudra.console.pages.public.status.status_lines import line_of, states_of
from mudra.metrics.incidents.incident import (
    Ending,
    Fip,
    Incident,
    Path,
    StoredIncident,
    Symptom,
    TimelineChange,
    TimelineEntry,
)
from mudra.metrics.notifications.alarm import symptom_text, timeline_lines
from mudra.metrics.public_status.status_history import (
    Day,
    DayState,
    FipHistory,
    StatusSnapshot,
    public_incident,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WINDOW = timedelta(minutes=10)
DAYS = timedelta(days=3)
BANK = Fip("BANK")


def changed(incident: Incident, *changes: tuple[int, TimelineChange]) -> Incident:
    """With more changes, each so many windows after the incident began."""
    entries = [
        TimelineEntry(incident.began + number * WINDOW, change, incident.subject)
        for number, change in changes
    ]
    return replace(incident, timeline=(*incident.timeline, *entries))


def atom(*incidents: Incident) -> list[dict[str, str]]:
    shown = [one for one in map(public_incident, incidents) if one is not None]
    snapshot = StatusSnapshot(NOON, [], shown, 3, 3, 9, 9)
    feed = ET.fromstring(atom_feed(snapshot, "Status", "https://s.example"))
    space = "{http://www.w3.org/2005/Atom}"
    names = ("title", "updated", "published")
    return [
        {name: entry.findtext(f"{space}{name}") or "" for name in names}
        for entry in feed.findall(f"{space}entry")
    ]


@pytest.mark.parametrize("size", [10**7, 2**53 + 2, 10**18])
def test_one_failed_call_of_many_is_never_all_or_a_whole_per_cent(size: int) -> None:
    one = an_incident(BANK, NOON, eligible=size, succeeded=size - 1)
    other = an_incident(BANK, NOON, eligible=size, succeeded=1)

    public, worst = public_incident(one), public_incident(other)

    assert public is not None
    assert worst is not None
    assert public.success_percentage is not None
    assert public.success_percentage < 100
    shown = incident_success(StoredIncident("7", one, None))
    assert shown is not None
    assert shown < 100
    assert symptom_text(one) == "under 0.1 % of calls failing"
    assert symptom_text(other) == "99.9 % of calls failing"
    all_failed = an_incident(BANK, NOON, eligible=size, succeeded=0)
    assert symptom_text(all_failed) == "100 % of calls failing"


def test_an_incident_that_late_reports_prove_was_seen_when_they_came() -> None:
    past = an_incident(BANK, NOON, NOON + 3 * WINDOW)
    late = replace(changed(past, (5, TimelineChange.CLOSED)), detected=NOON + DAYS)

    assert {at for at, _ in timeline_lines(late)} == {NOON + DAYS}
    (entry,) = atom(late)
    assert entry["updated"] == entry["published"] == "2026-03-04T12:00:00Z"


def test_each_change_brings_an_entry_of_the_feed_forward() -> None:
    opened = an_incident(BANK, NOON)
    closed = changed(
        replace(opened, ended=NOON + 3 * WINDOW, ending=Ending.RECOVERED),
        (5, TimelineChange.CLOSED),
    )
    again = changed(replace(closed, ended=None, ending=Ending.OPEN), (8, TimelineChange.REOPENED))

    updated = [atom(one)[0]["updated"] for one in (opened, closed, again)]

    assert updated == ["2026-03-01T12:20:00Z", "2026-03-01T13:00:00Z", "2026-03-01T13:30:00Z"]
    newest = an_incident(Fip("OTHER"), NOON + 2 * WINDOW)
    assert [one["title"].split(":")[0] for one in atom(newest, again)] == ["BANK", "OTHER"]


def summary_of(*incidents: Incident, last: Day | None = None) -> str:
    """What is said of a day of such incidents and a good one before it."""
    shown = [one for one in map(public_incident, incidents) if one is not None]
    days = [
        Day(NOON.date() - timedelta(days=1), DayState.GOOD, 1000, 99.0),
        last or Day(NOON.date(), DayState.PARTLY, 1000, 97.0),
    ]
    fip = FipHistory("BANK", "Kaveri Bank", days, [])
    (state,) = states_of(StatusSnapshot(NOON, [fip], shown, 3, 3, 9, 9), NOON)
    return line_of(state).summary


def test_a_day_that_one_aa_alone_sees_disrupted_is_said_to_be_in_doubt() -> None:
    certain = an_incident(BANK, NOON, NOON + 3 * WINDOW)
    in_doubt = an_incident(BANK, NOON, NOON + 3 * WINDOW, ambiguous_with=(Path("AA-1", "BANK"),))
    slow = an_incident(BANK, NOON, NOON + 3 * WINDOW, symptoms=(Symptom.SLOW,), succeeded=200)

    assert summary_of(certain) == "1 of 2 days without disruption"
    assert summary_of(in_doubt) == "1 of 2 days without disruption; 1 possibly disrupted"
    assert summary_of(in_doubt, certain) == "1 of 2 days without disruption"
    assert summary_of(slow) == "2 of 2 days without disruption"


def test_a_rate_that_has_changed_for_good_is_degraded_and_no_disruption() -> None:
    deployed = an_incident(BANK, NOON, succeeded=188)
    of_rule, of_outage = (Day(NOON.date(), DayState.BAD, 1000, share) for share in (94.0, 60.0))

    assert summary_of(deployed, last=of_rule) == "2 of 2 days without disruption"
    assert summary_of(last=of_rule) == "2 of 2 days without disruption"
    assert summary_of(last=of_outage) == "1 of 2 days without disruption"
    assert summary_of(an_incident(BANK, NOON), last=of_rule) == "1 of 2 days without disruption"
    fip = FipHistory("BANK", "Kaveri Bank", [of_rule], [], last_24_hours=DayState.PARTLY)
    (state,) = states_of(StatusSnapshot(NOON, [fip], [], 3, 3, 9, 9), NOON)
    assert state.state == "Degraded earlier"
