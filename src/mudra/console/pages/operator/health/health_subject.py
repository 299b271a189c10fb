"""Network health of one FIP, AA, API or pair: over time, by API, by counterpart."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct
from msgspec.structs import replace

from mudra.console.framework import page
from mudra.console.framework.navigation import Link
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download, Outcome, RenderedPage, StreamedPage
from mudra.console.framework.shared_part import shared_table
from mudra.console.health.counts import AS_REPORTED, COUNTS_PART, counted, counts_export
from mudra.console.health.health_query import HealthQuery, leading, query_of
from mudra.console.health.incident_state import recovering_ids
from mudra.console.health.labels import CauseLine, cause_lines, named_headline
from mudra.console.health.over_time import LATER, OVER_TIME, PART, first_calls, over_time
from mudra.console.health.planned import planned_maintenances
from mudra.console.health.tables import (
    apis_table,
    counterparts_table,
    incidents_table,
)
from mudra.console.health.trend import blame_of, causes_over, is_before
from mudra.console.pages.operator.health.subject_rows import (
    Disruptions,
    rows_by_api,
    rows_by_other,
)
from mudra.console.pages.operator.labels import pages_of_member
from mudra.http.auth.gates import operator
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.health.picturing import HealthOfSubject
from mudra.metrics.incidents.explanation import causes_of, concerns, of_api
from mudra.metrics.incidents.incident import Incident, StoredIncident, Subject
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import aa_concerned, codes_of, fip_concerned, name_of
from mudra.metrics.payload.catalogue import CALL_CODES, Tag
from mudra.metrics.rollup.coverage import TimeRange, completeness
from mudra.metrics.rollup.percentage import percentage
from mudra.metrics.sums.cells import empty
from mudra.metrics.sums.totals import Totals
from mudra.shared.entity_type import EntityType


class About(Struct, frozen=True):
    """The subject of a page: an AA, a FIP, both (a pair), or neither (an API of all)."""

    aa_id: str | None = None
    fip_id: str | None = None


@page.get("/operator/health/fip/{fip_id:str}", gate=operator(Scope.HEALTH), reads=True)
async def fip(page_context: PageContext, fip_id: FromPath[str]) -> Outcome:
    """Show one FIP as all AAs see it."""
    return await _handle(page_context, About(fip_id=fip_id))


@page.get("/operator/health/aa/{aa_id:str}", gate=operator(Scope.HEALTH), reads=True)
async def aa(page_context: PageContext, aa_id: FromPath[str]) -> Outcome:
    """Show one AA: its calls to all FIPs, and its missing reports."""
    return await _handle(page_context, About(aa_id=aa_id))


@page.get("/operator/health/pair/{aa_id:str}/{fip_id:str}", gate=operator(Scope.HEALTH), reads=True)
async def pair(page_context: PageContext, aa_id: FromPath[str], fip_id: FromPath[str]) -> Outcome:
    """Show the calls of one AA to one FIP."""
    return await _handle(page_context, About(aa_id, fip_id))


@page.get("/operator/health/api/{code:str}", gate=operator(Scope.HEALTH), reads=True)
async def api(page_context: PageContext, code: FromPath[str]) -> Outcome:
    """Show one API over the whole network."""
    return await _handle(page_context, About(), code)


async def _handle(page_context: PageContext, about: About, code: str = "") -> Outcome:
    view = query_of(page_context.query, page_context.now)
    if not isinstance(view, HealthQuery):
        return view
    if code:
        if code not in CALL_CODES:
            return InvalidField(f"the address must end in one of {', '.join(CALL_CODES)}")
        view = replace(view, code=code)
    if OVER_TIME.is_part(page_context.query):
        charts = await _charts(page_context, about, view)
        return (
            charts
            if isinstance(charts, Download)
            else RenderedPage(PART, {**charts, "leading": view})
        )
    if _is_pair(about) and AS_REPORTED.is_part(page_context.query):
        totals = await _totals(page_context, about, view)
        facts = {"counts": counted(totals, page_context.query), "counts_opened": False}
        return RenderedPage(COUNTS_PART, facts)
    names = await page_context.tx.service(HealthService).names()
    return StreamedPage(
        "health_subject.html",
        {
            "view": view,
            "about": about,
            "title": _title(about, view, names),
            "names": names,
            "members": _pages(page_context, about, names),
        },
        lambda then: _content(then, about, view, code, names),
    )


def _pages(page_context: PageContext, about: About, names: Mapping[str, str]) -> list[Link]:
    """Returns the other pages about the member; of a pair or an API there are none."""
    here = page_context.context.request.url.path
    one, kind = (about.aa_id, EntityType.AA) if about.aa_id else (about.fip_id, EntityType.FIP)
    if _is_pair(about) or not one or one not in names:
        return []
    return pages_of_member(one, kind.value, page_context.scopes, here=here)


async def _totals(page_context: PageContext, about: About, view: HealthQuery) -> Totals:
    health = page_context.tx.service(HealthService)
    return await health.totals(view.within, about.aa_id, about.fip_id, view.code)


async def _totals_shown(page_context: PageContext, about: About, view: HealthQuery) -> Totals:
    """Returns the sums of a pair, or of the file of counts; nothing where neither is asked for."""
    if _is_pair(about) or page_context.query.get("export") == AS_REPORTED.table:
        return await _totals(page_context, about, view)
    return Totals(empty(), ())


async def _charts(
    page_context: PageContext, about: About, view: HealthQuery
) -> Mapping[str, object] | Download:
    of_fip = None if about.aa_id else about.fip_id
    drawn = await causes_over(page_context, view.in_course)
    blame = None if of_fip is None else blame_of(drawn, of_fip)
    charts = await over_time(
        page_context, view, aa_id=about.aa_id, fip_id=about.fip_id, blame=blame
    )
    if isinstance(charts, Download):
        return charts
    earlier = [one for one in drawn if is_before(one, view) and _concerns(one, about)]
    names = await page_context.tx.service(HealthService).names()
    return {**charts, "earlier": cause_lines(earlier, heading=named_headline(names))}


async def _content(
    page_context: PageContext, about: About, view: HealthQuery, code: str, names: Mapping[str, str]
) -> Mapping[str, object] | Download:
    tx, within = page_context.tx, view.within
    stored = await _stored(page_context, view)
    incidents = _incidents(stored, about, view)
    first = leading(view, [one for one in incidents if about.fip_id or about.aa_id])
    charts: Mapping[str, object] | Download = LATER
    if not OVER_TIME.comes_later(page_context.query):
        charts = await _charts(page_context, about, first)
    if isinstance(charts, Download):
        return charts
    found = await tx.service(HealthService).of_subject(
        within, page_context.now, about.aa_id, about.fip_id, view.code
    )
    totals = await _totals_shown(page_context, about, view)
    apis = apis_table("apis", translatable("APIs"), translatable("API"))
    side = "AA" if about.fip_id else "FIP"
    others = counterparts_table(side, with_api=not view.code)
    listed = incidents_table(names, now=page_context.now)
    in_file = others.is_exported(page_context.query)
    disruptions = Disruptions.of(stored)
    listed_apis = rows_by_api(
        found.apis, view, first.code, disruptions, (about.aa_id, about.fip_id)
    )
    for export in (
        counts_export(totals, page_context.query),
        apis.export(listed_apis, page_context.query),
        listed.export(incidents, page_context.query),
    ):
        if export is not None:
            return export
    shown_others = await shared_table(
        page_context,
        ("counterparts", about, view, disruptions.ids),
        (found.rows, names),
        others,
        lambda: rows_by_other(found.rows, view, names, disruptions, side, every=in_file),
        gettext("No calls in this time."),
        large=about.fip_id is None,
    )
    if isinstance(shown_others, Download):
        return shown_others
    judged_until = await tx.service(HealthService).judged_until()
    recovering = recovering_ids(incidents, judged_until, page_context.now)
    return {
        **charts,
        "first_at": await first_calls(page_context, first, aa_id=about.aa_id, fip_id=about.fip_id),
        "reports": completeness(found.coverage, within, page_context.now, about.aa_id or "", names),
        **_figures(found, view, first),
        "apis": apis.view(listed_apis, page_context.query) if not code else None,
        "others": shown_others if _has_others(about) else None,
        "incidents": listed.view(incidents, page_context.query),
        "causes": _causes(stored, about, view, names, recovering),
        "planned": await planned_maintenances(
            page_context, within, names, {about.aa_id or "", about.fip_id or ""}
        ),
        "outvoted": _outvoted(found, names),
        **_counts(page_context, about, totals),
    }


def _outvoted(
    found: HealthOfSubject, names: Mapping[str, str]
) -> Sequence[tuple[str, Sequence[str]]]:
    """Returns the AAs that see the opposite of most others, each with the FIPs by name."""
    of_aa: dict[str, set[str]] = {}
    for (fip_id, _), one in found.disputed.items():
        for aa_id in one.outvoted:
            of_aa.setdefault(aa_id, set()).add(names.get(fip_id, fip_id))
    return [(aa_id, sorted(fips)) for aa_id, fips in sorted(of_aa.items())]


def _figures(found: HealthOfSubject, view: HealthQuery, first: HealthQuery) -> Mapping[str, object]:
    """Returns the calls that come first, the view of their charts, and all of the view."""
    of_first = (
        one.health for one in found.apis if one.tag is Tag.REQUESTS and one.type == first.code
    )
    return {
        "leading": first,
        "first": found.whole if first == view else next(of_first, None),
        "whole": found.whole,
        "percent": percentage,
    }


def _counts(page_context: PageContext, about: About, totals: Totals) -> Mapping[str, object]:
    """Returns the counts of a pair, unless they load later as a separate part."""
    later = AS_REPORTED.comes_later(page_context.query)
    now = _is_pair(about) and not later
    return {
        "is_pair": _is_pair(about),
        "counts": counted(totals, page_context.query) if now else None,
        "counts_opened": now,
    }


def _causes(
    stored: Sequence[StoredIncident],
    about: About,
    view: HealthQuery,
    names: Mapping[str, str],
    recovering: Collection[str],
) -> Sequence[CauseLine]:
    """Returns the causes of this time that are at the subject or reach it."""
    found = [
        one
        for one in causes_of(stored, view.within)
        if _concerns(one, about) and of_api(one.incident, view.code)
    ]
    return cause_lines(
        found,
        heading=named_headline(names),
        about=(about.aa_id, about.fip_id),
        recovering=recovering,
    )


def _concerns(one: StoredIncident, about: About) -> bool:
    return concerns(one.incident, about.aa_id, about.fip_id)


async def _stored(page_context: PageContext, view: HealthQuery) -> Sequence[StoredIncident]:
    """Returns all incidents since the beginning of the requested time, the oldest first."""
    return await page_context.tx.service(IncidentService).since(view.within.start)


def _incidents(
    stored: Sequence[StoredIncident], about: About, view: HealthQuery
) -> list[StoredIncident]:
    """Returns the incidents of this subject in the requested time, the latest first."""
    return [
        one
        for one in reversed(stored)
        if _names(one.incident.subject, about)
        and _is_about(one.incident.subject, about)
        and _touches(one.incident, view.within)
        and _of_api(one.incident, view.code)
    ]


def _names(subject: Subject, about: About) -> bool:
    """Returns whether an incident is at one of these entities, or between it and another."""
    wanted = {one for one in (about.aa_id, about.fip_id) if one}
    name = name_of(subject)
    return not wanted or not wanted.isdisjoint({name.entity_id, name.peer_id})


def _is_about(subject: Subject, about: About) -> bool:
    """Returns whether an incident concerns both ends of a pair, as far as it names them."""
    return (not about.aa_id or aa_concerned(subject) in {None, about.aa_id}) and (
        not about.fip_id or fip_concerned(subject) in {None, about.fip_id} or not about.aa_id
    )


def _touches(incident: Incident, within: TimeRange) -> bool:
    return incident.began < within.end and (incident.ended is None or incident.ended > within.start)


def _of_api(incident: Incident, code: str) -> bool:
    return not code or code in codes_of(incident.subject)


def _is_pair(about: About) -> bool:
    return about.aa_id is not None and about.fip_id is not None


def _has_others(about: About) -> bool:
    return not _is_pair(about)


def _title(about: About, view: HealthQuery, names: Mapping[str, str]) -> str:
    if about.aa_id and about.fip_id:
        return gettext(
            "%(aa)s to %(fip)s",
            aa=names.get(about.aa_id, about.aa_id),
            fip=names.get(about.fip_id, about.fip_id),
        )
    one = about.aa_id or about.fip_id
    if one:
        return names.get(one, one)
    return f"{view.api[:1].upper()}{view.api[1:]}"


handlers: Final[list[ControllerRouterHandler]] = [fip, aa, pair, api]
