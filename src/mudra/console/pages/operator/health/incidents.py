"""Incidents: the list, and each with its timeline, its windows and its owner."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, operator_form, operator_page
from mudra.console.framework.page_results import Download, GoTo, Outcome, RenderedPage
from mudra.console.health.grid import HEALTH, pair_path
from mudra.console.health.health_query import CALLS, HealthQuery
from mudra.console.health.labels import state_label, subject_label
from mudra.console.health.over_time import LATER, OVER_TIME, PART, over_time
from mudra.console.health.tables import incident_path, incident_success, incidents_table
from mudra.console.pages.operator.health.silences import silence_facts, silence_link
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.identity.operators.operator import Scope
from mudra.metrics.incidents.incident import AaReporting, Ending, Incident, StoredIncident
from mudra.metrics.incidents.silence import is_silenced
from mudra.metrics.incidents.subject import aa_concerned, codes_of, fip_concerned
from mudra.metrics.notifications.alarm import ambiguity, symptom_text, timeline_lines
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.refusal import Refusal

_INCIDENTS: Final = "/console/operator/incidents"
_MAX_COUNT: Final = 1000
_AROUND: Final = timedelta(hours=1)
CLOSES_AFTER: Final = 3
"""Good windows that end an incident of calls (metrics/attribution/causes/active.py)."""
SILENT_CLOSES_AFTER: Final = 2
_MAX_LENGTH: Final = timedelta(days=60)


@get("/operator/incidents", include_in_schema=False)
async def incidents(
    request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """List incidents; `open=true` for open ones only."""

    async def handle(page_context: PageContext) -> Outcome:
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

    return await operator_page(request, dependencies, Scope.HEALTH, handle)


@get("/operator/incidents/{incident_id:uuid}", include_in_schema=False)
async def incident(
    request: AnyRequest, dependencies: InjectedDependencies, incident_id: FromPath[UUID]
) -> Response[str] | Response[bytes]:
    """Show one incident."""

    async def handle(page_context: PageContext) -> Outcome:
        stored = await page_context.work.incidents.find(str(incident_id))
        if isinstance(stored, Refusal):
            return stored
        return await _incident_page(page_context, stored)

    return await operator_page(request, dependencies, Scope.HEALTH, handle)


@post("/operator/incidents/{incident_id:uuid}/acknowledge", include_in_schema=False)
async def acknowledge(
    request: AnyRequest, dependencies: InjectedDependencies, incident_id: FromPath[UUID]
) -> Response[str] | Response[bytes]:
    """Assign an incident to the operator who is signed in."""

    async def handle(page_context: PageContext, fields: Fields) -> Outcome:
        wanted, seen = str(incident_id), fields.get("instead_of", "")
        outcome = await page_context.work.incidents.acknowledge(
            wanted, page_context.caller, instead_of=seen
        )
        return outcome if isinstance(outcome, Refusal) else GoTo(f"{_INCIDENTS}/{wanted}")

    return await operator_form(request, dependencies, Scope.HEALTH, handle)


async def _incident_page(page_context: PageContext, stored: StoredIncident) -> Outcome:
    incident = stored.incident
    view = _view_of(incident, page_context.now)
    subject = incident.subject
    fip_id, aa_id = fip_concerned(subject), aa_concerned(subject)
    charts: Mapping[str, object] | Download = LATER
    if not OVER_TIME.comes_later(page_context.query):
        charts = await over_time(page_context, view, [incident], aa_id=aa_id, fip_id=fip_id)
    if isinstance(charts, Download):
        return charts
    if OVER_TIME.is_part(page_context.query):
        return RenderedPage(PART, {**charts, "view": view})
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
            "story": timeline_lines(incident),
            "ambiguity": ambiguity(incident),
            "trouble": symptom_text(incident),
            "close_after": SILENT_CLOSES_AFTER
            if isinstance(subject, AaReporting)
            else CLOSES_AFTER,
            "success": incident_success(stored),
            "view": view,
            "path": incident_path(stored),
            "silence": silence_link(subject),
            "silenced": is_silenced(
                subject,
                await page_context.work.silences.list(page_context.now),
                page_context.now,
            ),
            "page_of": _page_of(aa_id, fip_id),
            "Ending": Ending,
        },
    )


def _view_of(incident: Incident, now: datetime) -> HealthQuery:
    """Returns the time of an incident with an hour on both sides."""
    end = min(window_start(now), (incident.ended or now) + _AROUND)
    start = max(incident.began - _AROUND, end - _MAX_LENGTH)
    codes = codes_of(incident.subject) & set(CALLS)
    code = next(iter(codes)) if len(codes) == 1 else ""
    return HealthQuery(TimeRange(start, max(end, start + WINDOW)), "", code)


def _page_of(aa_id: str | None, fip_id: str | None) -> str:
    if aa_id and fip_id:
        return pair_path(aa_id, fip_id)
    if fip_id:
        return f"{HEALTH}/fip/{fip_id}"
    return f"{HEALTH}/aa/{aa_id}" if aa_id else HEALTH


handlers: Final[list[ControllerRouterHandler]] = [incidents, incident, acknowledge]
