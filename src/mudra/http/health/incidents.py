"""Incidents: the operator sees all and acknowledges, members see their own."""

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
from mudra.http.health.health_requests import IncidentsQuery
from mudra.http.health.health_responses import (
    AcknowledgedResponse,
    IncidentResponse,
    IncidentsResponse,
    incident_details,
)
from mudra.http.openapi.operation import described
from mudra.http.request.envelope import Body
from mudra.http.request.fields import NoParameters
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.json_response import HandlerResult
from mudra.identity.operators.operator import Scope
from mudra.metrics.notifications.alarm_service import NoSuchIncident
from mudra.metrics.notifications.incident_notifications import StoredIncident
from mudra.tokens.authentication.bearer import EntityCaller
from mudra.unit_of_work import UnitOfWork

_MAX_COUNT: Final = 500


@get(
    "/operator/v1/incidents",
    operation_class=described(
        "List incidents", None, IncidentsResponse, bearer=True, query=IncidentsQuery
    ),
)
async def incidents(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List the latest incidents; `open=true` for those that are not over."""
    context, order = receive_query(request, service, IncidentsQuery)

    async def act(work: UnitOfWork, _: Caller, order: IncidentsQuery) -> HandlerResult:
        return _listed(
            await work.incidents.shown(
                only_open=order.open == "true", entity_id=order.entity_id or None, limit=_MAX_COUNT
            )
        )

    return await as_operator(context, order, Scope.HEALTH, act)


@get(
    "/operator/v1/incidents/{incident_id:uuid}",
    operation_class=described("Show an incident", None, IncidentResponse, bearer=True),
)
async def incident(
    request: AnyRequest, service: InjectedDependencies, incident_id: FromPath[UUID]
) -> Response[bytes]:
    """Show one incident, however old."""
    context, order = receive_query(request, service, NoParameters)

    async def act(work: UnitOfWork, _: Caller, _order: NoParameters) -> HandlerResult:
        found = await work.incidents.one(str(incident_id))
        return NoSuchIncident() if found is None else {"incident": incident_details(found)}

    return await as_operator(context, order, Scope.HEALTH, act)


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
    """Note that this operator looks after an incident."""
    context, order = await receive_json(request, service, NoParameters)

    async def act(work: UnitOfWork, caller: Caller, _order: NoParameters) -> HandlerResult:
        refused = await work.alarm_service.acknowledge(str(incident_id), caller)
        return refused or {"incidentId": str(incident_id), "acknowledgedBy": caller.actor}

    return await as_operator(context, order, Scope.HEALTH, act)


def member_incident_routes(prefixes: Sequence[str]) -> list[HTTPRouteHandler]:
    """Make the handler at every address of the metrics."""

    @get(
        [f"{prefix}/incidents" for prefix in prefixes],
        operation_class=described("List own incidents", None, IncidentsResponse, bearer=True),
    )
    async def own_incidents(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        """List the latest incidents of the calling entity."""
        context, order = receive_query(request, service, NoParameters)

        async def act(
            work: UnitOfWork, entity: EntityCaller, _: Caller, _order: NoParameters
        ) -> HandlerResult:
            return _listed(
                await work.incidents.shown(
                    only_open=False, entity_id=entity.entity_id, limit=_MAX_COUNT
                )
            )

        return await as_entity(context, order, act)

    return [own_incidents]


def _listed(found: Sequence[StoredIncident]) -> Body:
    return {"incidents": [incident_details(one) for one in found]}


operator_handlers: Final = [incidents, incident, acknowledge]
