"""Points over time for a page: the rows of its table, and the same data for its charts."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from mudra.console.health.health_query import HealthQuery
from mudra.metrics.health.health import Health
from mudra.metrics.incidents.incident import Incident
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.percentage import percentage
from mudra.metrics.rollup.series import Point
from mudra.metrics.rollup.step import Step


class Moment(Struct, frozen=True):
    """One row of the table under the charts; its link opens that time in detail."""

    start: datetime
    link: str
    health: Health | None


class Timeline(Struct, frozen=True):
    """The data of the charts and the table of one page."""

    step: Step
    moments: Sequence[Moment]
    data: dict[str, object]

    @property
    def empty(self) -> bool:
        """True when no step had traffic."""
        return all(one.health is None for one in self.moments)


def timeline(
    points: Sequence[Point], step: Step, view: HealthQuery, incidents: Sequence[Incident] = ()
) -> Timeline:
    """Returns the timeline of some points, with marks for `incidents` within it."""
    moments = [
        Moment(one.start, view.at(TimeRange(one.start, one.start + step.value)), one.health)
        for one in points
    ]
    found = [one.health for one in points]
    data: dict[str, object] = {
        "starts": [int(one.start.timestamp() * 1000) for one in points],
        "step": int(step.value.total_seconds()),
        "links": [] if step is Step.WINDOW else [one.link for one in moments],
        "success": [percentage(one.success) if one else None for one in found],
        "ok": [one.succeeded if one else None for one in found],
        "client": [
            one.errors.not_found_404 + one.errors.other_4xx if one else None for one in found
        ],
        "server": [one.errors.server_5xx if one else None for one in found],
        "unanswered": [one.errors.no_answer if one else None for one in found],
        "p50": [one.time.p50 if one and one.time else None for one in found],
        "p95": [one.time.p95 if one and one.time else None for one in found],
        "marks": [
            [int(one.began.timestamp() * 1000), int(one.ended.timestamp() * 1000)]
            if one.ended
            else [int(one.began.timestamp() * 1000), None]
            for one in incidents
        ],
    }
    return Timeline(step, moments, data)
