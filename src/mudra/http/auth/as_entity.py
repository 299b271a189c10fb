"""One call of a member about itself: its Entity Access Token, one transaction, answer."""

from collections.abc import Awaitable, Callable

from litestar import Response

from mudra.audit.event import Caller
from mudra.http.auth.authenticate_entity import authenticate_entity, revoked
from mudra.http.auth.bearer import authorization_of
from mudra.http.request.body_errors import BodyRefused
from mudra.http.request.request_context import RequestContext
from mudra.http.response.json_response import refusal, response_of
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.token_check import TokenFacts
from mudra.unit_of_work import UnitOfWork

EntityHandler = Callable[[UnitOfWork, TokenFacts, Caller], Awaitable[object]]
"""Acts in an open transaction; gives the members of the answer, or a refusal."""


async def as_entity(
    context: RequestContext, order: object, act: EntityHandler, *of_types: EntityType
) -> Response[bytes]:
    """Answer for `order`, which may be the refusal of a body or query that cannot be taken."""
    if isinstance(order, BodyRefused):
        return refusal(context.envelope, order).response()
    header = authorization_of(context.request)
    facts = await authenticate_entity(header, context.service, *of_types)
    if not isinstance(facts, TokenFacts):
        return refusal(context.envelope, facts).response()
    async with context.service.unit_of_work() as work:
        outcome: object = await revoked(facts, work)
        if outcome is None:
            caller = context.caller(f"entity:{facts.subject}")
            outcome = order if isinstance(order, Refusal) else await act(work, facts, caller)
    return response_of(context.envelope, outcome).response()


async def entity_refused(context: RequestContext, *of_types: EntityType) -> object | None:
    """Tell why the caller is no such entity; None when it is one. For what needs no transaction."""
    header = authorization_of(context.request)
    facts = await authenticate_entity(header, context.service, *of_types)
    if not isinstance(facts, TokenFacts):
        return facts
    async with context.service.unit_of_work() as work:
        return await revoked(facts, work)
