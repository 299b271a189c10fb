"""Authorize operators, create them, and change their scopes."""

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.acts.end_tokens import end_earlier_sign_ins
from mudra.identity.accounts.acts.send_link import send_missing_link
from mudra.identity.accounts.address_change_store import AddressChanges
from mudra.identity.accounts.email_address import (
    AddressRefused,
    NameRefused,
    display_name,
    normalize_email,
)
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import WrongAccountKind
from mudra.identity.accounts.user import User, UserState
from mudra.identity.operators.act_on_person import manager_scopes, record_refused_act
from mudra.identity.operators.operator import (
    NO_OPERATOR,
    Operator,
    OwnScopes,
    Scope,
    ScopeMissing,
    ScopeNotHeld,
    makes_decider,
    may_change_scopes,
)
from mudra.identity.operators.operator_store import Operators
from mudra.identity.operators.person_rule import (
    ActingOperator,
    LastOperator,
    PersonAct,
    leaves_no_manager,
)
from mudra.shared.refusal import PlainRefusal, ValueRefused
from mudra.storage.database.transaction import Transaction


class OperatorSaved(Struct, frozen=True):
    """The operator after the call; `tokens_ended` are those of before the role."""

    user: User
    scopes: frozenset[Scope]
    invited: bool
    tokens_ended: int = 0


SaveResult = OperatorSaved | ValueRefused | WrongAccountKind | LastOperator


def operator_refused(
    held: frozenset[Scope], scope: Scope | None
) -> ScopeMissing | PlainRefusal | None:
    """Return why one who has `held` is no operator with the scope, or None; any scope for None."""
    if scope is None:
        return None if held else NO_OPERATOR
    return None if scope in held else ScopeMissing(scope)


async def authorize_operator(
    tx: Transaction, user: User, scope: Scope | None, caller: Caller
) -> Operator | ScopeMissing | PlainRefusal:
    """Return the operator behind a user who has the scope; that it is missing is recorded.

    Without a scope, of one who has any.
    """
    scopes = await Operators(tx).scopes(user.user_id)
    refused = operator_refused(scopes, scope)
    if isinstance(refused, ScopeMissing):
        await AuditLog(tx).append(
            AuditEntry(
                EventName.OPERATOR_SIGN_IN_REFUSE,
                caller,
                reason=f"scope-{refused.scope.value}-missing",
                outcome=Outcome.REFUSED,
            )
        )
    return refused or Operator(user.user_id, user.email, scopes)


async def change_scopes(  # who asks, and the facts of the change
    tx: Transaction,
    by: ActingOperator,
    email: str,
    name: str,
    scopes: frozenset[Scope],
) -> SaveResult | ScopeNotHeld | OwnScopes | ScopeMissing:
    """Create an operator or change its scopes, if the caller may grant and remove them."""
    await Operators(tx).lock_operators()
    held = await manager_scopes(tx, by)
    if isinstance(held, ScopeMissing):
        return held
    address = normalize_email(email)
    user = await People(tx).by_username(address) if isinstance(address, str) else None
    before = await Operators(tx).scopes(user.user_id) if user else frozenset()
    own = user is not None and user.user_id == by.user_id
    refused = may_change_scopes(held, before, scopes, own=own)
    if refused is not None:
        user_id = user.user_id if user else ""
        await record_refused_act(tx, by.caller, user_id, PersonAct.SCOPES, refused)
        return refused
    saved = await save_operator(tx, email, name, scopes, by.caller)
    if isinstance(saved, OperatorSaved) and makes_decider(before, scopes):
        await Operators(tx).record_grant(saved.user.user_id, by.user_id)
    return saved


async def save_operator(
    tx: Transaction, email: str, name: str, scopes: frozenset[Scope], caller: Caller
) -> SaveResult:
    """Create an operator or change its scopes; one without a password or a valid link gets a link.

    Without scopes a change of address ends that waits to be confirmed: it was an operator's. With
    the first ones, what the person has open ends.
    """
    await Operators(tx).lock_operators()
    address = normalize_email(email)
    if isinstance(address, AddressRefused):
        return ValueRefused("email", address.problem)
    full_name = display_name(name or address)
    if isinstance(full_name, NameRefused):
        return ValueRefused("name", full_name.problem)
    user = await People(tx).by_username(address)
    if user is not None and user.is_of_a_member:
        return WrongAccountKind()
    if user is not None and Scope.MEMBERS not in scopes:
        last = leaves_no_manager(await Operators(tx).managers(), user.user_id)
        if last is not None:
            await record_refused_act(tx, caller, user.user_id, PersonAct.SCOPES, last)
            return last
    is_new, ended = user is None, 0
    if user is None:
        user = User(People(tx).new_id(), address, full_name, UserState.INVITED, None, ())
        await People(tx).add_user(user)
    elif scopes and not await Operators(tx).scopes(user.user_id):
        ended = await end_earlier_sign_ins(tx, user, caller)
    await Operators(tx).set_scopes(user.user_id, scopes)
    if not scopes:
        await AddressChanges(tx).remove(user.user_id)
    event = EventName.OPERATOR_ACCOUNT_CREATE if is_new else EventName.OPERATOR_ACCOUNT_CHANGE
    names = " ".join(sorted(scope.value for scope in scopes))
    await AuditLog(tx).append(
        AuditEntry(event, caller, user_id=user.user_id, detail={"scopes": names})
    )
    # Who loses the role needs no way in.
    is_wanted = is_new or bool(scopes)
    invited = is_wanted and await send_missing_link(tx, user.user_id, caller)
    return OperatorSaved(user, scopes, invited, ended)
