"""The severity of an incident: by the calls of customers that fail, not by heartbeats."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from tests.support.metrics.incidents import an_incident

from mudra.metrics.incidents.incident import Fip, FipApi, Network, Path, Subject, Symptom
from mudra.metrics.incidents.verdict import reach_of
from mudra.metrics.notifications.alarm import counted_text, symptom_text
from mudra.metrics.notifications.severity import Severity, severity_of

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("subject", "eligible", "succeeded", "severity", "text"),
    [
        (Fip("BANK"), 400, 0, Severity.CRITICAL, "100 % of calls failing"),
        (Fip("BANK"), 2, 0, Severity.MAJOR, "100 % of calls failing"),
        (Fip("BANK"), 0, 0, Severity.MAJOR, "heartbeats failing"),
        (Fip("BANK"), 30, 30, Severity.MAJOR, "heartbeats failing"),
        (FipApi("BANK", "hbt"), 400, 0, Severity.MINOR, "100 % of calls failing"),
    ],
)
def test_what_no_customer_notices_is_not_critical_and_says_so(
    subject: Subject, eligible: int, succeeded: int, severity: Severity, text: str
) -> None:
    incident = an_incident(subject, NOON, eligible=eligible, succeeded=succeeded)
    incident = replace(incident, cause=replace(incident.cause, calls=400, failures=400))

    assert (severity_of(incident), symptom_text(incident)) == (severity, text)


@pytest.mark.parametrize(
    ("eligible", "succeeded", "severity"),
    [(600, 564, Severity.MINOR), (600, 530, Severity.MAJOR), (4_000, 3_760, Severity.MAJOR)],
    ids=["6 % of few", "12 % of few", "6 % of many"],
)
def test_fewer_than_one_in_ten_is_minor_unless_many_calls_fail(
    eligible: int, succeeded: int, severity: Severity
) -> None:
    incident = an_incident(Fip("BANK"), NOON, eligible=eligible, succeeded=succeeded)

    assert severity_of(incident) is severity


def test_heartbeats_are_counted_as_heartbeats() -> None:
    by_heartbeats = an_incident(Fip("BANK"), NOON, eligible=0)

    assert "heartbeats failed" in counted_text(by_heartbeats)


def test_heartbeats_of_a_window_without_customers_are_no_calls_though_some_failed_before() -> None:
    few = an_incident(Fip("BANK"), NOON, eligible=2, succeeded=0)
    cause = replace(few.cause, calls=10, failures=10, of_heartbeats=True)
    by_night = replace(few, cause=cause)

    assert "10 of 10 heartbeats failed" in counted_text(by_night)
    assert reach_of(by_night).calls_a_minute is None


def test_three_calls_are_not_critical_though_many_heartbeats_fail_with_them() -> None:
    few = an_incident(Network(), NOON, eligible=3, succeeded=0)
    with_heartbeats = replace(few, cause=replace(few.cause, calls=200, failures=200))

    assert severity_of(with_heartbeats) is Severity.MAJOR


def test_a_doubt_whether_it_is_one_path_alone_is_not_critical_unless_very_many_fail() -> None:
    sure = an_incident(Fip("BANK"), NOON, eligible=400, succeeded=0)
    doubt = an_incident(
        Fip("BANK"), NOON, eligible=400, succeeded=0, ambiguous_with=(Path("AA", "BANK"),)
    )
    large = replace(doubt, eligible=4_000, cause=replace(doubt.cause, calls=2_000, failures=2_000))

    assert [severity_of(one) for one in (sure, doubt, large)] == [
        Severity.CRITICAL, Severity.MAJOR, Severity.CRITICAL
    ]  # fmt: skip


def test_slow_calls_are_counted_as_far_as_they_are_more_than_usual() -> None:
    slow = an_incident(Network(), NOON, symptoms=(Symptom.SLOW,))
    slow = replace(slow, cause=replace(slow.cause, calls=1_000, failures=700, expected=250.0))
    failing = replace(slow, cause=replace(slow.cause, symptoms=(Symptom.FAILURES,)))

    assert reach_of(slow).calls_a_minute == 45.0
    assert reach_of(failing).calls_a_minute == 70.0
