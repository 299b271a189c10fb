"""Health over time: charts and their table, a lazy fragment of a page."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download
from mudra.console.health.charts import Blame, compare, drawn, marks_of, timeline
from mudra.console.health.health_query import HealthQuery
from mudra.console.health.labels import cause_lines, named_headline
from mudra.console.health.lazy_fragment import LazyFragment
from mudra.console.health.tables import moments_table
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.explanation import concerns
from mudra.metrics.incidents.incident import AaReporting, Incident, StoredIncident
from mudra.metrics.incidents.subject import NO_NAMES, aa_concerned, fip_concerned
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.series import Point
from mudra.metrics.rollup.step import Step, step_for
from mudra.timeline.happening import Happening

OVER_TIME: Final = LazyFragment("over-time", "moments")
_LATEST: Final = timedelta(hours=1)
PART: Final = "health_over_time.html"
_FEW: Final = 3
"""Points with calls below which a chart shows no course."""
LATER: Final[Mapping[str, object]] = {"times": None, "moments": None}
"""The values of a page that loads its charts later."""


async def over_time(
    page_context: PageContext,
    view: HealthQuery,
    *,
    aa_id: str | None = None,
    fip_id: str | None = None,
    codes: frozenset[str] = frozenset(),
    changes: Sequence[Happening] = (),
    blame: Blame | None = None,
) -> Mapping[str, object] | Download:
    """Reads the health of each step; returns the values of `health_over_time.html`, or the CSV.

    Over `codes` together, else over the API of the view; `changes` are marked. What is bad is
    shaded, by `blame` pale where it is another's.
    """
    charted, health = view.in_course, page_context.tx.service(HealthService)

    async def points(within: TimeRange, step: Step) -> Sequence[Point]:
        if codes:
            return await health.steps(within, step, codes, aa_id=aa_id, fip_id=fip_id)
        return await health.points(within, step, view.code, aa_id=aa_id, fip_id=fip_id)

    within, step, found = await since_the_first(charted.within, points)
    times = timeline(found, step, replace(charted, within=within), blame)
    if view.compare:
        await compare(times, within, lambda week: points(week, step))
    times.data["marks"] = drawn(marks_of(changes))
    table, query = moments_table(step), OVER_TIME.table_query(page_context.query)
    return table.export(times.moments, query) or {
        "times": times,
        "widened": charted.within if charted != view else None,
        "since": within.start if within != charted.within else None,
        "lanes": None,
        "moments": table.view(times.moments, query),
        "opened": OVER_TIME.is_opened(page_context.query),
    }


async def first_calls(
    page_context: PageContext,
    view: HealthQuery,
    *,
    aa_id: str | None = None,
    fip_id: str | None = None,
) -> datetime | None:
    """Returns when the first calls of a view were, where its first window has none; else None.

    Nothing of a view of one hour, whose windows its table has.
    """
    health, within = page_context.tx.service(HealthService), view.within
    step = step_for(within)
    if within.end - within.start <= _LATEST:
        return None
    while True:
        found = await health.points(within, step, view.code, aa_id=aa_id, fip_id=fip_id)
        first = next((one.start for one in found if one.health is not None), None)
        if first is None or first <= view.within.start:
            return None
        if step is Step.WINDOW:
            return first
        within, step = TimeRange(first, min(first + step.value, within.end)), Step.WINDOW


async def since_the_first(
    within: TimeRange, read: Callable[[TimeRange, Step], Awaitable[Sequence[Point]]]
) -> tuple[TimeRange, Step, Sequence[Point]]:
    """Returns the time of a chart, its step and its points.

    Where calls came so late in a time that its chart would be a point or two, it begins with the
    first of them, in finer steps.
    """
    step = step_for(within)
    found = await read(within, step)
    known = [one.start for one in found if one.health is not None]
    if not known or len(known) >= _FEW:
        return within, step, found
    later = TimeRange(max(within.start, known[0]), within.end)
    finer = step_for(later)
    if finer is step:
        return within, step, found
    found = await read(later, finer)
    first = next((place for place, one in enumerate(found) if one.health is not None), 0)
    start = max(later.start, found[first].start)
    return TimeRange(start, within.end), finer, found[first:]


def time_of(found: Incident) -> TimeRange:
    """Returns the time of an incident: to its end, or to that of its latest bad window."""
    return TimeRange(found.began, found.ended or found.last_bad + WINDOW)


def of_incident(
    found: Incident, others: Sequence[StoredIncident] = (), names: Mapping[str, str] = NO_NAMES
) -> Blame:
    """Returns what shades the bad windows of an incident on its own page.

    The times of others that reach the same calls are pale; not where reports alone are missing.
    """
    ends = aa_concerned(found.subject), fip_concerned(found.subject)
    is_of_calls = not isinstance(found.subject, AaReporting)
    reaching = [
        each
        for each in others
        if is_of_calls
        and (one := each.incident).failing
        and (one.subject, one.began) != (found.subject, found.began)
        and concerns(one, *ends)
    ]
    return Blame(
        [TimeRange(found.began, found.last_bad + WINDOW)],
        [time_of(each.incident) for each in reaching],
        is_of_one=True,
        others=cause_lines(reaching, heading=named_headline(names)),
    )


async def latest_windows(
    page_context: PageContext,
    found: Incident,
    codes: frozenset[str],
    *,
    aa_id: str | None,
    fip_id: str | None,
) -> Sequence[Point]:
    """Returns the windows of the last hour, the latest last.

    None of an incident that was over before: they say nothing of it.
    """
    end = window_start(page_context.now)
    if found.ended is not None and found.ended <= end - _LATEST:
        return ()
    health, within = page_context.tx.service(HealthService), TimeRange(end - _LATEST, end)
    return await health.steps(within, Step.WINDOW, codes, aa_id=aa_id, fip_id=fip_id)
