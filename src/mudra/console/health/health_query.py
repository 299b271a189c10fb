"""The time and the API that a health page shows, both from the query of its address.

`range=6h` moves with the clock and is live; `from` and `to` pin a view, so that two people
who share an address see the same data.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct

from mudra.http.request.health_requests import TimeParameters, time_range
from mudra.http.request.validation import decode_struct
from mudra.http.response.http_refusals import InvalidField
from mudra.metrics.health.api_names import api_name
from mudra.metrics.incidents.incident import Incident
from mudra.metrics.incidents.subject import codes_of
from mudra.metrics.payload.catalogue import TIMINGS, WINDOW, RequestType, window_start
from mudra.metrics.rollup.coverage import TimeRange

RANGES: Final = {
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
USUAL: Final = "1h"
"""A page opens on the latest windows: an average of hours hides what broke just now."""
ALL_ROWS: Final = "all"
MAX_LENGTH: Final = timedelta(days=92)
MAX_INCIDENT: Final = timedelta(days=60)
_AROUND: Final = timedelta(hours=1)
CALLS: Final = tuple(str(code) for code in RequestType if code not in TIMINGS)


class Choice(Struct, frozen=True):
    """One link of a picker."""

    title: str
    link: str
    current: bool


class HealthQuery(Struct, frozen=True):
    """The time and the API (`code`, empty for all calls) that a page shows."""

    within: TimeRange
    range_name: str
    """The range that moves with the clock; empty for a pinned time."""
    code: str
    rows: str = ""
    """`all` shows rows of the matrix that are good too, when others are bad."""

    @property
    def live(self) -> bool:
        """True when the page refreshes itself."""
        return bool(self.range_name)

    @property
    def api(self) -> str:
        """The name of the API."""
        return api_name(self.code) if self.code else "all calls"

    def query(self, **changes: str) -> str:
        """Returns the query of this view, with changes; empty values are left out."""
        values = {"range": self.range_name} if self.range_name else self._pinned()
        values |= {"type": self.code, "rows": self.rows} | changes
        if "from" in changes:
            values.pop("range", None)
        if changes.get("range"):
            values.pop("from", None)
            values.pop("to", None)
        return "?" + urlencode({name: value for name, value in values.items() if value})

    def at(self, within: TimeRange) -> str:
        """Returns the query of another, pinned time of the same API."""
        return self.query(**{"from": written(within.start), "to": written(within.end)})

    @property
    def pin(self) -> str:
        """The query that pins this view."""
        return self.at(self.within)

    @property
    def ranges(self) -> list[Choice]:
        """The choices of the time picker."""
        return [Choice(one, self.query(range=one), one == self.range_name) for one in RANGES]

    @property
    def apis(self) -> list[Choice]:
        """The choices of the API picker."""
        apis = [Choice(api_name(code), self.query(type=code), code == self.code) for code in CALLS]
        return [Choice("All calls", self.query(type=""), not self.code), *apis]

    def _pinned(self) -> dict[str, str]:
        return {"from": written(self.within.start), "to": written(self.within.end)}


def query_of(
    query: Mapping[str, str], now: datetime, usual: str = USUAL
) -> HealthQuery | InvalidField:
    """Parses the query of a health page; without a time it has the `usual` range."""
    code = query.get("type", "")
    rows = ALL_ROWS if query.get("rows") == ALL_ROWS else ""
    if code and code not in CALLS:
        return InvalidField(f"type must be one of {', '.join(CALLS)}")
    if "from" in query or "to" in query:
        times = {name: query[name] for name in ("from", "to") if name in query}
        read = decode_struct(times, TimeParameters)
        if isinstance(read, InvalidField):
            return read
        within = time_range(read, now, default=RANGES[usual], longest=MAX_LENGTH)
        return within if isinstance(within, InvalidField) else HealthQuery(within, "", code, rows)
    range_name = query.get("range", usual)
    if range_name not in RANGES:
        return InvalidField(f"range must be one of {', '.join(RANGES)}")
    end = window_start(now)
    return HealthQuery(TimeRange(end - RANGES[range_name], end), range_name, code, rows)


def written(at: datetime) -> str:
    """Returns an instant in the form of `from` and `to`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def view_of(found: Incident, codes: frozenset[str], now: datetime) -> HealthQuery:
    """Returns the time of an incident with an hour around it, and its API where it is one."""
    end = min(window_start(now), (found.ended or now) + _AROUND)
    start = max(found.began - _AROUND, end - MAX_INCIDENT)
    code = next(iter(codes)) if len(codes) == 1 else ""
    return HealthQuery(TimeRange(start, max(end, start + WINDOW)), "", code)


def shown_codes(found: Incident) -> frozenset[str]:
    """Returns the APIs whose calls show an incident; all where it names no request API."""
    shown = codes_of(found.subject) or frozenset(found.cause.affected_apis)
    return shown & frozenset(CALLS) or frozenset(CALLS)
