"""/operator/v1/health/silences: times in which no alarms are sent (scope health)."""

from datetime import datetime
from typing import Final
from uuid import UUID

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.audit.event import Caller
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.fields import NoParameters
from mudra.http.request.health_requests import SilenceRequest, SilencesParameters
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.alarm_responses import SilenceResponse, SilencesResponse, silence_details
from mudra.http.response.json_response import HandlerResult
from mudra.identity.operators.operator import Scope
from mudra.metrics.incidents.silence import Silence, SilenceCommand
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork


@get(
    "/operator/v1/health/silences",
    operation_class=described(
        "List silences", None, SilencesResponse, bearer=True, query=SilencesParameters
    ),
)
async def silences(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List active and scheduled silences, earliest end first."""
    context, received = receive_query(request, service, SilencesParameters)

    async def handle(work: UnitOfWork, _: Caller, received: SilencesParameters) -> HandlerResult:
        now = await work.people.now()
        found = await work.silences.list(now, past=received.past == "true")
        return SilencesResponse(silences=[silence_details(one) for one in found])

    return await as_operator(context, received, Scope.HEALTH, handle)


@post(
    "/operator/v1/health/silences",
    status_code=200,
    operation_class=described("Begin a silence", SilenceRequest, SilenceResponse, bearer=True),
)
async def begin(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Stop alarms about an entity, one of its APIs, or the whole network, for some time."""
    context, received = await receive_json(request, service, SilenceRequest)

    async def handle(work: UnitOfWork, caller: Caller, received: SilenceRequest) -> HandlerResult:
        begins = received.begins if isinstance(received.begins, datetime) else None
        command = SilenceCommand(
            received.entity_id, received.type, begins, received.ends, received.reason
        )
        return _response(await work.silences.begin(command, caller, await work.people.now()))

    return await as_operator(context, received, Scope.HEALTH, handle)


@post(
    "/operator/v1/health/silences/{silence_id:uuid}/end",
    status_code=200,
    operation_class=described("End a silence", NoParameters, SilenceResponse, bearer=True),
)
async def end(
    request: AnyRequest, service: InjectedDependencies, silence_id: FromPath[UUID]
) -> Response[bytes]:
    """End a silence now; alarms resume for incidents that continue."""
    context, received = await receive_json(request, service, NoParameters)

    async def handle(work: UnitOfWork, caller: Caller, _received: NoParameters) -> HandlerResult:
        now = await work.people.now()
        return _response(await work.silences.end(str(silence_id), caller, now))

    return await as_operator(context, received, Scope.HEALTH, handle)


def _response(outcome: Silence | Refusal) -> HandlerResult:
    if isinstance(outcome, Refusal):
        return outcome
    return SilenceResponse(silence=silence_details(outcome))


operator_handlers: Final[list[HTTPRouteHandler]] = [silences, begin, end]
