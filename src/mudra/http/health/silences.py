"""/operator/v1/health/silences: times in which nobody is woken (scope health)."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.audit.event import Caller
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.health.health_requests import SilenceRequest, SilencesQuery
from mudra.http.health.health_responses import SilenceResponse, SilencesResponse, silence_details
from mudra.http.openapi.operation import described
from mudra.http.request.fields import NoParameters
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.json_response import HandlerResult
from mudra.identity.operators.operator import Scope
from mudra.metrics.incidents.silence import Silence, WantedSilence
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork

_PAST: Final = timedelta(days=90)


@get(
    "/operator/v1/health/silences",
    operation_class=described(
        "List silences", None, SilencesResponse, bearer=True, query=SilencesQuery
    ),
)
async def silences(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List silences that run or come, the earliest end first."""
    context, order = receive_query(request, service, SilencesQuery)

    async def act(work: UnitOfWork, _: Caller, order: SilencesQuery) -> HandlerResult:
        now = await work.people.now()
        found = await work.alarm_service.silences.shown(
            now - _PAST if order.past == "true" else now
        )
        return SilencesResponse(silences=[silence_details(one) for one in found])

    return await as_operator(context, order, Scope.HEALTH, act)


@post(
    "/operator/v1/health/silences",
    status_code=200,
    operation_class=described("Begin a silence", SilenceRequest, SilenceResponse, bearer=True),
)
async def begin(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Wake nobody about an entity, one of its APIs, or anybody at all, for some time."""
    context, order = await receive_json(request, service, SilenceRequest)

    async def act(work: UnitOfWork, caller: Caller, order: SilenceRequest) -> HandlerResult:
        begins = order.begins if isinstance(order.begins, datetime) else None
        wanted = WantedSilence(order.entity_id, order.type, begins, order.ends, order.reason)
        outcome = await work.alarm_service.silence(wanted, caller, await work.people.now())
        return _response(outcome)

    return await as_operator(context, order, Scope.HEALTH, act)


@post(
    "/operator/v1/health/silences/{silence_id:uuid}/end",
    status_code=200,
    operation_class=described("End a silence", NoParameters, SilenceResponse, bearer=True),
)
async def end(
    request: AnyRequest, service: InjectedDependencies, silence_id: FromPath[UUID]
) -> Response[bytes]:
    """End a silence now; what it held back and still goes on is told then."""
    context, order = await receive_json(request, service, NoParameters)

    async def act(work: UnitOfWork, caller: Caller, _order: NoParameters) -> HandlerResult:
        now = await work.people.now()
        return _response(await work.alarm_service.end_silence(str(silence_id), caller, now))

    return await as_operator(context, order, Scope.HEALTH, act)


def _response(outcome: Silence | Refusal) -> HandlerResult:
    if isinstance(outcome, Refusal):
        return outcome
    return SilenceResponse(silence=silence_details(outcome))


operator_handlers: Final[list[HTTPRouteHandler]] = [silences, begin, end]
