"""The tables of the public status: APIs over the last 24 hours, and an institution day by day."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from mudra.console.framework.table import Column, Table
from mudra.metrics.health.feed import PublicRow
from mudra.metrics.health.health import Status
from mudra.metrics.health.status_history import Day, DayState, FipHistory

_STATES: Final = {
    Status.BAD: ("bad", "bad"),
    Status.GOOD: ("good", "good"),
    Status.UNSURE: ("no data", "quiet"),
}
_DAYS: Final = {
    DayState.GOOD: ("good", "good"),
    DayState.PARTLY: ("an incident", "warn"),
    DayState.BAD: ("bad", "bad"),
    DayState.NO_DATA: ("no data", "quiet"),
}


class ApiLine(Struct, frozen=True):
    """One API of one institution."""

    fip: FipHistory
    row: PublicRow


def lines_of(fips: Sequence[FipHistory]) -> list[ApiLine]:
    """Returns every API of these institutions."""
    return [ApiLine(fip, row) for fip in fips for row in fip.apis]


def api_name(code: str) -> str:
    """Returns the name of an API of the public files."""
    return code.replace("_", " ").capitalize().replace("Fi ", "FI ")


_OF_AN_API: Final = (
    Column[ApiLine]("api", "API", lambda line: api_name(line.row.api)),
    Column[ApiLine](
        "status",
        "Status",
        lambda line: _STATES[line.row.status][0],
        "tag",
        tone=lambda line: _STATES[line.row.status][1],
    ),
    Column[ApiLine]("calls", "Calls", lambda line: line.row.requests, "number"),
    Column[ApiLine]("success", "Success %", lambda line: line.row.success_percentage, "number"),
    Column[ApiLine]("none", "No answer %", lambda line: line.row.timeout_percentage, "number"),
    Column[ApiLine]("server", "5xx %", lambda line: line.row.server_error_percentage, "number"),
    Column[ApiLine]("missing", "404 %", lambda line: line.row.not_found_percentage, "number"),
    Column[ApiLine](
        "client", "Other 4xx %", lambda line: line.row.other_client_error_percentage, "number"
    ),
    Column[ApiLine]("p50", "p50 ms", lambda line: line.row.p50, "number"),
    Column[ApiLine]("p95", "p95 ms", lambda line: line.row.p95, "number"),
    Column[ApiLine]("p99", "p99 ms", lambda line: line.row.p99, "number"),
)
APIS_OF_ONE: Final = Table("apis", "APIs, last 24 hours", _OF_AN_API, first_sort="status")
APIS_OF_ALL: Final = Table(
    "apis",
    "APIs of all institutions, last 24 hours",
    (
        Column[ApiLine](
            "institution",
            "Institution",
            lambda line: line.fip.name,
            link=lambda line: f"/status/fip/{quote(line.fip.fip_id, safe='')}",
        ),
        *_OF_AN_API,
    ),
    first_sort="status",  # bad, good, no data: bad ones first
)
DAYS: Final = Table[Day](
    "history",
    "Day by day",
    (
        Column("day", "Day (UTC)", lambda one: one.day.isoformat()),
        Column(
            "state",
            "State",
            lambda one: _DAYS[one.state][0],
            "tag",
            tone=lambda one: _DAYS[one.state][1],
        ),
        Column("calls", "Calls", lambda one: one.requests, "number"),
        Column("success", "Success %", lambda one: one.success_percentage, "number"),
    ),
    first_sort="-day",
)
