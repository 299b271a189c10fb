"""Points over time for a page: the rows of its table, and the same data for its charts."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.console.health.health_query import HealthQuery
from mudra.console.health.labels import CauseLine
from mudra.metrics.health.health import Health, Status
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.percentage import percentage
from mudra.metrics.rollup.series import Point
from mudra.metrics.rollup.step import Step
from mudra.timeline.happening import Happening, HappeningKind

_WEEK: Final = timedelta(days=7)
_USUAL_WEEKS: Final = 4
"""Weeks of which the same hour of the weekday is the usual one, as of volumes."""


class Moment(Struct, frozen=True):
    """One row of the table under the charts; its link opens that time in detail."""

    start: datetime
    link: str
    health: Health | None


_MOST_MARKS: Final = 40
_MARKED: Final = frozenset(HappeningKind) - {HappeningKind.INCIDENT, HappeningKind.DISPUTE}
"""Incidents are shaded, and a dispute changes nothing at the time that it is about."""


class Mark(Struct, frozen=True):
    """Something that was changed."""

    at: datetime
    text: str


class Timeline(Struct, frozen=True):
    """The data of the charts and the table of one page."""

    step: Step
    moments: Sequence[Moment]
    data: dict[str, object]
    others: Sequence[CauseLine] = ()
    """What is shaded pale, where the page names it."""

    @property
    def empty(self) -> bool:
        """True when no step had traffic."""
        return all(one.health is None for one in self.moments)


class Blame(Struct, frozen=True):
    """The times in which calls that fail are due to what a page is of, or to others alone."""

    own: Sequence[TimeRange]
    elsewhere: Sequence[TimeRange] = ()
    is_of_one: bool = False
    """Whether it is the blame of one incident: of what is bad only that in the own times is shaded,
    and the times elsewhere are shaded whole."""
    others: Sequence[CauseLine] = ()
    """The incidents elsewhere, where the page names them."""


def timeline(
    points: Sequence[Point], step: Step, view: HealthQuery, blame: Blame | None = None
) -> Timeline:
    """Returns the timeline of some points; what is bad by the calls that are drawn is shaded.

    By `blame` what is bad in incidents of others alone is shaded pale.
    """
    moments = [
        Moment(one.start, view.at(TimeRange(one.start, one.start + step.value)), one.health)
        for one in points
    ]
    found = [one.health for one in points]
    data: dict[str, object] = {
        "starts": [_milliseconds(one.start) for one in points],
        "step": int(step.value.total_seconds()),
        "begins": _milliseconds(view.within.start),
        "ends": _milliseconds(view.within.end),
        "zooms": step is not Step.WINDOW or len(points) > 1,
        "links": [] if step is Step.WINDOW else [one.link for one in moments],
        "success": successes(points),
        "ok": [one.succeeded if one else None for one in found],
        "client": [
            one.errors.not_found_404 + one.errors.other_4xx if one else None for one in found
        ],
        "server": [one.errors.server_5xx if one else None for one in found],
        "unanswered": [one.errors.no_answer if one else None for one in found],
        "p50": [one.time.p50 if one and one.time else None for one in found],
        "p95": [one.time.p95 if one and one.time else None for one in found],
    }
    data |= _shaded(points, step, blame)
    return Timeline(step, moments, data, blame.others if blame else ())


def _shaded(
    points: Sequence[Point], step: Step, blame: Blame | None
) -> Mapping[str, Sequence[int]]:
    """Returns the places of steps that are bad, and of those that are by others' incidents."""

    def within(one: Point, times: Sequence[TimeRange]) -> bool:
        return any(one.start < time.end and one.start + step.value > time.start for time in times)

    bad, pale = [], []
    for place, one in enumerate(points):
        is_bad = one.health is not None and one.health.status is Status.BAD
        if is_bad and (blame is None or within(one, blame.own)):
            bad.append(place)
        elif blame and (is_bad or blame.is_of_one) and within(one, blame.elsewhere):
            pale.append(place)
        elif is_bad and blame and not blame.is_of_one:
            bad.append(place)
    return {"bad": bad, "elsewhere": pale}


def successes(points: Sequence[Point]) -> list[float | None]:
    """Returns the success of each point in percent; None for a gap."""
    return [percentage(one.health.success) if one.health else None for one in points]


def _usual(weeks: Sequence[Sequence[Point]]) -> list[float | None]:
    """Returns the success of all calls of each point over some weeks; None where none has calls."""
    found: list[float | None] = []
    for points in zip(*weeks, strict=True):
        known = [one.health for one in points if one.health is not None]
        eligible = sum(one.eligible for one in known)
        good = sum(one.succeeded for one in known)
        found.append(percentage(good / eligible) if eligible else None)
    return found


async def compare(
    times: Timeline, within: TimeRange, read: Callable[[TimeRange], Awaitable[Sequence[Point]]]
) -> None:
    """Adds the week before, and what is usual: the same hours of the weekdays of some weeks."""
    weeks = [
        await read(TimeRange(within.start - ago * _WEEK, within.end - ago * _WEEK))
        for ago in range(1, _USUAL_WEEKS + 1)
    ]
    times.data["before"] = _drawn_if_any(successes(weeks[0]))
    times.data["usual"] = _drawn_if_any(_usual(weeks))


def _drawn_if_any(shares: list[float | None]) -> list[float | None]:
    """Returns a line of a chart; empty, and so not drawn, where it has no point."""
    return shares if any(one is not None for one in shares) else []


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def marks_of(changes: Sequence[Happening]) -> Sequence[Mark]:
    """Returns the marks of what changed, the latest ones, in order."""
    marks = [
        Mark(one.at, f"{one.entity_id}: {one.text}" if one.entity_id else one.text)
        for one in changes
        if one.kind in _MARKED
    ]
    return sorted(marks, key=lambda one: one.at)[-_MOST_MARKS:]


def drawn(marks: Sequence[Mark]) -> list[list[object]]:
    """Returns marks as a chart reads them."""
    return [[_milliseconds(one.at), one.text] for one in marks]
