"""Incidents: an operator lists and acknowledges all, a member lists its own."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.http.auth.as_entity import EntityCall, as_entity
from mudra.http.auth.as_operator import OperatorCall, as_operator
from mudra.http.request.fields import NoParameters
from mudra.http.request.health_requests import IncidentsParameters
from mudra.http.response.alarm_responses import (
    AcknowledgedResponse,
    IncidentResponse,
    IncidentsResponse,
    incident_details,
)
from mudra.http.route import get, post
from mudra.identity.operators.operator import Scope
from mudra.metrics.incidents.incident import StoredIncident
from mudra.shared.refusal import Refusal

_MAX_COUNT: Final = 500


@get("/operator/v1/incidents", "List incidents")
@as_operator(Scope.HEALTH)
async def incidents(call: OperatorCall[IncidentsParameters]) -> IncidentsResponse | Refusal:
    """List the latest incidents; `open=true` for open ones only."""
    return _list_response(
        await call.work.incidents.latest(
            only_open=call.body.open == "true",
            entity_id=call.body.entity_id or None,
            limit=_MAX_COUNT,
        )
    )


@get("/operator/v1/incidents/{incident_id:uuid}", "Show an incident")
@as_operator(Scope.HEALTH)
async def incident(
    call: OperatorCall[NoParameters], incident_id: FromPath[UUID]
) -> IncidentResponse | Refusal:
    """Show one incident, however old."""
    found = await call.work.incidents.find(str(incident_id))
    if isinstance(found, Refusal):
        return found
    return IncidentResponse(incident=incident_details(found))


@post("/operator/v1/incidents/{incident_id:uuid}/acknowledge", "Acknowledge an incident")
@as_operator(Scope.HEALTH)
async def acknowledge(
    call: OperatorCall[NoParameters], incident_id: FromPath[UUID]
) -> AcknowledgedResponse | Refusal:
    """Assign an incident to the calling operator."""
    stored = await call.work.incidents.acknowledge(str(incident_id), call.caller)
    if isinstance(stored, Refusal):
        return stored
    return AcknowledgedResponse(
        incident_id=stored.incident_id, acknowledged_by=stored.acknowledged_by or ""
    )


@get("/incidents", "List own incidents")
@as_entity()
async def own_incidents(call: EntityCall[NoParameters]) -> IncidentsResponse:
    """List the latest incidents of the calling entity."""
    own = call.entity.entity_id
    return _list_response(await call.work.incidents.latest(entity_id=own, limit=_MAX_COUNT))


def _list_response(found: Sequence[StoredIncident]) -> IncidentsResponse:
    return IncidentsResponse(incidents=[incident_details(one) for one in found])


operator_handlers: Final[list[HTTPRouteHandler]] = [incidents, incident, acknowledge]
