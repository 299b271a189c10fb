"""/operator/v1/registry: the approver's queue, an entity's history, and the word on both."""

from datetime import datetime
from typing import Final

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.bootstrap.unit_of_work import Work
from mudra.http.account.people_requests import NothingOrder
from mudra.http.auth.as_operator import operator_call
from mudra.http.auth.operator_access import Operator, found_operator
from mudra.http.dependencies import Injected
from mudra.http.openapi.operation import described
from mudra.http.operator.shapes import (
    DecisionAnswer,
    DecisionOrder,
    RecordAnswer,
    WaitingAnswer,
)
from mudra.http.registry.directory_response import BadQuery, read_moment
from mudra.http.registry.record_response import record_members, waiting_members
from mudra.http.request.envelope import Body
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.errors import is_refusal
from mudra.http.response.json_response import refusal, success
from mudra.identity.memberships.memberships import Scope
from mudra.registry.lifecycle.actor import DECIDE, SUBMIT, Actor, ActorKind
from mudra.registry.lifecycle.decision import Act, Decision
from mudra.registry.lifecycle.refusal import UnknownEntity
from mudra.registry.lifecycle.register import Order, decide

MOST_WAITING: Final = 1000


@get(
    "/registry/waiting",
    operation_class=described("List what waits for approval", None, WaitingAnswer, bearer=True),
)
async def waiting(request: AnyRequest, service: Injected) -> Response[bytes]:
    """List pending versions, the longest waiting first, each with what it would change."""
    exchange, order = receive_query(request, service, NothingOrder)

    async def act(work: Work, _: Caller) -> object:
        found = await work.waiting_entries.waiting(MOST_WAITING)
        return {"waiting": [waiting_members(one) for one in found]}

    return await operator_call(exchange, order, Scope.REGISTRY, act)


@get(
    "/registry/entries/{entity_id:str}",
    operation_class=described("Show the history of an entry", None, RecordAnswer, bearer=True),
)
async def history(
    request: AnyRequest, service: Injected, entity_id: FromPath[str]
) -> Response[bytes]:
    """Show every version of an entry with who, when and what it changed, and its keys."""
    exchange, order = receive_query(request, service, NothingOrder)

    async def act(_: Work, caller: Caller) -> object:
        record = await service.registry.registry(caller).history(entity_id)
        return UnknownEntity(entity_id) if record is None else record_members(record)

    return await operator_call(exchange, order, Scope.REGISTRY, act)


@post(
    "/registry/entries/{entity_id:str}/decide",
    status_code=200,
    operation_class=described(
        "Decide on an entry", DecisionOrder, DecisionAnswer, bearer=True, conflict=True
    ),
)
async def decide_on(
    request: AnyRequest, service: Injected, entity_id: FromPath[str]
) -> Response[bytes]:
    """Approve (now or from `goesLiveAt`), reject, suspend, restore, retire or roll back."""
    exchange, order = await receive_json(request, service, DecisionOrder)
    found = await found_operator(exchange, Scope.REGISTRY)
    if not isinstance(found, Operator) or is_refusal(order):
        return refusal(
            exchange.envelope, order if isinstance(found, Operator) else found
        ).response()
    assert isinstance(order, DecisionOrder)
    due = read_moment(order.goes_live_at or None, "goesLiveAt")
    if isinstance(due, BadQuery):
        return refusal(exchange.envelope, due.told()).response()
    registry = service.registry.registry(exchange.caller(found.actor))
    outcome = await decide(registry, order_of(found, entity_id, order, due))
    if not isinstance(outcome, Decision):
        return refusal(exchange.envelope, outcome).response()
    return success(exchange.envelope, decision_members(outcome)).response()


def order_of(
    operator: Operator, entity_id: str, order: DecisionOrder, due: datetime | None
) -> Order:
    """Make the use case's order of what an operator asked for."""
    actor = Actor(ActorKind.OPERATOR, operator.actor, scopes=frozenset({SUBMIT, DECIDE}))
    return Order(Act(order.act), entity_id, actor, order.reason, order.version, due)


def decision_members(decision: Decision) -> Body:
    """Write what was decided."""
    return {
        "entityId": decision.after.entity_id,
        "act": decision.act.value,
        "status": decision.status,
        "standing": decision.after.standing.value,
        "version": decision.version,
    }


handlers: Final[list[ControllerRouterHandler]] = [waiting, history, decide_on]
