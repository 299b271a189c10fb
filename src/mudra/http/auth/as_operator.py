"""One call of the operator's API: read, find the operator, act in one transaction, answer."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from litestar import Response

from mudra.audit.event import Caller
from mudra.bootstrap.unit_of_work import Work
from mudra.http.auth.operator_access import Operator, calling_operator
from mudra.http.request.body_errors import BodyRefused
from mudra.http.request.envelope import Body
from mudra.http.request.request_context import Exchange
from mudra.http.response import people_errors as people_errors  # noqa: PLC0414  # its rows are needed
from mudra.http.response.errors import is_refusal
from mudra.http.response.json_response import answered, refusal
from mudra.identity.memberships.memberships import Scope

MOST: Final = 1000

Act = Callable[[Work, Caller], Awaitable[object]]
"""Acts in an open transaction; gives the members of the answer, or a refusal."""


async def operator_call(
    exchange: Exchange, order: object, scope: Scope, act: Act
) -> Response[bytes]:
    """Answer for `order`, which may be the refusal of a body or query that cannot be taken."""
    if isinstance(order, BodyRefused):
        return refusal(exchange.envelope, order).response()
    async with exchange.service.open_work() as work:
        outcome: object = await calling_operator(exchange, work, scope)
        if isinstance(outcome, Operator):
            caller = exchange.caller(outcome.actor)
            outcome = order if is_refusal(order) else await act(work, caller)
    return answered(exchange.envelope, outcome).response()


def page(name: str, rows: Sequence[Body], limit: int, key: str) -> Body:
    """Write a page: `next` is what `after` must be for the next one, when there is one."""
    shown = list(rows[:limit])
    return {name: shown, **({"next": str(shown[-1][key])} if len(rows) > limit else {})}
