"""One request of a member about itself: authenticate, one use case in one transaction, respond."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from litestar import Response
from msgspec import Struct

from mudra.audit.event import Caller
from mudra.http.auth.bearer import calling_entity
from mudra.http.request.body_errors import is_body_refusal
from mudra.http.request.request_context import RequestContext
from mudra.http.response.json_response import HandlerResult, refusal, response_of
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.bearer import EntityCaller
from mudra.unit_of_work import UnitOfWork

S = TypeVar("S", bound=Struct)
EntityHandler: TypeAlias = Callable[[UnitOfWork, EntityCaller, Caller, S], Awaitable[HandlerResult]]
"""Calls one use case in an open unit of work, with what the request holds."""


async def as_entity(
    context: RequestContext, received: S | Refusal, handler: EntityHandler[S], *of_types: EntityType
) -> Response[bytes]:
    """Answer a request of a member about itself.

    `received` is the refusal of a body or query that was not accepted, or what it holds.
    """
    if is_body_refusal(received):
        return refusal(context.envelope, received).response()
    entity = await calling_entity(context.request, context.service, *of_types)
    if isinstance(entity, Refusal):
        return refusal(context.envelope, entity).response()
    if isinstance(received, Refusal):
        return refusal(context.envelope, received).response()
    async with context.service.unit_of_work() as work:
        caller = context.caller(f"entity:{entity.entity_id}")
        outcome = await handler(work, entity, caller, received)
    return response_of(context.envelope, outcome).response()
