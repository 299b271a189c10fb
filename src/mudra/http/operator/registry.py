"""/operator/v1/registry: the approver's queue, an entity's history, and the word on both."""

from datetime import datetime
from typing import Final

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.http.account.people_requests import NoParameters
from mudra.http.auth.as_operator import as_operator
from mudra.http.auth.operator_access import find_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.operator.shapes import (
    DecisionRequest,
    DecisionResponse,
    PendingEntriesResponse,
    RecordResponse,
)
from mudra.http.registry.directory_response import BadQuery, read_moment
from mudra.http.registry.record_response import pending_fields, record_fields
from mudra.http.request.envelope import Body
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.json_response import HandlerResult, refusal, success
from mudra.identity.operators.operator import Operator, Scope
from mudra.registry.lifecycle.actor import DECIDE, SUBMIT, Actor, ActorKind
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.refusal import UnknownEntity
from mudra.registry.lifecycle.register import Command, decide
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork

MAX_WAITING: Final = 1000


@get(
    "/registry/waiting",
    operation_class=described(
        "List what waits for approval", None, PendingEntriesResponse, bearer=True
    ),
)
async def waiting(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List pending versions, the longest waiting first, each with what it would change."""
    context, order = receive_query(request, service, NoParameters)

    async def act(work: UnitOfWork, _: Caller, _order: NoParameters) -> HandlerResult:
        found = await work.pending_entries.waiting(MAX_WAITING)
        return {"waiting": [pending_fields(one) for one in found]}

    return await as_operator(context, order, Scope.REGISTRY, act)


@get(
    "/registry/entries/{entity_id:str}",
    operation_class=described("Show the history of an entry", None, RecordResponse, bearer=True),
)
async def history(
    request: AnyRequest, service: InjectedDependencies, entity_id: FromPath[str]
) -> Response[bytes]:
    """Show every version of an entry with who, when and what it changed, and its keys."""
    context, order = receive_query(request, service, NoParameters)

    async def act(_: UnitOfWork, caller: Caller, _order: NoParameters) -> HandlerResult:
        record = await service.registry.registry(caller).history(entity_id)
        return UnknownEntity(entity_id) if record is None else record_fields(record)

    return await as_operator(context, order, Scope.REGISTRY, act)


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
    context, order = await receive_json(request, service, DecisionRequest)
    found = await find_operator(context, Scope.REGISTRY)
    if not isinstance(found, Operator):
        return refusal(context.envelope, found).response()
    if isinstance(order, Refusal):
        return refusal(context.envelope, order).response()
    due = read_moment(order.goes_live_at or None, "goesLiveAt")
    if isinstance(due, BadQuery):
        return refusal(context.envelope, due.told()).response()
    registry = service.registry.registry(context.caller(found.actor))
    outcome = await decide(registry, command_of(found, entity_id, order, due))
    if not isinstance(outcome, Decision):
        return refusal(context.envelope, outcome).response()
    return success(context.envelope, decision_fields(outcome)).response()


def command_of(
    operator: Operator, entity_id: str, order: DecisionRequest, due: datetime | None
) -> Command:
    """Make the use case's order of what an operator asked for."""
    actor = Actor(ActorKind.OPERATOR, operator.actor, scopes=frozenset({SUBMIT, DECIDE}))
    return Command(RegistryAction(order.act), entity_id, actor, order.reason, order.version, due)


def decision_fields(decision: Decision) -> Body:
    """Write what was decided."""
    return {
        "entityId": decision.after.entity_id,
        "act": decision.act.value,
        "status": decision.status,
        "standing": decision.after.standing.value,
        "version": decision.version,
    }


handlers: Final[list[ControllerRouterHandler]] = [waiting, history, decide_on]
