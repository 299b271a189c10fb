"""/operator/v1/health/silences: times in which nobody is woken (scope health)."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.audit.event import Caller
from mudra.bootstrap.unit_of_work import Work
from mudra.http.account.people_requests import NothingOrder
from mudra.http.auth.as_operator import operator_call
from mudra.http.dependencies import Injected
from mudra.http.health.health_requests import SilenceOrder, SilencesQuery
from mudra.http.health.health_responses import SilenceAnswer, SilencesAnswer, silence_shown
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.identity.memberships.memberships import Scope
from mudra.metrics.incidents.silence import Silence, WantedSilence

_PAST: Final = timedelta(days=90)


@get(
    "/operator/v1/health/silences",
    operation_class=described(
        "List silences", None, SilencesAnswer, bearer=True, query=SilencesQuery
    ),
)
async def silences(request: AnyRequest, service: Injected) -> Response[bytes]:
    """List silences that run or come, the earliest end first."""
    exchange, order = receive_query(request, service, SilencesQuery)

    async def act(work: Work, _: Caller) -> object:
        assert isinstance(order, SilencesQuery)
        now = await work.people.now()
        found = await work.alarm_desk.silences.shown(now - _PAST if order.past == "true" else now)
        return {"silences": [silence_shown(one) for one in found]}

    return await operator_call(exchange, order, Scope.HEALTH, act)


@post(
    "/operator/v1/health/silences",
    status_code=200,
    operation_class=described("Begin a silence", SilenceOrder, SilenceAnswer, bearer=True),
)
async def begin(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Wake nobody about an entity, one of its APIs, or anybody at all, for some time."""
    exchange, order = await receive_json(request, service, SilenceOrder)

    async def act(work: Work, caller: Caller) -> object:
        assert isinstance(order, SilenceOrder)
        begins = order.begins if isinstance(order.begins, datetime) else None
        wanted = WantedSilence(order.entity_id, order.type, begins, order.ends, order.reason)
        outcome = await work.alarm_desk.silence(wanted, caller, await work.people.now())
        return _told(outcome)

    return await operator_call(exchange, order, Scope.HEALTH, act)


@post(
    "/operator/v1/health/silences/{silence_id:uuid}/end",
    status_code=200,
    operation_class=described("End a silence", NothingOrder, SilenceAnswer, bearer=True),
)
async def end(
    request: AnyRequest, service: Injected, silence_id: FromPath[UUID]
) -> Response[bytes]:
    """End a silence now; what it held back and still goes on is told then."""
    exchange, order = await receive_json(request, service, NothingOrder)

    async def act(work: Work, caller: Caller) -> object:
        now = await work.people.now()
        return _told(await work.alarm_desk.end_silence(str(silence_id), caller, now))

    return await operator_call(exchange, order, Scope.HEALTH, act)


def _told(outcome: object) -> object:
    return {"silence": silence_shown(outcome)} if isinstance(outcome, Silence) else outcome


operator_handlers: Final[list[HTTPRouteHandler]] = [silences, begin, end]
