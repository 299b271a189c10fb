"""Find the operator who calls /operator/v1; scopes are read from the database at each call."""

from mudra.http.auth.bearer import TokenRefusal, calling_user
from mudra.http.request.request_context import RequestContext
from mudra.http.response.http_refusals import NoAuthorization
from mudra.identity.operators.manage_operators import authorize_operator, operator_of
from mudra.identity.operators.operator import NoOperator, Operator, Scope, ScopeMissing
from mudra.tokens.authentication.bearer import UserCaller
from mudra.tokens.authentication.token_check import TokenVerification
from mudra.unit_of_work import UnitOfWork


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
) -> Operator | TokenRefusal | NoOperator:
    """Find an operator with any scope: what it sees depends on its scopes."""
    found = await calling_user(token, context, work)
    return await operator_of(work, found.user) if isinstance(found, UserCaller) else found
