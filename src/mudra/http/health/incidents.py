"""Incidents: an operator lists all and acts on them, a member lists its own."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.http.auth.gates import EntityCall, OperatorCall, entity, operator
from mudra.http.request.body.request_body import TEXT_LIMITS
from mudra.http.request.fields import NoParameters
from mudra.http.request.health_requests import IncidentActRequest, IncidentsParameters
from mudra.http.response import conflicts
from mudra.http.response.alarm_responses import (
    AcknowledgedResponse,
    IncidentResponse,
    IncidentsResponse,
    act_details,
    incident_details,
)
from mudra.http.route import get, post
from mudra.identity.operators.operator import Scope
from mudra.metrics.incidents.acts.act_service import IncidentActService
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.shared.refusal import Refusal

_MAX_COUNT: Final = 500


@get("/operator/v1/incidents", "List incidents", gate=operator(Scope.HEALTH))
async def incidents(call: OperatorCall[IncidentsParameters]) -> IncidentsResponse | Refusal:
    """List the latest incidents; `open=true` for those only that operators have to act on."""
    entity_id = call.body.entity_id or None
    if call.body.open == "true":
        found = await call.tx.service(IncidentService).to_handle(
            entity_id=entity_id, limit=_MAX_COUNT
        )
    else:
        found = await call.tx.service(IncidentService).latest(entity_id=entity_id, limit=_MAX_COUNT)
    return _list_response(found)


@get("/operator/v1/incidents/{incident_id:uuid}", "Show an incident", gate=operator(Scope.HEALTH))
async def incident(
    call: OperatorCall[NoParameters], incident_id: FromPath[UUID]
) -> IncidentResponse | Refusal:
    """Show one incident, however old."""
    found = await call.tx.service(IncidentService).find(str(incident_id))
    if isinstance(found, Refusal):
        return found
    acts = await call.tx.service(IncidentActService).of(found.incident_id)
    return IncidentResponse(incident=incident_details(found), acts=[act_details(a) for a in acts])


@post(
    "/operator/v1/incidents/{incident_id:uuid}/acknowledge",
    "Acknowledge an incident",
    gate=operator(Scope.HEALTH),
)
async def acknowledge(
    call: OperatorCall[NoParameters], incident_id: FromPath[UUID]
) -> AcknowledgedResponse | Refusal:
    """Assign an incident to the calling operator."""
    stored = await call.tx.service(IncidentActService).acknowledge(str(incident_id), call.caller)
    if isinstance(stored, Refusal):
        return stored
    return AcknowledgedResponse(
        incident_id=stored.incident_id, acknowledged_by=stored.acknowledged_by or ""
    )


@post(
    "/operator/v1/incidents/{incident_id:uuid}/acts",
    "Act on an incident",
    conflicts=conflicts.ACT_ON_INCIDENT,
    gate=operator(Scope.HEALTH),
    limits=TEXT_LIMITS,
)
async def act(
    call: OperatorCall[IncidentActRequest], incident_id: FromPath[UUID]
) -> IncidentResponse | Refusal:
    """Assign, hand over, comment, close or reopen an incident, or write its post-mortem."""
    stored = await call.tx.service(IncidentActService).act(
        str(incident_id), call.body.command, call.caller
    )
    if isinstance(stored, Refusal):
        return stored
    acts = await call.tx.service(IncidentActService).of(stored.incident_id)
    return IncidentResponse(incident=incident_details(stored), acts=[act_details(a) for a in acts])


@get("/incidents", "List own incidents", gate=entity())
async def own_incidents(call: EntityCall[NoParameters]) -> IncidentsResponse:
    """List the latest incidents of the calling entity."""
    own = call.entity.entity_id
    return _list_response(
        await call.tx.service(IncidentService).latest(entity_id=own, limit=_MAX_COUNT)
    )


def _list_response(found: Sequence[StoredIncident]) -> IncidentsResponse:
    return IncidentsResponse(incidents=[incident_details(one) for one in found])


operator_handlers: Final[list[HTTPRouteHandler]] = [incidents, incident, acknowledge, act]
