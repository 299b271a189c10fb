"""One request of an operator: authenticate, call one use case in one transaction."""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from mudra.audit.event import Caller
from mudra.http.auth.bearer import TokenRefusal, calling_user, verified_bearer
from mudra.http.endpoint import B, Call, Endpoint, Handler, P, called
from mudra.http.request.body.body_errors import is_body_refusal
from mudra.http.request.request_context import RequestContext
from mudra.http.response.http_refusals import NoAuthorization
from mudra.http.response.json_response import HandlerResult
from mudra.identity.operators.manage_operators import authorize_operator, operator_of
from mudra.identity.operators.operator import Operator, Scope, ScopeMissing
from mudra.identity.operators.person_rule import ActingOperator
from mudra.shared.refusal import PlainRefusal, Refusal
from mudra.tokens.authentication.bearer import UserCaller
from mudra.tokens.authentication.token_check import TokenVerification
from mudra.unit_of_work import TRANSACTION_S, UnitOfWork


class LongOperatorCall(Call[B], frozen=True, kw_only=True):
    """A request of an operator whose right was checked; it opens the units of work itself."""

    operator: Operator

    @property
    def caller(self) -> Caller:
        """The operator, for the audit log."""
        return self.context.caller(self.operator.actor)

    @property
    def by(self) -> ActingOperator:
        """The operator, for an act on a person, which depends on all its scopes."""
        return ActingOperator(self.caller, self.operator.user_id, self.operator.scopes)


class OperatorCall(LongOperatorCall[B], frozen=True, kw_only=True):
    """A request of an operator in an open unit of work, in which its right was checked."""

    work: UnitOfWork


def as_operator(
    scope: Scope | None, *, within_s: float = TRANSACTION_S, reads: bool = False
) -> Callable[[Handler[OperatorCall[B], P]], Endpoint]:
    """Let operators call a handler who have the scope, or any scope where none is named.

    A handler that `reads` alone may work on a replica; the right is checked on the primary.
    """

    def endpoint(handler: Handler[OperatorCall[B], P]) -> Endpoint:
        async def respond(
            context: RequestContext, received: object, path: Mapping[str, object]
        ) -> HandlerResult:
            if is_body_refusal(received):
                return received
            token = await verified_bearer(context)
            async with context.dependencies.unit_of_work(within_s=within_s) as work:
                operator = (
                    await any_operator(token, context, work)
                    if scope is None
                    else await calling_operator(token, context, work, scope)
                )
                if isinstance(operator, Refusal):
                    return operator
                if isinstance(received, Refusal):
                    return received
                call = OperatorCall(context=context, body=received, work=work, operator=operator)
                if not (reads and context.dependencies.has_replica):
                    return await called(handler, call, path)
            async with context.dependencies.reads(within_s=within_s) as work:
                return await called(handler, replace(call, work=work), path)

        return Endpoint(handler=handler, respond=respond, bearer=True)

    return endpoint


def as_operator_at_length(
    scope: Scope,
) -> Callable[[Handler[LongOperatorCall[B], P]], Endpoint]:
    """Let operators who have the scope call a handler whose work is many transactions."""

    def endpoint(handler: Handler[LongOperatorCall[B], P]) -> Endpoint:
        async def respond(
            context: RequestContext, received: object, path: Mapping[str, object]
        ) -> HandlerResult:
            if is_body_refusal(received):
                return received
            token = await verified_bearer(context)
            async with context.dependencies.unit_of_work() as work:
                operator = await calling_operator(token, context, work, scope)
            if isinstance(operator, Refusal):
                return operator
            if isinstance(received, Refusal):
                return received
            call = LongOperatorCall(context=context, body=received, operator=operator)
            return await called(handler, call, path)

        return Endpoint(handler=handler, respond=respond, bearer=True)

    return endpoint


async def calling_operator(
    token: TokenVerification | NoAuthorization,
    context: RequestContext,
    work: UnitOfWork,
    scope: Scope,
) -> Operator | TokenRefusal | ScopeMissing:
    """Find the operator who calls, if it has the scope."""
    found = await calling_user(token, context, work)
    if not isinstance(found, UserCaller):
        return found
    caller = context.caller(f"user:{found.user.user_id}")
    return await authorize_operator(work, found.user, scope, caller)


async def any_operator(
    token: TokenVerification | NoAuthorization, context: RequestContext, work: UnitOfWork
) -> Operator | TokenRefusal | PlainRefusal:
    """Find an operator with any scope: what it sees depends on its scopes."""
    found = await calling_user(token, context, work)
    return await operator_of(work, found.user) if isinstance(found, UserCaller) else found
