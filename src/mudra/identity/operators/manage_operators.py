"""Authorize operators, create them, and change their scopes."""

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.email_address import (
    AddressRefused,
    NameRefused,
    display_name,
    normalize_email,
)
from mudra.identity.accounts.refusals import ValueRefused, WrongAccountKind
from mudra.identity.accounts.send_link import send_link
from mudra.identity.accounts.user import User, UserState
from mudra.identity.operators.operator import (
    NoOperator,
    Operator,
    OwnScopes,
    Scope,
    ScopeMissing,
    ScopeNotYours,
    may_change_scopes,
)
from mudra.identity.ports import IdentityUnitOfWork
from mudra.shared.refusal import Refusal


class OperatorSaved(Struct, frozen=True):
    """The operator after the call."""

    user: User
    scopes: frozenset[Scope]
    invited: bool


class NotAnOperator(Refusal, frozen=True):
    """The address does not belong to an operator."""


async def authorize_operator(
    work: IdentityUnitOfWork, user: User, scope: Scope, caller: Caller
) -> Operator | ScopeMissing:
    """Return the operator behind a user who has the scope; a refusal is recorded."""
    found = await operator_with_scope(work, user, scope)
    if isinstance(found, ScopeMissing):
        await work.audit_log.append(
            AuditEntry(
                EventName.OPERATOR_SIGN_IN_REFUSE,
                caller,
                reason=f"scope-{scope.value}-missing",
                outcome=Outcome.REFUSED,
            )
        )
    return found


async def operator_with_scope(
    work: IdentityUnitOfWork, user: User, scope: Scope
) -> Operator | ScopeMissing:
    """Return the operator behind a user who has the scope."""
    scopes = await work.memberships.scopes(user.user_id)
    return Operator(user.user_id, user.email, scopes) if scope in scopes else ScopeMissing(scope)


async def operator_of(work: IdentityUnitOfWork, user: User) -> Operator | NoOperator:
    """Return the operator behind a user who has any scope."""
    scopes = await work.memberships.scopes(user.user_id)
    return Operator(user.user_id, user.email, scopes) if scopes else NoOperator()


async def change_scopes(  # who asks, and the facts of the change
    work: IdentityUnitOfWork,
    operator: Operator,
    email: str,
    name: str,
    scopes: frozenset[Scope],
    caller: Caller,
) -> OperatorSaved | ValueRefused | WrongAccountKind | ScopeNotYours | OwnScopes:
    """Create an operator or change its scopes, if `operator` may grant and remove them."""
    address = normalize_email(email)
    user = await work.people.by_username(address) if isinstance(address, str) else None
    before = await work.memberships.scopes(user.user_id) if user else frozenset()
    own = user is not None and user.user_id == operator.user_id
    refused = may_change_scopes(operator.scopes, before, scopes, own=own)
    return refused or await save_operator(work, email, name, scopes, caller)


async def save_operator(
    work: IdentityUnitOfWork, email: str, name: str, scopes: frozenset[Scope], caller: Caller
) -> OperatorSaved | ValueRefused | WrongAccountKind:
    """Create an operator or change its scopes; a new one is invited by email."""
    address = normalize_email(email)
    if isinstance(address, AddressRefused):
        return ValueRefused("email", address.problem)
    full_name = display_name(name or address)
    if isinstance(full_name, NameRefused):
        return ValueRefused("name", full_name.problem)
    user = await work.people.by_username(address)
    if user is not None and user.administers:
        return WrongAccountKind()
    invited = user is None
    if user is None:
        user = User(work.people.new_id(), address, full_name, UserState.INVITED, None, ())
        await work.people.add_user(user)
    await work.memberships.set_scopes(user.user_id, scopes)
    event = EventName.OPERATOR_ACCOUNT_CREATE if invited else EventName.OPERATOR_ACCOUNT_CHANGE
    names = " ".join(sorted(scope.value for scope in scopes))
    await work.audit_log.append(
        AuditEntry(event, caller, user_id=user.user_id, detail={"scopes": names})
    )
    if invited:
        await send_link(work, user, caller)
    return OperatorSaved(user, scopes, invited)


async def end_operator(
    work: IdentityUnitOfWork, email: str, caller: Caller
) -> frozenset[Scope] | NotAnOperator | ValueRefused | WrongAccountKind:
    """Remove all scopes of an operator; returns those it had."""
    address = normalize_email(email)
    user = await work.people.by_username(address) if isinstance(address, str) else None
    held = await work.memberships.scopes(user.user_id) if user else frozenset()
    if user is None or not held:
        return NotAnOperator()
    saved = await save_operator(work, user.email, user.name, frozenset(), caller)
    return held if isinstance(saved, OperatorSaved) else saved
