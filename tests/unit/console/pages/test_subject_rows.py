"""What an open incident disrupts now is no good row under a red headline."""

from datetime import UTC, datetime, timedelta

from tests.support.metrics.incidents import an_incident

from mudra.console.pages.operator.health.subject_rows import Disruptions
from mudra.metrics.incidents.incident import (
    AaCalls,
    Fip,
    FipApi,
    Path,
    StoredIncident,
    Subject,
    Symptom,
)

BEGAN = datetime(2026, 11, 30, 19, 50, tzinfo=UTC)


def disruptions(subject: Subject, **more: tuple[str, ...]) -> Disruptions:
    found = an_incident(subject, BEGAN, affected_aas=more.get("aas", ()))
    return Disruptions.of([StoredIncident("1", found, None)])


def test_an_open_incident_disrupts_its_api_of_the_fip_and_of_the_pairs_that_see_it() -> None:
    found = disruptions(FipApi("BANK", "fif"), aas=("A",))

    assert found.hit("fif", None, "BANK")
    assert found.hit("fif", "A", "BANK")
    assert not found.hit("fif", "NOT-REPORTING", "BANK")
    assert not found.hit("fireq", None, "BANK")
    assert not found.hit("fif", None, "OTHER")
    assert not found.hit("fif", "A", None), "an AA is not disrupted by a FIP that it calls"


def test_an_incident_of_all_apis_disrupts_those_by_which_customers_are_served() -> None:
    found = disruptions(Fip("BANK"))

    assert found.hit("cns", None, "BANK")
    assert not found.hit("hbt", None, "BANK")
    assert disruptions(AaCalls("A")).hit("cns", "A", None)


def test_a_path_disrupts_neither_end() -> None:
    found = disruptions(Path("A", "BANK"))

    assert found.hit("fif", "A", "BANK")
    assert not found.hit("fif", None, "BANK")
    assert not found.hit("fif", "A", None)


def test_what_is_over_or_slow_disrupts_nothing_now() -> None:
    over = an_incident(Fip("BANK"), BEGAN, BEGAN + timedelta(hours=1))
    slow = an_incident(Fip("BANK"), BEGAN, symptoms=(Symptom.SLOW,))

    assert not Disruptions.of([StoredIncident("1", over, None)]).hit("fif", None, "BANK")
    assert not Disruptions.of([StoredIncident("2", slow, None)]).hit("fif", None, "BANK")
