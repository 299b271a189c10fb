"""One request of a user: authenticate, call one use case in one transaction, respond.

The caller comes before the fields: a caller without a right learns nothing of what
the request would have accepted (decision 0070).
"""

from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from litestar import Response
from msgspec import Struct

from mudra.audit.event import Caller
from mudra.http.auth.bearer import calling_user, verified_bearer
from mudra.http.request.body_errors import is_body_refusal
from mudra.http.request.request_context import RequestContext
from mudra.http.response.json_response import HandlerResult, refusal, response_of
from mudra.identity.accounts.user import User
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork

S = TypeVar("S", bound=Struct)
UserHandler: TypeAlias = Callable[[UnitOfWork, Caller, User, S], Awaitable[HandlerResult]]
"""Calls one use case in an open unit of work, with what the request holds."""


async def as_user(
    context: RequestContext,
    received: S | Refusal,
    handler: UserHandler[S],
    *,
    scheme_needed: bool = True,
) -> Response[bytes]:
    """Answer a request of a signed-in user.

    `received` is the refusal of a body or query that was not accepted, or what it holds.
    """
    if is_body_refusal(received):
        return refusal(context.envelope, received).response()
    outcome: HandlerResult
    token = await verified_bearer(context, scheme_needed=scheme_needed)
    async with context.service.unit_of_work() as work:
        found = await calling_user(token, context, work)
        if isinstance(found, Refusal):
            outcome = found
        elif isinstance(received, Refusal):
            outcome = received
        else:
            caller = context.caller(f"user:{found.user.user_id}")
            outcome = await handler(work, caller, found.user, received)
    return response_of(context.envelope, outcome).response()
