"""Network health of one FIP, AA, API or pair: over time, by API, by counterpart."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from litestar import Response, get
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler
from msgspec import Struct
from msgspec.structs import replace

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import operator_page
from mudra.console.framework.page_results import Download, Outcome, RenderedPage, StreamedPage
from mudra.console.health.counts import AS_REPORTED, COUNTS_PART, counted, counts_export
from mudra.console.health.health_query import CALLS, HealthQuery, query_of
from mudra.console.health.labels import findings
from mudra.console.health.over_time import LATER, OVER_TIME, PART, over_time
from mudra.console.health.tables import (
    ApiRow,
    api_rows,
    apis_table,
    counterpart_path,
    incidents_table,
)
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.operators.operator import Scope
from mudra.metrics.health.picture import ApiPicture, Coverage, Grouping, Row, picture
from mudra.metrics.health.status_history import api_name
from mudra.metrics.incidents.incident import FipApi, Incident, StoredIncident
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.percentage import percentage
from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.series import health_of_all

_MAX_COUNT: Final = 200
_MAX_BLAMED: Final = timedelta(days=2)


class About(Struct, frozen=True):
    """Whom a page is about: an AA, a FIP, both (a pair), or neither (an API of all)."""

    aa_id: str | None = None
    fip_id: str | None = None

    @property
    def grouping(self) -> Grouping:
        """What the rows next to it are: the other end of its calls, or the FIPs."""
        return Grouping.PAIR if (self.aa_id is None) != (self.fip_id is None) else Grouping.FIP


@get("/operator/health/fip/{fip_id:str}", include_in_schema=False)
async def fip(
    request: AnyRequest, service: InjectedDependencies, fip_id: FromPath[str]
) -> Response[str] | Response[bytes]:
    """One FIP as all AAs see it."""
    return await operator_page(
        request,
        service,
        Scope.HEALTH,
        lambda page_context: _look(page_context, About(fip_id=fip_id)),
    )


@get("/operator/health/aa/{aa_id:str}", include_in_schema=False)
async def aa(
    request: AnyRequest, service: InjectedDependencies, aa_id: FromPath[str]
) -> Response[str] | Response[bytes]:
    """One AA: its calls to all FIPs, and whether it reports."""
    return await operator_page(
        request, service, Scope.HEALTH, lambda page_context: _look(page_context, About(aa_id=aa_id))
    )


@get("/operator/health/pair/{aa_id:str}/{fip_id:str}", include_in_schema=False)
async def pair(
    request: AnyRequest, service: InjectedDependencies, aa_id: FromPath[str], fip_id: FromPath[str]
) -> Response[str] | Response[bytes]:
    """The calls of one AA to one FIP."""
    return await operator_page(
        request,
        service,
        Scope.HEALTH,
        lambda page_context: _look(page_context, About(aa_id, fip_id)),
    )


@get("/operator/health/api/{code:str}", include_in_schema=False)
async def api(
    request: AnyRequest, service: InjectedDependencies, code: FromPath[str]
) -> Response[str] | Response[bytes]:
    """One API over the whole network."""
    return await operator_page(
        request, service, Scope.HEALTH, lambda page_context: _look(page_context, About(), code)
    )


async def _look(page_context: PageContext, about: About, code: str = "") -> Outcome:
    asked = query_of(page_context.query, page_context.now)
    if not isinstance(asked, HealthQuery):
        return asked
    if code:
        if code not in CALLS:
            return InvalidField(f"the address must end in one of {', '.join(CALLS)}")
        asked = replace(asked, code=code)
    if OVER_TIME.is_part(page_context.query):
        incidents = await _incidents(page_context, about, asked)
        drawn = await _drawn(page_context, about, asked, incidents)
        return (
            drawn if isinstance(drawn, Download) else RenderedPage(PART, {**drawn, "asked": asked})
        )
    if _is_pair(about) and AS_REPORTED.is_part(page_context.query):
        totals = await _totals(page_context, about, asked)
        return RenderedPage(COUNTS_PART, {"counts": counted(totals, page_context.query)})
    names = await page_context.work.health.names()
    return StreamedPage(
        "health_subject.html",
        {"asked": asked, "about": about, "title": _title(about, asked, names), "names": names},
        lambda then: _content(then, about, asked, code),
    )


async def _totals(
    page_context: PageContext, about: About, asked: HealthQuery
) -> Mapping[Cell, Rollup]:
    return await page_context.work.health.totals(asked.within, about.aa_id, about.fip_id)


async def _drawn(
    page_context: PageContext, about: About, asked: HealthQuery, incidents: Sequence[StoredIncident]
) -> Mapping[str, object] | Download:
    marked = [one.incident for one in incidents]
    return await over_time(page_context, asked, marked, aa_id=about.aa_id, fip_id=about.fip_id)


async def _content(
    page_context: PageContext, about: About, asked: HealthQuery, code: str
) -> Mapping[str, object] | Download:
    work, within = page_context.work, asked.within
    incidents = await _incidents(page_context, about, asked)
    drawn: Mapping[str, object] | Download = LATER
    if not OVER_TIME.comes_later(page_context.query):
        drawn = await _drawn(page_context, about, asked, incidents)
    if isinstance(drawn, Download):
        return drawn
    totals = await _totals(page_context, about, asked)
    heard = await work.health.coverage(within, page_context.now, about.aa_id)
    rows = picture(totals, about.grouping, heard)
    apis = apis_table("apis", "APIs", "API")
    others = apis_table("others", "Counterparts", "Institution")
    listed = incidents_table()
    api_list = api_rows(_apis(totals, heard), asked)
    other_list = _others(rows, about, asked)
    for export in (
        counts_export(totals, page_context.query),
        apis.export(api_list, page_context.query),
        others.export(other_list, page_context.query),
        listed.export(incidents, page_context.query),
    ):
        if export is not None:
            return export
    return {
        **drawn,
        "proof": heard.proof(about.aa_id or ""),
        "whole": health_of_all(totals.items(), asked.code),
        "percent": percentage,
        "apis": apis.view(api_list, page_context.query) if not code else None,
        "others": others.view(other_list, page_context.query) if _has_others(about) else None,
        "incidents": listed.view(incidents, page_context.query),
        "findings": await _causes(page_context, about, asked),
        **_counts(page_context, about, totals),
    }


def _counts(
    page_context: PageContext, about: About, totals: Mapping[Cell, Rollup]
) -> Mapping[str, object]:
    """The counts of a pair, now or in a part of their own."""
    later = AS_REPORTED.comes_later(page_context.query)
    shown = _is_pair(about) and not later
    return {
        "is_pair": _is_pair(about),
        "counts": counted(totals, page_context.query) if shown else None,
    }


async def _causes(page_context: PageContext, about: About, asked: HealthQuery) -> Sequence[object]:
    """Returns the likely causes: they need the whole matrix, and are not shown for many days."""
    if asked.within.end - asked.within.start > _MAX_BLAMED:
        return []
    matrix = await page_context.work.health.matrix(asked.within, asked.code)
    mine = [
        one
        for one in matrix.verdicts
        if about.aa_id in {None, one.cell.aa_id} and about.fip_id in {None, one.cell.fip_id}
    ]
    return findings(mine)


async def _incidents(
    page_context: PageContext, about: About, asked: HealthQuery
) -> list[StoredIncident]:
    """Those of this subject that fall into the asked time, the latest first."""
    found: list[StoredIncident] = []
    wanted = {about.aa_id, about.fip_id} - {None} or {None}
    for entity_id in wanted:
        found += await page_context.work.incidents.latest(entity_id=entity_id, limit=_MAX_COUNT)
    return [
        one
        for one in found
        if _touches(one.incident, asked.within) and _of_api(one.incident, asked.code)
    ]


def _touches(incident: Incident, within: TimeRange) -> bool:
    return incident.began < within.end and (incident.ended is None or incident.ended > within.start)


def _of_api(incident: Incident, code: str) -> bool:
    subject = incident.subject
    return not code or (isinstance(subject, FipApi) and subject.type == code)


def _apis(totals: Mapping[Cell, Rollup], coverage: Coverage) -> Sequence[ApiPicture]:
    """The APIs of the subject itself, over all its counterparts."""
    rows = picture(totals, Grouping.NETWORK, coverage)
    return rows[0].apis if rows else ()


def _others(rows: Sequence[Row], about: About, asked: HealthQuery) -> list[ApiRow]:
    """One row for each counterpart and API; with an API asked for, that one alone."""
    found = []
    for row in rows:
        subject = row.subject
        for one in row.apis:
            if one.tag is Tag.REQUESTS and one.health and asked.code in {"", one.type}:
                who = subject.aa_id if about.fip_id else subject.fip_id
                words = who if asked.code else f"{who}: {api_name(one.type)}"
                path = counterpart_path(subject.aa_id, subject.fip_id, asked)
                found.append(ApiRow(words, path, one))
    return found


def _is_pair(about: About) -> bool:
    return about.aa_id is not None and about.fip_id is not None


def _has_others(about: About) -> bool:
    return not _is_pair(about)


def _title(about: About, asked: HealthQuery, names: Mapping[str, str]) -> str:
    if about.aa_id and about.fip_id:
        return f"{names.get(about.aa_id, about.aa_id)} to {names.get(about.fip_id, about.fip_id)}"
    one = about.aa_id or about.fip_id
    if one:
        return names.get(one, one)
    return f"{asked.api[:1].upper()}{asked.api[1:]}"


handlers: Final[list[ControllerRouterHandler]] = [fip, aa, pair, api]
