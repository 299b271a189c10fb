"""/operator/v1/registry: what awaits approval, an entry's history, decisions on both."""

from typing import Final

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.operator.shapes import DecisionRequest
from mudra.http.registry.query import read_moment
from mudra.http.request.fields import NoParameters
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.json_response import HandlerResult
from mudra.http.response.registry_record import (
    DecisionResponse,
    PendingEntriesResponse,
    RecordResponse,
    decision_response,
    pending_response,
    record_response,
)
from mudra.identity.operators.operator import Scope
from mudra.registry.lifecycle.actor import operator
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.pending_entries import MAX_PENDING
from mudra.registry.lifecycle.refusal import UnknownEntity
from mudra.registry.lifecycle.register import Command, decide
from mudra.unit_of_work import UnitOfWork


@get(
    "/registry/waiting",
    operation_class=described(
        "List what waits for approval", None, PendingEntriesResponse, bearer=True
    ),
)
async def waiting(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List pending versions, the longest waiting first, each with what it would change."""
    context, query = receive_query(request, service, NoParameters)

    async def handler(work: UnitOfWork, _: Caller, _query: NoParameters) -> HandlerResult:
        return pending_response(await work.pending_entries.waiting(MAX_PENDING))

    return await as_operator(context, query, Scope.REGISTRY, handler)


@get(
    "/registry/entries/{entity_id:str}",
    operation_class=described("Show the history of an entry", None, RecordResponse, bearer=True),
)
async def history(
    request: AnyRequest, service: InjectedDependencies, entity_id: FromPath[str]
) -> Response[bytes]:
    """Show every version of an entry with who, when and what it changed, and its keys."""
    context, query = receive_query(request, service, NoParameters)

    async def handler(work: UnitOfWork, _: Caller, _query: NoParameters) -> HandlerResult:
        record = await work.registry.record(entity_id)
        return UnknownEntity(entity_id) if record is None else record_response(record)

    return await as_operator(context, query, Scope.REGISTRY, handler)


@post(
    "/registry/entries/{entity_id:str}/decide",
    status_code=200,
    operation_class=described(
        "Decide on an entry", DecisionRequest, DecisionResponse, bearer=True, conflict=True
    ),
)
async def decide_on(
    request: AnyRequest, service: InjectedDependencies, entity_id: FromPath[str]
) -> Response[bytes]:
    """Approve (now or from `goesLiveAt`), reject, suspend, restore, retire or roll back."""
    context, received = await receive_json(request, service, DecisionRequest)

    async def handler(work: UnitOfWork, caller: Caller, sent: DecisionRequest) -> HandlerResult:
        goes_live_at = read_moment(sent.goes_live_at or None, "goesLiveAt")
        if isinstance(goes_live_at, InvalidField):
            return goes_live_at
        actor = operator(caller.actor, caller.address, caller.txn_id)
        action = RegistryAction(sent.act)
        outcome = await decide(
            work.registry,
            Command(action, entity_id, actor, sent.reason, sent.version, goes_live_at),
        )
        return decision_response(outcome) if isinstance(outcome, Decision) else outcome

    return await as_operator(context, received, Scope.REGISTRY, handler)


handlers: Final[list[ControllerRouterHandler]] = [waiting, history, decide_on]
