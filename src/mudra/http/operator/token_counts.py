"""/operator/v1/members/{id}/tokens: how many tokens a member was issued, by day (scope members)."""

from datetime import timedelta
from typing import Final

from litestar import Response, get
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.audit.event import Caller
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.operator.shapes import DayCountResponse, TokenCountsResponse
from mudra.http.request.fields import NoParameters
from mudra.http.request.request_context import AnyRequest, receive_query
from mudra.http.response.json_response import HandlerResult
from mudra.identity.memberships.admins import NoSuchEntity
from mudra.identity.operators.operator import Scope
from mudra.unit_of_work import UnitOfWork

DAYS: Final = 90


@get(
    "/members/{entity_id:str}/tokens",
    operation_class=described("Count a member's tokens", None, TokenCountsResponse, bearer=True),
)
async def token_counts(
    request: AnyRequest, service: InjectedDependencies, entity_id: FromPath[str]
) -> Response[bytes]:
    """Count the Entity Access Tokens of the last 90 days of UTC; days without any are left out."""
    context, received = receive_query(request, service, NoParameters)

    async def handle(work: UnitOfWork, _: Caller, _received: NoParameters) -> HandlerResult:
        if await work.people.member(entity_id) is None:
            return NoSuchEntity(entity_id)
        since = (await work.people.now()).date() - timedelta(days=DAYS - 1)
        counts = await work.token_counts.by_day(entity_id, since)
        days = [DayCountResponse(day=one.day.isoformat(), count=one.count) for one in counts]
        return TokenCountsResponse(entity_id=entity_id, days=days)

    return await as_operator(context, received, Scope.MEMBERS, handle)


handlers: Final[list[ControllerRouterHandler]] = [token_counts]
