"""The network over time: its success next to the usual one, what was changed, who had trouble.

A lazy fragment of the page of network health.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.console.framework.page_context import PageContext
from mudra.console.health.charts import Mark, Timeline, compare, drawn, marks_of, timeline
from mudra.console.health.grid import HEALTH
from mudra.console.health.health_query import HealthQuery, shown_codes
from mudra.console.health.lazy_fragment import LazyFragment
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.explanation import causes_of, of_api
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import fip_concerned
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.series import Point
from mudra.metrics.rollup.step import Step, step_for
from mudra.timeline.timeline_service import TimelineService

TREND: Final = LazyFragment("trend", "moments")
TREND_PART: Final = "health_trend.html"
_LEAST: Final = timedelta(hours=6)
"""A line of one hour has six points: nothing can be seen in it."""
_MOST_LANES: Final = 12


class Lane(Struct, frozen=True):
    """One FIP with trouble: the runs of steps of each class, by place."""

    name: str
    path: str
    runs: Sequence[tuple[str, int, int]]
    bad: int
    """Steps that are bad."""


class Trend(Struct, frozen=True):
    """The data of the chart, also of the weeks before, the lanes, and the changes."""

    times: Timeline
    offset: float
    """How far the time of the chart begins behind the first step, in steps."""
    steps: float
    """How long the time of the chart is, in steps."""
    lanes: Sequence[Lane]
    more_lanes: int
    marks: Sequence[Mark]
    within: TimeRange


async def trend(
    page_context: PageContext,
    view: HealthQuery,
    names: Mapping[str, str],
    causes: Sequence[StoredIncident] | None = None,
) -> Trend:
    """Reads the network over time: at least six hours, up to the end of the view.

    `causes` are those of the view's own time, where the page has read them.
    """
    begins = min(view.within.start, view.within.end - _LEAST)
    within = TimeRange(begins, view.within.end)
    step, health = step_for(within), page_context.tx.service(HealthService)
    now = await health.points(within, step, view.code)
    times = timeline(now, step, replace(view, within=within))
    changes = await page_context.tx.service(TimelineService).changes(within, page_context.now)
    marks = marks_of(changes)
    await compare(times, within, lambda one: health.points(one, step, view.code))
    times.data["marks"] = drawn(marks)
    if causes is None or within != view.within:
        stored = await page_context.tx.service(IncidentService).since(within.start)
        causes = [one for one in causes_of(stored, within) if of_api(one.incident, view.code)]
    troubles = _by_fip(causes)
    lanes = []
    for fip_id, found in troubles[:_MOST_LANES]:
        codes = frozenset({view.code}) if view.code else _codes(found)
        points = await health.steps(within, step, codes, fip_id=fip_id)
        name = names.get(fip_id, fip_id)
        lanes.append(_lane(name, f"{HEALTH}/fip/{fip_id}{view.query()}", points, step, found))
    return Trend(
        times,
        (within.start - now[0].start) / step.value if now else 0,
        (within.end - within.start) / step.value,
        sorted(lanes, key=lambda one: -one.bad),
        max(0, len(troubles) - _MOST_LANES),
        marks,
        within,
    )


def _codes(found: Sequence[StoredIncident]) -> frozenset[str]:
    return frozenset(code for one in found for code in shown_codes(one.incident))


def _by_fip(
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
    """Returns the class of a step: bad only in an incident of the FIP, not in one of an AA."""
    if point.health is None:
        return "none"
    own = any(
        one.incident.began < point.start + step.value
        and (one.incident.ended is None or point.start < one.incident.ended)
        for one in causes
    )
    kind = point.health.status.value.lower()
    return "unsure" if kind == "bad" and not own else kind
