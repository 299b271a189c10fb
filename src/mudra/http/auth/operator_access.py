"""Who may call /operator/v1: an operator with the scope, read from the database at each call."""

from msgspec import Struct

from mudra.audit.event import Act, EventName, Outcome
from mudra.bootstrap.unit_of_work import Work
from mudra.http.auth.bearer import SignedInUser, TokenRefusal, calling_user
from mudra.http.request.request_context import Exchange
from mudra.identity.accounts.user import User
from mudra.identity.memberships.memberships import Scope


class Operator(Struct, frozen=True):
    """The operator behind a valid User Access Token."""

    user_id: str
    email: str
    scopes: frozenset[Scope]

    @property
    def actor(self) -> str:
        """Its name in the audit."""
        return f"operator:{self.email}"


class ScopeMissing(Struct, frozen=True):
    """The caller is no operator, or one without this scope."""

    scope: Scope


class NoOperator(Struct, frozen=True):
    """The caller is signed in and is no operator."""


async def calling_operator(
    exchange: Exchange, work: Work, scope: Scope
) -> Operator | TokenRefusal | ScopeMissing:
    """Find the operator who calls, if it has the scope; a refused scope is noted for the audit."""
    caller = await calling_user(exchange, work)
    if not isinstance(caller, SignedInUser):
        return caller
    found = await as_operator(caller.user, work, scope)
    if isinstance(found, ScopeMissing):
        await work.journal.note(
            Act(
                EventName.OPERATOR_SIGN_IN_REFUSE,
                exchange.caller(f"user:{caller.user.user_id}"),
                reason=f"scope-{scope.value}-missing",
                outcome=Outcome.REFUSED,
            )
        )
    return found


async def as_operator(user: User, work: Work, scope: Scope) -> Operator | ScopeMissing:
    """Find what `user` may do as an operator, if that includes the scope."""
    scopes = await work.roster.scopes(user.user_id)
    if scope not in scopes:
        return ScopeMissing(scope)
    return Operator(user.user_id, user.email, scopes)


async def found_operator(
    exchange: Exchange, scope: Scope
) -> Operator | TokenRefusal | ScopeMissing:
    """Find the caller in a transaction of its own, for what opens another one to act."""
    async with exchange.service.open_work() as work:
        return await calling_operator(exchange, work, scope)


async def operator_refused(exchange: Exchange, scope: Scope) -> object | None:
    """Tell why the caller may not act as an operator with this scope; None when it may."""
    found = await found_operator(exchange, scope)
    return None if isinstance(found, Operator) else found


async def any_operator(exchange: Exchange, work: Work) -> Operator | TokenRefusal | NoOperator:
    """Find an operator of whatever scope: what it sees of the answer depends on its scopes."""
    caller = await calling_user(exchange, work)
    if not isinstance(caller, SignedInUser):
        return caller
    scopes = await work.roster.scopes(caller.user.user_id)
    return Operator(caller.user.user_id, caller.user.email, scopes) if scopes else NoOperator()
