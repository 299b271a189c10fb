"""Calls that the charts of a member's health page are of: those that fail now come first."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download
from mudra.console.health.health_query import HealthQuery, leading, of_incident, worst_open
from mudra.console.health.labels import distinct_names
from mudra.console.health.over_time import over_time
from mudra.console.health.trend import blame_of, by_fip, causes_over, lanes_of
from mudra.localization.language import ngettext
from mudra.metrics.health.health import Status
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.health.picture import Row
from mudra.metrics.incidents.incident import Incident, StoredIncident
from mudra.metrics.incidents.subject import aa_concerned, fip_concerned, fip_of
from mudra.metrics.payload.catalogue import CUSTOMER_CODES, Tag
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.percentage import percentage, share_of
from mudra.shared.entity_type import EntityType
from mudra.timeline.happening import HappeningKind
from mudra.timeline.timeline_service import Reader, TimelineService

FIP: Final = "fip"
"""The parameter of the address that names the FIP of the charts."""


class Charted(Struct, frozen=True):
    """The calls that are drawn: of one API or all, of an AA to the FIP, or of all AAs."""

    view: HealthQuery
    aa_id: str | None
    fip_id: str | None

    def shown(
        self, rows: Sequence[Row], kind: EntityType, incidents: Sequence[StoredIncident]
    ) -> Mapping[str, object]:
        """Returns what the page shows of these calls, which are some of its rows."""
        of_fip = [row for row in rows if self.fip_id in {None, row.subject.fip_id}]
        return {
            "leading": self.view,
            "charted_fip": "" if kind is EntityType.FIP else self.fip_id or "",
            "figure": figure_of(of_fip, self.view.code),
            "blame": _blame_of(self, rows, incidents, kind),
        }


class Figure(Struct, frozen=True):
    """Success in percent of the calls that count toward it; None without any."""

    share: float | None
    eligible: int


def figure_of(rows: Sequence[Row], code: str) -> Figure:
    """Returns the success of some pairs, of the calls that the charts draw.

    These are of an API; without `code` they are all calls for customers, without heartbeats.
    """
    wanted = {code} if code else CUSTOMER_CODES
    found = [
        api.health
        for row in rows
        for api in row.apis
        if api.tag is Tag.REQUESTS and api.type in wanted
        if api.health is not None
    ]
    succeeded, eligible = sum(one.succeeded for one in found), sum(one.eligible for one in found)
    return Figure(percentage(share_of(succeeded, eligible), 1), eligible)


def charted_of(
    page_context: PageContext,
    view: HealthQuery,
    incidents: Sequence[StoredIncident],
    rows: Sequence[Row],
    followed: Collection[str],
) -> Charted:
    """Returns what the charts draw: what was asked for, else the open incident that fails most.

    Of a FIU that follows FIPs it is one of these: the one with the most failed calls.
    """
    member, kind = page_context.member, EntityType(page_context.member.entity_type)
    if kind is EntityType.FIP:
        own = [one for one in incidents if _is_at(one, member.entity_id)]
        return Charted(leading(view, own), None, member.entity_id)
    aa_id = member.entity_id if kind is EntityType.AA else None
    if asked := page_context.query.get(FIP):
        return Charted(view, aa_id, asked)
    worst = None if view.every else worst_open(incidents)
    if worst is not None:
        first = view if view.code else of_incident(view, worst)
        return Charted(first, aa_id, fip_concerned(worst.subject))
    return Charted(view, aa_id, _fails_most(rows, view.code) if followed else None)


def _blame_of(
    drawn: Charted, rows: Sequence[Row], incidents: Sequence[StoredIncident], kind: EntityType
) -> str:
    """Returns how many of the AAs see what fails now at a FIP: the answer to "is it us?"."""
    own = [one for one in incidents if fip_of(one.incident.subject) and one.is_open]
    if kind is not EntityType.FIP or not own or not drawn.view.code:
        return ""
    seen = [
        api.health.status
        for row in rows
        for api in row.apis
        if api.type == drawn.view.code and api.tag is Tag.REQUESTS
        if api.health is not None and api.health.status is not Status.UNSURE
    ]
    bad = seen.count(Status.BAD)
    if bad == len(seen) > 1:
        return ngettext(
            "The AA with enough calls sees it: it is on your side.",
            "All %(num)s AAs with enough calls see it: it is on your side.",
            bad,
        )
    return (
        ngettext(
            "%(bad)s of %(num)s AA with enough calls sees it.",
            "%(bad)s of %(num)s AAs with enough calls see it.",
            len(seen),
            bad=bad,
        )
        if seen
        else ""
    )


def _overlaps(found: Incident, within: TimeRange) -> bool:
    return found.began < within.end and (found.ended is None or found.ended > within.start)


def _is_at(stored: StoredIncident, entity_id: str) -> bool:
    subject = stored.incident.subject
    return entity_id in {aa_concerned(subject), fip_concerned(subject)}


def _fails_most(rows: Sequence[Row], code: str) -> str | None:
    failed = dict.fromkeys(sorted({row.subject.fip_id for row in rows}), 0)
    for row in rows:
        figure = figure_of([row], code)
        failed[row.subject.fip_id] += round(figure.eligible * (100 - (figure.share or 100)))
    return max(failed, key=lambda one: failed[one], default=None)


async def charts(
    page_context: PageContext, drawn: Charted, followed: Collection[str]
) -> Mapping[str, object] | Download:
    """Returns the charts of the calls; of a FIU with a lane for each FIP that it looks at."""
    happened = await page_context.tx.service(TimelineService).of_member(
        Reader(page_context.member.entity_id), drawn.view.within, page_context.now
    )
    # That another version of Mudra began to run is of no use to a member.
    changes = [one for one in happened if one.kind is not HappeningKind.RELEASE]
    of_fip = drawn.fip_id if drawn.aa_id is None else None
    blame = None
    if of_fip is not None:
        blame = blame_of(await causes_over(page_context, drawn.view.in_course), of_fip)
    found = await over_time(
        page_context,
        drawn.view,
        aa_id=drawn.aa_id,
        fip_id=drawn.fip_id,
        changes=changes,
        blame=blame,
    )
    if isinstance(found, Download) or page_context.member.entity_type != EntityType.FIU.value:
        return found
    whole = replace(drawn.view.in_course, code="")  # a lane is of whatever fails at its FIP
    causes = await causes_over(page_context, whole)
    troubles = dict(by_fip(causes))
    # The lanes of all FIPs are those of the table: what was over before the time that was chosen
    # is drawn in the lane of a FIP that fails in it.
    in_view = by_fip([one for one in causes if _overlaps(one.incident, drawn.view.within)])
    fips = sorted(followed) if followed else [fip_id for fip_id, _ in in_view]
    return {
        **found,
        "lanes": await lanes_of(
            page_context,
            whole,
            sorted(((one, troubles.get(one, [])) for one in fips), key=lambda one: not one[1]),
            distinct_names(await page_context.tx.service(HealthService).names()),
            lambda one: drawn.view.query(**{FIP: one}),
        ),
    }
