"""One request of an operator: authenticate, call one use case in one transaction, respond."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from litestar import Response
from msgspec import Struct

from mudra.audit.event import Caller
from mudra.http.auth.bearer import verified_bearer
from mudra.http.auth.operator_access import calling_operator
from mudra.http.request.body_errors import is_body_refusal
from mudra.http.request.request_context import RequestContext
from mudra.http.response.json_response import HandlerResult, refusal, response_of
from mudra.identity.operators.operator import Operator, Scope
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import TRANSACTION_S, UnitOfWork

S = TypeVar("S", bound=Struct)
OperatorHandler: TypeAlias = Callable[[UnitOfWork, Caller, S], Awaitable[HandlerResult]]
"""Calls one use case in an open unit of work, with what the request holds."""


async def as_operator(
    context: RequestContext,
    received: S | Refusal,
    scope: Scope,
    handler: OperatorHandler[S],
    *,
    within_s: float = TRANSACTION_S,
) -> Response[bytes]:
    """Answer a request of an operator who has the scope.

    `received` is the refusal of a body or query that was not accepted, or what it holds.
    """
    if is_body_refusal(received):
        return refusal(context.envelope, received).response()
    outcome: HandlerResult
    token = await verified_bearer(context)
    async with context.service.unit_of_work(within_s=within_s) as work:
        operator = await calling_operator(token, context, work, scope)
        if not isinstance(operator, Operator):
            outcome = operator
        elif isinstance(received, Refusal):
            outcome = received
        else:
            outcome = await handler(work, context.caller(operator.actor), received)
    return response_of(context.envelope, outcome).response()
