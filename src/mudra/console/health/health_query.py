"""The time and the API that a health page shows, both from the query of its address.

`range=6h` moves with the clock and is live, `range=yesterday` is a day of the reader's zone;
`from` and `to` pin a view, so that two people who share an address see the same data. The picker's
form sends wall times, and in `zone` the zone that they are of.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from urllib.parse import urlencode

from msgspec import UNSET, Struct
from msgspec.structs import replace

from mudra.console.framework.page_zone import zone_of_form
from mudra.http.request.health_requests import TimeParameters, time_range
from mudra.http.response.http_refusals import InvalidField
from mudra.localization.display_zone import DisplayZone, display_zone
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.api_names import api_name
from mudra.metrics.incidents.incident import Incident, StoredIncident
from mudra.metrics.incidents.subject import codes_of
from mudra.metrics.payload.catalogue import CALL_CODES, CUSTOMER_CODES, WINDOW, window_start
from mudra.metrics.rollup.coverage import TimeRange, latest
from mudra.metrics.rollup.step import Step, step_for

RANGES: Final = {
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
_LAST: Final = {
    "1h": translatable("1h"),
    "6h": translatable("6h"),
    "24h": translatable("24h"),
    "7d": translatable("7d"),
    "30d": translatable("30d"),
}
"""The titles of ranges that move with the clock."""
CALENDAR: Final = {"yesterday": translatable("Yesterday"), "last-week": translatable("Last week")}
"""Days of the reader's zone; a week is from Monday to Sunday."""
USUAL: Final = "1h"
"""A page opens on the latest windows: an average of hours hides what broke just now."""
ALL_ROWS: Final = "all"
ALL_CALLS: Final = "all"
WEEK: Final = "week"
MAX_LENGTH: Final = timedelta(days=92)
MAX_INCIDENT: Final = timedelta(days=60)
_AROUND: Final = timedelta(hours=1)
_LEAST: Final = timedelta(hours=6)
"""A line of one hour has six points: nothing can be seen in it, or all of it is bad."""
_DAY: Final = timedelta(days=1)
_STEPS: Final = {
    Step.WINDOW: translatable("one point for each window of ten minutes"),
    Step.HOUR: translatable("one point for each hour"),
    Step.SIX_HOURS: translatable("one point for six hours"),
    Step.DAY: translatable("one point for each day of UTC"),
}


class Choice(Struct, frozen=True):
    """One link of a picker."""

    title: str
    link: str
    current: bool


class HealthQuery(Struct, frozen=True):
    """The time and the API (`code`, empty for all calls) that a page shows."""

    within: TimeRange
    range_name: str
    """The range that moves with the clock or the calendar; empty for a pinned time."""
    code: str
    rows: str = ""
    """`all` shows rows of the matrix that are good too, when others are bad."""
    every: bool = False
    """All calls were asked for (`type=all`): no API of an open incident comes first."""
    compare: str = ""
    """`week` draws the same time of the week before next to this one."""

    @property
    def live(self) -> bool:
        """True when the page refreshes itself."""
        return self.range_name in RANGES

    @property
    def shown(self) -> TimeRange:
        """The whole windows of this time, which a typed one may cut through."""
        within = self.within
        return TimeRange(within.first, within.first + within.number * WINDOW)

    @property
    def in_course(self) -> "HealthQuery":
        """The view that charts are of: of a time that moves with the clock at least six hours."""
        within = self.within
        if not self.live or within.end - within.start >= _LEAST:
            return self
        return replace(self, within=TimeRange(within.end - _LEAST, within.end))

    @property
    def resolution(self) -> str:
        """Returns what one point of a chart of this time is."""
        return gettext(_STEPS[step_for(self.within)])

    @property
    def api(self) -> str:
        """The name of the API."""
        return api_name(self.code) if self.code else gettext("all calls")

    def query(self, **changes: str) -> str:
        """Returns the query of this view, with changes; empty values are left out."""
        values = {"range": self.range_name} if self.range_name else self._pinned()
        asked = self.code or (ALL_CALLS if self.every else "")
        values |= {"type": asked, "rows": self.rows, "compare": self.compare} | changes
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
        return [
            Choice(gettext(title), self.query(range=one), one == self.range_name)
            for one, title in (_LAST | CALENDAR).items()
        ]

    @property
    def apis(self) -> list[Choice]:
        """The choices of the API picker."""
        apis = [
            Choice(api_name(code), self.query(type=code), code == self.code) for code in CALL_CODES
        ]
        return [Choice(gettext("All calls"), self.query(type=ALL_CALLS), not self.code), *apis]

    def _pinned(self) -> dict[str, str]:
        return {"from": written(self.within.start), "to": written(self.within.end)}


