"""The calls of a member over the last 24 hours, as a line that needs no script."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.console.framework.page_context import PageContext
from mudra.console.health.charts import successes
from mudra.console.health.health_query import RANGES, HealthQuery
from mudra.console.health.labels import CauseLine, cause_lines, headline
from mudra.console.pages.member.health.charted import charted_of
from mudra.console.pages.member.incident import incident_path
from mudra.console.pictures.public_chart import LineChart, line_chart
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.explanation import may_see
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import fip_concerned, fip_of
from mudra.metrics.notifications.preference_service import FollowService
from mudra.metrics.payload.catalogue import window_start
from mudra.metrics.rollup.coverage import latest
from mudra.metrics.rollup.step import Step
from mudra.shared.entity_type import EntityType

_DAY: Final = "24h"
_BETWEEN: Final = timedelta(hours=8)
"""From a label of the axis to the next."""


class LatestCalls(Struct, frozen=True):
    """The line of the calls that come first on the health page, by hour."""

    chart: LineChart
    ticks: Sequence[datetime]
    """Times between both ends of its axis; none of one that is shorter than a day."""
    since: datetime | None
    """When the first call was reported; None where that was before these hours."""
    view: HealthQuery
    fip: str
    """The name of the FIP that they go to; empty for all, and on the page of the FIP itself."""
    outages: Sequence[CauseLine]
    """Open incidents at FIPs of which a FIU gets no alarm: it follows no FIP."""


async def latest_calls(page_context: PageContext) -> LatestCalls:
    """Reads the success of each of the last 24 hours, of the API that fails now or of all calls."""
    tx, member = page_context.tx, page_context.member
    kind = EntityType(member.entity_type)
    health = tx.service(HealthService)
    open_causes = [
        one
        for one in await tx.service(IncidentService).open_causes()
        if may_see(one.incident, member.entity_id, of_fips=kind is EntityType.FIU)
    ]
    if followed := await tx.service(FollowService).of(member.entity_id):
        open_causes = [
            one for one in open_causes if fip_concerned(one.incident.subject) in followed
        ]
    within = latest(window_start(page_context.now), RANGES[_DAY])
    drawn = charted_of(page_context, HealthQuery(within, _DAY, ""), open_causes, (), ())
    points = await health.points(
        within, Step.HOUR, drawn.view.code, aa_id=drawn.aa_id, fip_id=drawn.fip_id
    )
    names = {} if kind is EntityType.FIP else await health.names()
    fip = names.get(drawn.fip_id or "", "")
    unknown = kind is EntityType.FIU and not followed
    outages = cause_lines(
        [one for one in open_causes if unknown and fip_of(one.incident.subject)],
        lambda one: incident_path(member.entity_id, one),
        lambda one, recovers: headline(one, names, recovering=recovers),
    )
    first = next((at for at, one in enumerate(points) if one.health is not None), 0)
    begins = points[first].start
    hours = (within.end - begins) / Step.HOUR.value
    chart = line_chart(successes(points[first:]), whole=True, length=hours)
    ticks = [] if first else [begins + each * _BETWEEN for each in (1, 2)]
    since = begins if first else None
    return LatestCalls(chart, ticks, since, drawn.view, fip, outages)
