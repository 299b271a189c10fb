"""One request of a user: authenticate, call one use case in one transaction.

The caller comes before the fields: a caller without a right learns nothing of what
the request would have accepted (decision 0009).
"""

from collections.abc import Callable, Mapping

from mudra.audit.event import Caller
from mudra.http.auth.bearer import calling_user, verified_bearer
from mudra.http.endpoint import B, Call, Endpoint, Handler, P, called
from mudra.http.request.body.body_errors import is_body_refusal
from mudra.http.request.request_context import RequestContext
from mudra.http.response.json_response import HandlerResult
from mudra.identity.accounts.user import User
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork


class UserCall(Call[B], frozen=True, kw_only=True):
    """A request of a signed-in user in an open unit of work."""

    work: UnitOfWork
    user: User

    @property
    def caller(self) -> Caller:
        """The user, for the audit log."""
        return self.context.caller(f"user:{self.user.user_id}")


def as_user(*, scheme_needed: bool = True) -> Callable[[Handler[UserCall[B], P]], Endpoint]:
    """Let signed-in users call a handler; without `scheme_needed` the token may come bare."""

    def endpoint(handler: Handler[UserCall[B], P]) -> Endpoint:
        async def respond(
            context: RequestContext, received: object, path: Mapping[str, object]
        ) -> HandlerResult:
            if is_body_refusal(received):
                return received
            token = await verified_bearer(context, scheme_needed=scheme_needed)
            async with context.dependencies.unit_of_work() as work:
                found = await calling_user(token, context, work)
                if isinstance(found, Refusal):
                    return found
                if isinstance(received, Refusal):
                    return received
                call = UserCall(context=context, body=received, work=work, user=found.user)
                return await called(handler, call, path)

        return Endpoint(handler=handler, respond=respond, bearer=True)

    return endpoint
