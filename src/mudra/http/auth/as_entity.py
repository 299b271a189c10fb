"""One call of a member about itself: its Entity Access Token, one transaction, answer."""

from collections.abc import Awaitable, Callable

from litestar import Response

from mudra.audit.event import Caller
from mudra.bootstrap.unit_of_work import Work
from mudra.http.auth.authenticate_entity import calling_entity, revoked
from mudra.http.auth.bearer import authorization_of
from mudra.http.request.body_errors import BodyRefused
from mudra.http.request.request_context import Exchange
from mudra.http.response.errors import is_refusal
from mudra.http.response.json_response import answered, refusal
from mudra.tokens.authentication.token_check import TokenFacts
from mudra.tokens.issuing.claims import EntityType

Act = Callable[[Work, TokenFacts, Caller], Awaitable[object]]
"""Acts in an open transaction; gives the members of the answer, or a refusal."""


async def member_call(
    exchange: Exchange, order: object, act: Act, *of_types: EntityType
) -> Response[bytes]:
    """Answer for `order`, which may be the refusal of a body or query that cannot be taken."""
    if isinstance(order, BodyRefused):
        return refusal(exchange.envelope, order).response()
    header = authorization_of(exchange.request)
    facts = await calling_entity(header, exchange.service, *of_types)
    if not isinstance(facts, TokenFacts):
        return refusal(exchange.envelope, facts).response()
    async with exchange.service.open_work() as work:
        outcome: object = await revoked(facts, work)
        if outcome is None:
            caller = exchange.caller(f"entity:{facts.subject}")
            outcome = order if is_refusal(order) else await act(work, facts, caller)
    return answered(exchange.envelope, outcome).response()


async def member_refused(exchange: Exchange, *of_types: EntityType) -> object | None:
    """Tell why the caller is no such entity; None when it is one. For what needs no transaction."""
    header = authorization_of(exchange.request)
    facts = await calling_entity(header, exchange.service, *of_types)
    if not isinstance(facts, TokenFacts):
        return facts
    async with exchange.service.open_work() as work:
        return await revoked(facts, work)
