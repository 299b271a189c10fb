"""The rows of the board: what they say of the APIs that a cause affects."""

from datetime import UTC, datetime

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
from mudra.metrics.payload.catalogue import TIMINGS, RequestType

NOW = datetime(2026, 11, 24, 6, tzinfo=UTC)
ALL = tuple(str(code) for code in RequestType if code not in TIMINGS)


@pytest.mark.parametrize(
    ("affected", "shown"),
    [
        ((), "all"),
        (ALL, "all"),
        (("fireq", "fif"), "FI request, FI fetch"),
        (ALL[1:], "account linking"),
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
        (Fip("ONE-FIP"), "A-AA, B-AA", "all"),
        (AaCalls("A-AA"), "4 FIPs: W-FIP, X-FIP, Y-FIP and 1 more", "all"),
        (Path("A-AA", "ONE-FIP"), "A-AA, ONE-FIP", "all"),
        (AaReporting("A-AA"), "", ""),
    ],
)
def test_a_row_names_the_other_side_of_its_cause(
    subject: Subject, affected: str, apis: str
) -> None:
    fips = ("W-FIP", "X-FIP", "Y-FIP", "Z-FIP")
    made = an_incident(subject, NOW, affected_aas=("A-AA", "B-AA"), affected_fips=fips)
    (row,) = cause_rows([StoredIncident("1", made, None)], None, NOW)
    assert (row.members, row.apis) == (affected, apis)
