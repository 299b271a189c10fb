"""Who may call /operator/v1: an operator with the scope, read from the database at each call."""

from dataclasses import dataclass

from mudra.audit.event import Act, EventName, Outcome
from mudra.http.bearer import SignedInUser, TokenRefusal, authorization_of, signed_in_user
from mudra.http.exchange import Exchange, address_of
from mudra.http.service import Service
from mudra.identity.roster import Scope
from mudra.identity.user import User
from mudra.runtime.work import Work


@dataclass(frozen=True, slots=True)
class Operator:
    """The operator behind a valid User Access Token."""

    user_id: str
    email: str
    scopes: frozenset[Scope]

    @property
    def actor(self) -> str:
        """Its name in the audit."""
        return f"operator:{self.email}"


@dataclass(frozen=True, slots=True)
class ScopeMissing:
    """The caller is no operator, or one without this scope."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class NoOperator:
    """The caller is signed in and is no operator."""


async def operator(
    header: str | None, service: Service, work: Work, scope: Scope | str, address: str = ""
) -> Operator | TokenRefusal | ScopeMissing:
    """Find the operator whose token the header holds, if it has the scope."""
    wanted = Scope(scope)
    caller = await signed_in_user(header, service, work, scheme_needed=True, address=address)
    if not isinstance(caller, SignedInUser):
        return caller
    return await as_operator(caller.user, work, wanted)


async def as_operator(user: User, work: Work, scope: Scope) -> Operator | ScopeMissing:
    """Find what `user` may do as an operator, if that includes the scope."""
    scopes = await work.roster.scopes(user.user_id)
    if scope not in scopes:
        return ScopeMissing(scope)
    return Operator(user.user_id, user.email, scopes)


async def calling_operator(
    exchange: Exchange, work: Work, scope: Scope
) -> Operator | TokenRefusal | ScopeMissing:
    """Do the same for a handler's exchange, and note a refused scope for the audit."""
    header = exchange.request.headers.get("authorization")
    address = address_of(exchange.request, exchange.service)
    found = await operator(header, exchange.service, work, scope, address)
    if isinstance(found, ScopeMissing):
        await work.journal.note(
            Act(
                EventName.OPERATOR_SIGN_IN_REFUSE,
                exchange.caller("nobody"),
                reason=f"scope-{scope.value}-missing",
                outcome=Outcome.REFUSED,
            )
        )
    return found


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
    header = authorization_of(exchange.request)
    address = address_of(exchange.request, exchange.service)
    caller = await signed_in_user(
        header, exchange.service, work, scheme_needed=True, address=address
    )
    if not isinstance(caller, SignedInUser):
        return caller
    scopes = await work.roster.scopes(caller.user.user_id)
    return Operator(caller.user.user_id, caller.user.email, scopes) if scopes else NoOperator()
