"""The rows of the board: what they say of the APIs that a cause affects."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from tests.support.metrics.incidents import an_incident

from mudra.console.health.cause_rows import cause_rows
from mudra.metrics.incidents.incident import (
    AaCalls,
    AaReporting,
    Fip,
    Path,
    StoredIncident,
    Subject,
)
from mudra.metrics.payload.catalogue import CUSTOMER_CODES, TIMINGS, WINDOW, RequestType

NOW = datetime(2026, 11, 24, 6, tzinfo=UTC)
HOUR = timedelta(hours=1)
ALL = tuple(str(code) for code in RequestType if code not in TIMINGS)


@pytest.mark.parametrize(
    ("affected", "shown"),
    [
        ((), "all"),
        (ALL, "all"),
        (("fireq", "fif"), "FI request, FI fetch"),
        (ALL[1:], "all but account discovery"),
        (CUSTOMER_CODES, "all but heartbeats"),
    ],
)
def test_a_cause_of_all_apis_names_none_of_them(affected: tuple[str, ...], shown: str) -> None:
    made = an_incident(Fip("KAVERI-FIP"), NOW)
    cause = msgspec.structs.replace(made.cause, affected_apis=affected)
    incident = msgspec.structs.replace(made, cause=cause)
    (row,) = cause_rows([StoredIncident("1", incident, None)], None, NOW)
    assert row.apis.startswith(shown)
    assert (row.apis == "all") == (shown == "all")


@pytest.mark.parametrize(
    ("subject", "affected", "apis"),
    [
        (Fip("ONE-FIP"), "Saarthi, B-AA", "all"),
        (AaCalls("A-AA"), "4 FIPs", "all"),
        (Path("A-AA", "ONE-FIP"), "", "all"),
        (AaReporting("A-AA"), "", ""),
    ],
)
def test_a_row_names_the_other_side_of_its_cause(
    subject: Subject, affected: str, apis: str
) -> None:
    fips = ("W-FIP", "X-FIP", "Y-FIP", "Z-FIP")
    made = an_incident(subject, NOW, affected_aas=("A-AA", "B-AA"), affected_fips=fips)
    names = {"A-AA": "Saarthi", "ONE-FIP": "Kaveri Bank"}
    (row,) = cause_rows([StoredIncident("1", made, None)], None, NOW, names=names)
    assert (row.members, row.apis) == (affected, apis)


def test_the_aas_of_a_row_are_those_since_the_incident_began() -> None:
    aas = ("A-AA", "B-AA", "C-AA", "D-AA")
    made = an_incident(Fip("ONE-FIP"), NOW, affected_aas=aas)
    (row,) = cause_rows([StoredIncident("1", made, None)], None, NOW)
    assert row.members == "at least 4 AAs"


def test_the_incident_that_affects_most_calls_now_is_first_and_recovering_ones_are_last() -> None:
    few = an_incident(Fip("FEW-FIP"), NOW, eligible=40)
    many = an_incident(Fip("MANY-FIP"), NOW - HOUR, eligible=4_000)
    recovering = an_incident(Fip("WELL-FIP"), NOW - HOUR, eligible=9_000)
    silent = an_incident(AaReporting("A-AA"), NOW)
    found = [
        StoredIncident(str(number), msgspec.structs.replace(one, last_bad=last), None)
        for number, (one, last) in enumerate(
            [(silent, NOW), (few, NOW), (recovering, NOW - HOUR), (many, NOW)]
        )
    ]

    rows = cause_rows(found, NOW + WINDOW, NOW + WINDOW)

    assert [row.what.partition(":")[0].split()[-1] for row in rows] == [
        "MANY-FIP",
        "FEW-FIP",
        "A-AA",
        "WELL-FIP",
    ]
    assert rows[-1].what == "FIP WELL-FIP: recovering"
