"""Which time and which API a health page is asked for, all of it in the address.

`range=6h` goes on with the clock and is live; `from` and `to` pin a view, so that two people
who share an address look at the same figures.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct

from mudra.http.request.health_requests import TimeParameters, time_range
from mudra.http.request.validation import decode_struct
from mudra.http.response.http_refusals import InvalidField
from mudra.metrics.health.status_history import api_name
from mudra.metrics.payload.catalogue import TIMINGS, RequestType, window_start
from mudra.metrics.rollup.coverage import TimeRange

RANGES: Final = {
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
USUAL: Final = "6h"
MAX_LENGTH: Final = timedelta(days=92)
CALLS: Final = tuple(str(code) for code in RequestType if code not in TIMINGS)


class Choice(Struct, frozen=True):
    """One link of a picker."""

    title: str
    link: str
    current: bool


class HealthQuery(Struct, frozen=True):
    """The time and the API (`code`, empty for all calls) that a page shows."""

    within: TimeRange
    word: str
    """The range that goes on with the clock; empty for a pinned time."""
    code: str

    @property
    def live(self) -> bool:
        """Whether the page renews itself."""
        return bool(self.word)

    @property
    def api(self) -> str:
        """The API in words."""
        return api_name(self.code) if self.code else "all calls"

    def query(self, **changes: str) -> str:
        """The query that gives this view, with changes; empty values are left out."""
        words = {"range": self.word} if self.word else self._pinned()
        words |= {"type": self.code} | changes
        if "from" in changes:
            words.pop("range", None)
        if changes.get("range"):
            words.pop("from", None)
            words.pop("to", None)
        return "?" + urlencode({name: value for name, value in words.items() if value})

    def at(self, within: TimeRange) -> str:
        """The query that gives another, pinned time of the same API."""
        return self.query(**{"from": written(within.start), "to": written(within.end)})

    @property
    def pin(self) -> str:
        """The query that gives this very view for good."""
        return self.at(self.within)

    @property
    def ranges(self) -> list[Choice]:
        """The picker of times."""
        return [Choice(word, self.query(range=word), word == self.word) for word in RANGES]

    @property
    def apis(self) -> list[Choice]:
        """The picker of APIs."""
        one = [Choice(api_name(code), self.query(type=code), code == self.code) for code in CALLS]
        return [Choice("All calls", self.query(type=""), not self.code), *one]

    def _pinned(self) -> dict[str, str]:
        return {"from": written(self.within.start), "to": written(self.within.end)}


def query_of(query: Mapping[str, str], now: datetime) -> HealthQuery | InvalidField:
    """Read the query of a health page."""
    code = query.get("type", "")
    if code and code not in CALLS:
        return InvalidField(f"type must be one of {', '.join(CALLS)}")
    if "from" in query or "to" in query:
        times = {name: query[name] for name in ("from", "to") if name in query}
        read = decode_struct(times, TimeParameters)
        if isinstance(read, InvalidField):
            return read
        within = time_range(read, now, default=RANGES[USUAL], longest=MAX_LENGTH)
        return within if isinstance(within, InvalidField) else HealthQuery(within, "", code)
    word = query.get("range", USUAL)
    if word not in RANGES:
        return InvalidField(f"range must be one of {', '.join(RANGES)}")
    end = window_start(now)
    return HealthQuery(TimeRange(end - RANGES[word], end), word, code)


def written(at: datetime) -> str:
    """An instant as `from` and `to` take it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
