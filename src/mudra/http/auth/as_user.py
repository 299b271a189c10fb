"""One call of a signed-in user: find the caller, act in one transaction, answer.

The caller comes before the fields: who has no right learns nothing of what a
call would have taken (decision 0070).
"""

from collections.abc import Awaitable, Callable

from litestar import Response

from mudra.audit.event import Caller
from mudra.http.auth.bearer import SignedInUser, calling_user
from mudra.http.request.body_errors import BodyRefused
from mudra.http.request.request_context import RequestContext
from mudra.http.response.json_response import refusal, response_of
from mudra.identity.accounts.user import User
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork

UserHandler = Callable[[UnitOfWork, Caller, User], Awaitable[object]]
"""Acts in an open transaction; gives the members of the answer, or a refusal."""


async def as_user(
    context: RequestContext, order: object, act: UserHandler, *, scheme_needed: bool = True
) -> Response[bytes]:
    """Answer for `order`, which may be the refusal of a body or query that cannot be taken."""
    if isinstance(order, BodyRefused):
        return refusal(context.envelope, order).response()
    async with context.service.unit_of_work() as work:
        who = await calling_user(context, work, scheme_needed=scheme_needed)
        outcome: object = who
        if isinstance(who, SignedInUser):
            caller = context.caller(f"user:{who.user.user_id}")
            outcome = order if isinstance(order, Refusal) else await act(work, caller, who.user)
    return response_of(context.envelope, outcome).response()
