"""The causes on a page of health: their headlines are the board's, the page's own come first."""

from datetime import UTC, datetime, timedelta

from tests.support.metrics.incidents import an_incident

from mudra.console.health.labels import cause_lines, named_headline
from mudra.metrics.incidents.incident import AaCalls, AaReporting, Fip, FipApi, StoredIncident

NOW = datetime(2026, 11, 24, 6, tzinfo=UTC)


def test_a_cause_has_the_headline_that_the_board_has() -> None:
    subjects = FipApi("KAVERI-FIP", "fif"), AaReporting("KRISHNA-AA")
    found = [StoredIncident("1", an_incident(one, NOW), None) for one in subjects]

    heading = named_headline({"KAVERI-FIP": "Kaveri Bank"})

    headings = {line.heading.partition(": ")[0] for line in cause_lines(found, heading=heading)}

    assert headings == {"Kaveri Bank, FI fetch", "AA KRISHNA-AA"}


def test_the_cause_at_the_member_of_the_page_comes_before_one_that_reaches_it() -> None:
    own = StoredIncident("own", an_incident(Fip("ONE-FIP"), NOW - timedelta(hours=2)), None)
    other = StoredIncident("other", an_incident(AaCalls("A-AA"), NOW), None)

    of_page = cause_lines([other, own], about=(None, "ONE-FIP"))
    of_network = cause_lines([other, own])

    assert [line.path.rpartition("/")[2] for line in of_page] == ["own", "other"]
    assert [line.path.rpartition("/")[2] for line in of_network] == ["other", "own"]
