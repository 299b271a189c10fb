"""/operator/v1/members/{id}/tokens: how many tokens a member was issued, by day (scope members)."""

from datetime import timedelta
from typing import Final

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.http.auth.gates import OperatorCall, operator
from mudra.http.operator.shapes import DayCountResponse, TokenCountsQuery, TokenCountsResponse
from mudra.http.route import get
from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.admins import no_such_entity
from mudra.identity.operators.operator import Scope
from mudra.shared.refusal import Refusal
from mudra.tokens.issuing.token_count_store import TokenCounts


@get("/members/{entity_id:str}/tokens", "Count a member's tokens", gate=operator(Scope.MEMBERS))
async def token_counts(
    call: OperatorCall[TokenCountsQuery], entity_id: FromPath[str]
) -> TokenCountsResponse | Refusal:
    """Count the Entity Access Tokens of the last days of UTC; days without any are left out."""
    if await People(call.tx).member(entity_id) is None:
        return no_such_entity(entity_id)
    since = (await People(call.tx).now()).date() - timedelta(days=int(call.body.days) - 1)
    counts = await TokenCounts(call.tx).by_day(entity_id, since)
    days = [DayCountResponse(day=one.day.isoformat(), count=one.count) for one in counts]
    return TokenCountsResponse(entity_id=entity_id, days=days)


handlers: Final[list[ControllerRouterHandler]] = [token_counts]
