"""Incidents: the list, and each with its timeline, its windows and its owner."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, operator_act, operator_page
from mudra.console.framework.page_results import Download, GoTo, Outcome, RenderedPage
from mudra.console.health.grid import HEALTH
from mudra.console.health.health_query import HealthQuery
from mudra.console.health.labels import findings, state_label, subject_label
from mudra.console.health.over_time import LATER, OVER_TIME, PART, over_time
from mudra.console.health.tables import incident_path, incident_success, incidents_table
from mudra.console.pages.operator.silences import silence_facts, silence_link
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.identity.operators.operator import Scope
from mudra.metrics.incidents.incident import (
    CALL_RULES,
    REPORTING_RULES,
    AaReporting,
    Ending,
    FipApi,
    Incident,
    IncidentRules,
    StoredIncident,
)
from mudra.metrics.incidents.silence import is_silenced
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.refusal import Refusal

_INCIDENTS: Final = "/console/operator/incidents"
_MAX_COUNT: Final = 1000
_AROUND: Final = timedelta(hours=1)
_MAX_LENGTH: Final = timedelta(days=60)


@get("/operator/incidents", include_in_schema=False)
async def incidents(
    request: AnyRequest, service: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """List incidents; `open=true` for open ones only."""

    async def look(page_context: PageContext) -> Outcome:
        only_open = page_context.query.get("open") == "true"
        rows = await page_context.work.incidents.latest(
            only_open=only_open, entity_id=None, limit=_MAX_COUNT
        )
        table = incidents_table()
        view = table.view(rows, page_context.query)
        return table.export(rows, page_context.query) or RenderedPage(
            "incidents.html",
            {"view": view, "only_open": only_open, **await silence_facts(page_context)},
        )

    return await operator_page(request, service, Scope.HEALTH, look)


@get("/operator/incidents/{incident_id:uuid}", include_in_schema=False)
async def incident(
    request: AnyRequest, service: InjectedDependencies, incident_id: FromPath[UUID]
) -> Response[str] | Response[bytes]:
    """Show one incident."""

    async def look(page_context: PageContext) -> Outcome:
        stored = await page_context.work.incidents.find(str(incident_id))
        if isinstance(stored, Refusal):
            return stored
        return await _incident_page(page_context, stored)

    return await operator_page(request, service, Scope.HEALTH, look)


@post("/operator/incidents/{incident_id:uuid}/acknowledge", include_in_schema=False)
async def acknowledge(
    request: AnyRequest, service: InjectedDependencies, incident_id: FromPath[UUID]
) -> Response[str] | Response[bytes]:
    """Assign an incident to the operator who is signed in."""

    async def do(page_context: PageContext, fields: Fields) -> Outcome:
        wanted, seen = str(incident_id), fields.get("instead_of", "")
        outcome = await page_context.work.incidents.acknowledge(
            wanted, page_context.caller, instead_of=seen
        )
        return outcome if isinstance(outcome, Refusal) else GoTo(f"{_INCIDENTS}/{wanted}")

    return await operator_act(request, service, Scope.HEALTH, do)


async def _incident_page(page_context: PageContext, stored: StoredIncident) -> Outcome:
    incident = stored.incident
    view = _view_of(incident, page_context.now)
    subject = incident.subject
    fip_id = subject.fip_id if isinstance(subject, FipApi) else None
    aa_id = None if isinstance(subject, FipApi) else subject.aa_id
    charts: Mapping[str, object] | Download = LATER
    if not OVER_TIME.comes_later(page_context.query):
        charts = await over_time(page_context, view, [incident], aa_id=aa_id, fip_id=fip_id)
    if isinstance(charts, Download):
        return charts
    if OVER_TIME.is_part(page_context.query):
        return RenderedPage(PART, {**charts, "asked": view})
    during = TimeRange(incident.began, incident.last_bad + WINDOW)
    matrix = await page_context.work.health.matrix(during, view.code)
    causes = findings(
        [one for one in matrix.verdicts if one.cell.fip_id == fip_id or one.cell.aa_id == aa_id]
    )
    return RenderedPage(
        "incident.html",
        {
            **charts,
            "stored": stored,
            "incident": incident,
            "title": subject_label(subject),
            "state": state_label(incident),
            "reporting": isinstance(subject, AaReporting),
            "mine": stored.acknowledged_by == page_context.caller.actor,
            "noticed": _detected(incident),
            "close_after": _rules(incident).close_after,
            "success": incident_success(stored),
            "findings": causes,
            "asked": view,
            "path": incident_path(stored),
            "silence": silence_link(subject),
            "silenced": is_silenced(
                subject,
                await page_context.work.silences.list(page_context.now),
                page_context.now,
            ),
            "page_of": f"{HEALTH}/fip/{fip_id}" if fip_id else f"{HEALTH}/aa/{aa_id}",
            "Ending": Ending,
        },
    )


def _view_of(incident: Incident, now: datetime) -> HealthQuery:
    """Returns the time of an incident with an hour on both sides."""
    end = min(window_start(now), (incident.ended or now) + _AROUND)
    start = max(incident.began - _AROUND, end - _MAX_LENGTH)
    code = incident.subject.type if isinstance(incident.subject, FipApi) else ""
    return HealthQuery(TimeRange(start, max(end, start + WINDOW)), "", code)


def _detected(incident: Incident) -> datetime:
    return incident.began + _rules(incident).open_after * WINDOW


def _rules(incident: Incident) -> IncidentRules:
    return REPORTING_RULES if isinstance(incident.subject, AaReporting) else CALL_RULES


handlers: Final[list[ControllerRouterHandler]] = [incidents, incident, acknowledge]
