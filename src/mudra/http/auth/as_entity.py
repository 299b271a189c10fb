"""One call of a member about itself: its Entity Access Token, one transaction, answer."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from litestar import Response
from msgspec import Struct

from mudra.audit.event import Caller
from mudra.http.auth.authenticate_entity import authenticate_entity, revoked
from mudra.http.auth.bearer import authorization_of
from mudra.http.request.body_errors import is_body_refusal
from mudra.http.request.request_context import RequestContext
from mudra.http.response.json_response import HandlerResult, refusal, response_of
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.token_check import TokenFacts
from mudra.unit_of_work import UnitOfWork

S = TypeVar("S", bound=Struct)
EntityHandler: TypeAlias = Callable[[UnitOfWork, TokenFacts, Caller, S], Awaitable[HandlerResult]]
"""Calls one use case in an open unit of work, with what the request holds."""


async def as_entity(
    context: RequestContext, received: S | Refusal, handler: EntityHandler[S], *of_types: EntityType
) -> Response[bytes]:
    """Answer a request of a member about itself.

    `received` is the refusal of a body or query that was not accepted, or what it holds.
    """
    if is_body_refusal(received):
        return refusal(context.envelope, received).response()
    header = authorization_of(context.request)
    facts = await authenticate_entity(header, context.service, *of_types)
    if not isinstance(facts, TokenFacts):
        return refusal(context.envelope, facts).response()
    outcome: HandlerResult
    async with context.service.unit_of_work() as work:
        ended = await revoked(facts, work)
        if ended is not None:
            outcome = ended
        elif isinstance(received, Refusal):
            outcome = received
        else:
            outcome = await handler(
                work, facts, context.caller(f"entity:{facts.subject}"), received
            )
    return response_of(context.envelope, outcome).response()


async def entity_refused(context: RequestContext, *of_types: EntityType) -> Refusal | None:
    """Tell why the caller is no such entity; None when it is one. For what needs no transaction."""
    header = authorization_of(context.request)
    facts = await authenticate_entity(header, context.service, *of_types)
    if not isinstance(facts, TokenFacts):
        return facts
    async with context.service.unit_of_work() as work:
        return await revoked(facts, work)
