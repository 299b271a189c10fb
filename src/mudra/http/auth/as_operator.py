"""One call of the operator's API: read, find the operator, act in one transaction, answer."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from litestar import Response

from mudra.audit.event import Caller
from mudra.http.auth.operator_access import calling_operator
from mudra.http.request.body_errors import BodyRefused
from mudra.http.request.envelope import Body
from mudra.http.request.request_context import RequestContext
from mudra.http.response.json_response import refusal, response_of
from mudra.identity.memberships.memberships import Scope
from mudra.identity.operators.operator import Operator
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork

MAX_COUNT: Final = 1000

OperatorHandler = Callable[[UnitOfWork, Caller], Awaitable[object]]
"""Acts in an open transaction; gives the members of the answer, or a refusal."""


async def as_operator(
    context: RequestContext, order: object, scope: Scope, act: OperatorHandler
) -> Response[bytes]:
    """Answer for `order`, which may be the refusal of a body or query that cannot be taken."""
    if isinstance(order, BodyRefused):
        return refusal(context.envelope, order).response()
    async with context.service.unit_of_work() as work:
        outcome: object = await calling_operator(context, work, scope)
        if isinstance(outcome, Operator):
            caller = context.caller(outcome.actor)
            outcome = order if isinstance(order, Refusal) else await act(work, caller)
    return response_of(context.envelope, outcome).response()


def page(name: str, rows: Sequence[Body], limit: int, key: str) -> Body:
    """Write a page: `next` is what `after` must be for the next one, when there is one."""
    shown = list(rows[:limit])
    return {name: shown, **({"next": str(shown[-1][key])} if len(rows) > limit else {})}
