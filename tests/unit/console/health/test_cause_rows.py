"""The rows of the board: what they say of the APIs that a cause affects."""

from datetime import UTC, datetime

import msgspec
import pytest
from tests.support.metrics.incidents import an_incident

from mudra.console.health.cause_rows import cause_rows
from mudra.metrics.incidents.incident import Fip, StoredIncident
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
    (row,) = cause_rows([StoredIncident("1", incident, None)], NOW)
    assert row.apis.startswith(shown)
    assert (row.apis == "all") == (shown == "all")
