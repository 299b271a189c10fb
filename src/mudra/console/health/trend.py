"""The network over time: its success next to the usual one, what was changed, who had trouble.

A lazy fragment of the page of network health.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.console.framework.page_context import PageContext
from mudra.console.health.charts import Blame, Mark, Timeline, compare, drawn, marks_of, timeline
from mudra.console.health.grid import HEALTH
from mudra.console.health.health_query import HealthQuery, shown_codes
from mudra.console.health.labels import CauseLine, cause_lines, named_headline
from mudra.console.health.lazy_fragment import LazyFragment
from mudra.console.health.over_time import since_the_first, time_of
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.explanation import causes_of, concerns, of_api
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import fip_concerned, fip_of
from mudra.metrics.payload.catalogue import CUSTOMER_CODES
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.series import Point
from mudra.metrics.rollup.step import Step, step_for
from mudra.timeline.timeline_service import TimelineService

TREND: Final = LazyFragment("trend", "moments")
TREND_PART: Final = "health_trend.html"
_MOST_LANES: Final = 12


class Lane(Struct, frozen=True):
    """One FIP with trouble: the runs of steps of each class, by place."""

    name: str
    path: str
    runs: Sequence[tuple[str, int, int]]
    bad: int
    """Steps that are bad."""


class Lanes(Struct, frozen=True):
    """Lanes of FIPs under a chart, on its axis."""

    offset: float
    """How far the time of the chart begins behind the first step, in steps."""
    steps: float
    """How long the time of the chart is, in steps."""
    rows: Sequence[Lane]
    more: int


class Trend(Struct, frozen=True):
    """The data of the chart, also of the weeks before, the lanes, and the changes."""

    times: Timeline
    lanes: Lanes
    marks: Sequence[Mark]
    within: TimeRange
    earlier: Sequence[CauseLine]
    """Causes in the time that is drawn which were over before that of the page began."""


async def trend(
    page_context: PageContext,
    view: HealthQuery,
    names: Mapping[str, str],
    causes: Sequence[StoredIncident] | None = None,
) -> Trend:
    """Reads the network over time, up to the end of the view.

    `causes` are those of the view's own time, where the page has read them.
    """
    health = page_context.tx.service(HealthService)

    async def points(within: TimeRange, step: Step) -> Sequence[Point]:
        return await health.points(within, step, view.code)

    within, step, found = await since_the_first(view.in_course.within, points)
    charted = replace(view.in_course, within=within)
    times = timeline(found, step, charted)
    changes = await page_context.tx.service(TimelineService).changes(within, page_context.now)
    marks = marks_of(changes)
    await compare(times, within, lambda week: points(week, step))
    times.data["marks"] = drawn(marks)
    if causes is None or within != view.within:
        causes = await causes_over(page_context, charted)
    lanes = await lanes_of(
        page_context,
        charted,
        by_fip(causes),
        names,
        lambda one: f"{HEALTH}/fip/{one}{view.query()}",
    )
    earlier = [one for one in causes if is_before(one, view)]
    return Trend(times, lanes, marks, within, cause_lines(earlier, heading=named_headline(names)))


async def causes_over(page_context: PageContext, view: HealthQuery) -> Sequence[StoredIncident]:
    """Returns the causes in the time of a view, of its API."""
    stored = await page_context.tx.service(IncidentService).since(view.within.start)
    return [one for one in causes_of(stored, view.within) if of_api(one.incident, view.code)]


def is_before(one: StoredIncident, view: HealthQuery) -> bool:
    """Returns whether an incident was over before the time of a view began."""
    return one.incident.ended is not None and one.incident.ended <= view.within.start


def blame_of(causes: Iterable[StoredIncident], fip_id: str) -> Blame:
    """Returns when a FIP had incidents of its own, and when others reached it."""
    found = [one.incident for one in causes if concerns(one.incident, None, fip_id)]
    own = [one for one in found if fip_of(one.subject)]
    return Blame([time_of(one) for one in own], [time_of(one) for one in found if one not in own])


async def lanes_of(
    page_context: PageContext,
    view: HealthQuery,
    fips: Sequence[tuple[str, Sequence[StoredIncident]]],
    names: Mapping[str, str],
    path: Callable[[str], str],
) -> Lanes:
    """Reads the lanes of the first FIPs, each with its causes; the worst comes first."""
    within, health = view.within, page_context.tx.service(HealthService)
    step = step_for(within)
    lanes, first = [], within.start
    for fip_id, found in fips[:_MOST_LANES]:
        codes = frozenset({view.code}) if view.code else _codes(found)
        points = await health.steps(within, step, codes, fip_id=fip_id)
        first = points[0].start if points else first
        own = [one for one in found if fip_of(one.incident.subject)]
        lanes.append(_lane(names.get(fip_id, fip_id), path(fip_id), points, step, own))
    return Lanes(
        (within.start - first) / step.value,
        (within.end - within.start) / step.value,
        sorted(lanes, key=lambda one: -one.bad),
        max(0, len(fips) - _MOST_LANES),
    )


def _codes(found: Sequence[StoredIncident]) -> frozenset[str]:
    of_causes = frozenset(code for one in found for code in shown_codes(one.incident))
    return of_causes or frozenset(CUSTOMER_CODES)


def by_fip(
    causes: Sequence[StoredIncident],
) -> Sequence[tuple[str, Sequence[StoredIncident]]]:
    """Returns the FIPs at which causes are, those with open ones first, then by bad windows."""
    found: dict[str, list[StoredIncident]] = {}
    for one in causes:
        fip_id = fip_concerned(one.incident.subject)
        if fip_id:
            found.setdefault(fip_id, []).append(one)

    def rank(of_fip: tuple[str, Sequence[StoredIncident]]) -> tuple[bool, int]:
        every = [one.incident for one in of_fip[1]]
        return all(one.ended for one in every), -sum(one.bad_windows for one in every)

    return sorted(found.items(), key=rank)


def _lane(
    name: str, path: str, points: Sequence[Point], step: Step, causes: Sequence[StoredIncident]
) -> Lane:
    kinds = [_kind(one, step, causes) for one in points]
    runs, place = [], 0
    for kind, run in groupby(kinds):
        length = len(list(run))
        if kind != "none":
            runs.append((kind, place, length))
        place += length
    return Lane(name, path, runs, kinds.count("bad"))


def _kind(point: Point, step: Step, causes: Sequence[StoredIncident]) -> str:
    """Returns the class of a step: bad only in an incident of the FIP, else `elsewhere`."""
    if point.health is None:
        return "none"
    own = any(
        one.incident.began < point.start + step.value
        and (one.incident.ended is None or point.start < one.incident.ended)
        for one in causes
    )
    kind = point.health.status.value.lower()
    return "elsewhere" if kind == "bad" and not own else kind
