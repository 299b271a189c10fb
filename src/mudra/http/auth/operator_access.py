"""Who may call /operator/v1: an operator with the scope, read from the database at each call."""

from mudra.audit.event import AuditEntry, EventName, Outcome
from mudra.http.auth.bearer import TokenRefusal, calling_user, verified_bearer
from mudra.http.request.request_context import RequestContext
from mudra.http.response.http_refusals import NoAuthorization
from mudra.identity.accounts.user import User
from mudra.identity.operators.operator import NoOperator, Operator, Scope, ScopeMissing
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.bearer import UserCaller
from mudra.tokens.authentication.token_check import TokenVerification
from mudra.unit_of_work import UnitOfWork


async def calling_operator(
    token: TokenVerification | NoAuthorization,
    context: RequestContext,
    work: UnitOfWork,
    scope: Scope,
) -> Operator | TokenRefusal | ScopeMissing:
    """Find the operator who calls, if it has the scope; a refused scope is noted for the audit."""
    caller = await calling_user(token, context, work)
    if not isinstance(caller, UserCaller):
        return caller
    found = await operator_with_scope(caller.user, work, scope)
    if isinstance(found, ScopeMissing):
        await work.journal.note(
            AuditEntry(
                EventName.OPERATOR_SIGN_IN_REFUSE,
                context.caller(f"user:{caller.user.user_id}"),
                reason=f"scope-{scope.value}-missing",
                outcome=Outcome.REFUSED,
            )
        )
    return found


async def operator_with_scope(
    user: User, work: UnitOfWork, scope: Scope
) -> Operator | ScopeMissing:
    """Find what `user` may do as an operator, if that includes the scope."""
    scopes = await work.memberships.scopes(user.user_id)
    if scope not in scopes:
        return ScopeMissing(scope)
    return Operator(user.user_id, user.email, scopes)


async def find_operator(
    context: RequestContext, scope: Scope
) -> Operator | TokenRefusal | ScopeMissing:
    """Find the caller in a transaction of its own, for what opens another one to act."""
    token = await verified_bearer(context)
    async with context.service.unit_of_work() as work:
        return await calling_operator(token, context, work, scope)


async def operator_refused(context: RequestContext, scope: Scope) -> Refusal | None:
    """Tell why the caller may not act as an operator with this scope; None when it may."""
    found = await find_operator(context, scope)
    return None if isinstance(found, Operator) else found


async def any_operator(
    token: TokenVerification | NoAuthorization, context: RequestContext, work: UnitOfWork
) -> Operator | TokenRefusal | NoOperator:
    """Find an operator of whatever scope: what it sees of the answer depends on its scopes."""
    caller = await calling_user(token, context, work)
    if not isinstance(caller, UserCaller):
        return caller
    scopes = await work.memberships.scopes(caller.user.user_id)
    return Operator(caller.user.user_id, caller.user.email, scopes) if scopes else NoOperator()