def query_of(
    query: Mapping[str, str], now: datetime, usual: str = USUAL
) -> HealthQuery | InvalidField:
    """Parses the query of a health page; without a time it has the `usual` range."""
    found = _asked(query, now, usual)
    if not isinstance(found, HealthQuery):
        return found
    compare = WEEK if query.get("compare") == WEEK else ""
    return replace(found, compare=compare, every=query.get("type") == ALL_CALLS)


def _asked(query: Mapping[str, str], now: datetime, usual: str) -> HealthQuery | InvalidField:
    asked = query.get("type", "")
    code = "" if asked == ALL_CALLS else asked
    rows = ALL_ROWS if query.get("rows") == ALL_ROWS else ""
    if code and code not in CALL_CODES:
        return InvalidField(f"type must be one of {', '.join(CALL_CODES)}")
    if "from" in query or "to" in query:
        read = _typed(query)
        if isinstance(read, InvalidField):
            return read
        within = time_range(read, now, default=RANGES[usual], longest=MAX_LENGTH)
        return within if isinstance(within, InvalidField) else HealthQuery(within, "", code, rows)
    range_name = query.get("range", usual)
    if range_name in CALENDAR:
        within = calendar_range(range_name, now, display_zone())
        return HealthQuery(within, range_name, code, rows)
    if range_name not in RANGES:
        return InvalidField(f"range must be one of {', '.join((*RANGES, *CALENDAR))}")
    return HealthQuery(latest(window_start(now), RANGES[range_name]), range_name, code, rows)


def calendar_range(name: str, now: datetime, zone: DisplayZone) -> TimeRange:
    """Returns yesterday, or the week before this one, in a zone.

    A day has 23 or 25 hours where the clocks are changed.
    """
    today = now.astimezone(zone.info).date()
    if name == "yesterday":
        return TimeRange(_midnight(today - _DAY, zone), _midnight(today, zone))
    monday = today - today.weekday() * _DAY
    return TimeRange(_midnight(monday - 7 * _DAY, zone), _midnight(monday, zone))


def _midnight(day: date, zone: DisplayZone) -> datetime:
    return datetime.combine(day, time(), zone.info).astimezone(UTC)


def _typed(query: Mapping[str, str]) -> TimeParameters | InvalidField:
    """Returns `from` and `to`, each an instant, or a wall time in the zone of the form."""
    zone, found = zone_of_form(query), dict[str, datetime]()
    if isinstance(zone, InvalidField):
        return zone
    for name in ("from", "to"):
        typed = query.get(name, "").strip()
        if not typed:
            continue
        at = zone.instant(typed, latest=name == "to")
        if at is None:
            return InvalidField(
                f"{name} must be a date and time such as 2026-01-31T09:30 in the zone of the page,"
                " or 2026-01-31T09:30:00Z"
            )
        found[name] = at
    return TimeParameters(found.get("from", UNSET), found.get("to", UNSET))


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
    """Returns the APIs whose calls show an incident: those that its own figures count.

    Of an incident over all APIs all by which customers are served, unless heartbeats alone show it.
    """
    if own := _codes(found):
        return own
    return frozenset(CALL_CODES if found.by_heartbeats else CUSTOMER_CODES)


def leading(view: HealthQuery, causes: Iterable[StoredIncident]) -> HealthQuery:
    """Returns the view that the charts of a page are of: of the API that fails now.

    Over all calls one dead API is hidden by the others. Of several incidents that are open it is
    the one with the most failed calls. An API that was chosen stays, and so do all calls.
    """
    if view.code or view.every:
        return view
    worst = worst_open(one for one in causes if len(_codes(one.incident)) == 1)
    return view if worst is None else of_incident(view, worst)


def worst_open(causes: Iterable[StoredIncident]) -> Incident | None:
    """Returns the open incident with the most failed calls; None if none is open."""
    failing = [one.incident for one in causes if one.is_open]
    return max(failing, key=lambda one: one.eligible - one.succeeded, default=None)


def of_incident(view: HealthQuery, found: Incident) -> HealthQuery:
    """Returns the view of the one API of an incident; unchanged for one of several APIs."""
    codes = _codes(found)
    return replace(view, code=next(iter(codes))) if len(codes) == 1 else view


def _codes(found: Incident) -> frozenset[str]:
    return codes_of(found.subject) & frozenset(CALL_CODES)
