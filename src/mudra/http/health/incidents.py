"""Incidents: an operator lists and acknowledges all, a member lists its own."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.audit.event import Caller
from mudra.http.auth.as_entity import as_entity
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.fields import NoParameters
from mudra.http.request.health_requests import IncidentsParameters
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.alarm_responses import (
    AcknowledgedResponse,
    IncidentResponse,
    IncidentsResponse,
    incident_details,
)
from mudra.http.response.json_response import HandlerResult
from mudra.identity.operators.operator import Scope
from mudra.metrics.incidents.incident import StoredIncident
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.bearer import EntityCaller
from mudra.unit_of_work import UnitOfWork

_MAX_COUNT: Final = 500


@get(
    "/operator/v1/incidents",
    operation_class=described(
        "List incidents", None, IncidentsResponse, bearer=True, query=IncidentsParameters
    ),
)
async def incidents(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List the latest incidents; `open=true` for open ones only."""
    context, parameters = receive_query(request, service, IncidentsParameters)

    async def handle(work: UnitOfWork, _: Caller, parameters: IncidentsParameters) -> HandlerResult:
        return _list_response(
            await work.incidents.latest(
                only_open=parameters.open == "true",
                entity_id=parameters.entity_id or None,
                limit=_MAX_COUNT,
            )
        )

    return await as_operator(context, parameters, Scope.HEALTH, handle)


@get(
    "/operator/v1/incidents/{incident_id:uuid}",
    operation_class=described("Show an incident", None, IncidentResponse, bearer=True),
)
async def incident(
    request: AnyRequest, service: InjectedDependencies, incident_id: FromPath[UUID]
) -> Response[bytes]:
    """Show one incident, however old."""
    context, parameters = receive_query(request, service, NoParameters)

    async def handle(work: UnitOfWork, _caller: Caller, _: NoParameters) -> HandlerResult:
        found = await work.incidents.find(str(incident_id))
        if isinstance(found, Refusal):
            return found
        return IncidentResponse(incident=incident_details(found))

    return await as_operator(context, parameters, Scope.HEALTH, handle)


@post(
    "/operator/v1/incidents/{incident_id:uuid}/acknowledge",
    status_code=200,
    operation_class=described(
        "Acknowledge an incident", NoParameters, AcknowledgedResponse, bearer=True
    ),
)
async def acknowledge(
    request: AnyRequest, service: InjectedDependencies, incident_id: FromPath[UUID]
) -> Response[bytes]:
    """Assign an incident to the calling operator."""
    context, received = await receive_json(request, service, NoParameters)

    async def handle(work: UnitOfWork, caller: Caller, _: NoParameters) -> HandlerResult:
        stored = await work.incidents.acknowledge(str(incident_id), caller)
        if isinstance(stored, Refusal):
            return stored
        return AcknowledgedResponse(
            incident_id=stored.incident_id, acknowledged_by=stored.acknowledged_by or ""
        )

    return await as_operator(context, received, Scope.HEALTH, handle)


def member_incident_routes(prefixes: Sequence[str]) -> list[HTTPRouteHandler]:
    """Returns the handler at every address of the metrics."""

    @get(
        [f"{prefix}/incidents" for prefix in prefixes],
        operation_class=described("List own incidents", None, IncidentsResponse, bearer=True),
    )
    async def own_incidents(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        """List the latest incidents of the calling entity."""
        context, parameters = receive_query(request, service, NoParameters)

        async def handle(
            work: UnitOfWork, entity: EntityCaller, _caller: Caller, _: NoParameters
        ) -> HandlerResult:
            return _list_response(
                await work.incidents.latest(entity_id=entity.entity_id, limit=_MAX_COUNT)
            )

        return await as_entity(context, parameters, handle)

    return [own_incidents]


def _list_response(found: Sequence[StoredIncident]) -> IncidentsResponse:
    return IncidentsResponse(incidents=[incident_details(one) for one in found])


operator_handlers: Final[list[HTTPRouteHandler]] = [incidents, incident, acknowledge]
