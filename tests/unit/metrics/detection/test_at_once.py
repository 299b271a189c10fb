"""FIPs that fall in one window are one headline; others are not among them."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace
from tests.support.metrics.incidents import an_incident

from mudra.metrics.incidents.explanation import at_once
from mudra.metrics.incidents.incident import (
    AaCalls,
    Fip,
    FipApi,
    Incident,
    Symptom,
    TimelineChange,
    TimelineEntry,
)
from mudra.metrics.payload.catalogue import WINDOW

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def fallen(*banks: str, began: datetime = NOON) -> dict[str, Incident]:
    return {bank.lower(): an_incident(Fip(bank), began) for bank in banks}


def test_three_fips_of_one_window_are_one_headline_that_names_their_provider() -> None:
    incidents = fallen("A", "B") | fallen("C", began=NOON + WINDOW)
    (found,) = at_once(incidents, dict.fromkeys("ABC", "GATE"))

    assert (found.fips, found.incident_ids) == (("A", "B", "C"), ("a", "b", "c"))
    assert found.text == "3 FIPs at once, all served by GATE"
    (apart,) = at_once(incidents, {"A": "GATE", "B": "GATE", "C": "OTHER"})
    assert apart.text == "3 FIPs at once"


def test_fips_that_no_customer_called_are_in_the_headline_too() -> None:
    by_heartbeats = {"c": an_incident(Fip("C"), NOON, eligible=0)}

    (found,) = at_once(fallen("A", "B") | by_heartbeats, {})

    assert found.fips == ("A", "B", "C")


def test_a_fip_that_recovered_an_hour_ago_falls_again_with_the_others() -> None:
    [old] = fallen("C", began=NOON - timedelta(hours=2)).values()
    again = TimelineEntry(NOON, TimelineChange.REOPENED, old.subject)

    (found,) = at_once(fallen("A", "B") | {"c": replace(old, timeline=(*old.timeline, again))}, {})

    assert (found.began, found.text) == (NOON, "3 FIPs at once")


def test_what_did_not_fall_together_is_no_group() -> None:
    slow = an_incident(Fip("C"), NOON, symptoms=(Symptom.SLOW,))
    refusing = an_incident(Fip("C"), NOON, symptoms=(Symptom.CLIENT_ERRORS,))
    for other in (
        fallen("C", began=NOON + timedelta(hours=1)),
        {"c": slow},
        {"c": refusing},
        {"c": an_incident(AaCalls("AA"), NOON)},
        {"c": an_incident(FipApi("A", "fif"), NOON)},
    ):
        assert at_once(fallen("A", "B") | other, {}) == []
