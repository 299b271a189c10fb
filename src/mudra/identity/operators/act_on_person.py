"""The acts of an operator on another person: checked under a lock, and recorded."""

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import NoSuchUser
from mudra.identity.accounts.user import User, UserState
from mudra.identity.operators.operator import OwnScopes, Scope, ScopeMissing, ScopeNotHeld
from mudra.identity.operators.operator_store import Operators
from mudra.identity.operators.person_rule import (
    LOCKS_OUT,
    ActingOperator,
    ActRefused,
    LastOperator,
    OwnAccount,
    PersonAct,
    PersonHoldsMore,
    leaves_no_manager,
    may_act,
)
from mudra.shared.refusal import Refusal
from mudra.storage.database.transaction import Transaction


async def authorize_act(
    tx: Transaction, by: ActingOperator, user_id: str, act: PersonAct
) -> User | NoSuchUser | ActRefused:
    """Return the person on whom the operator may act; a refusal is recorded.

    Acts on people happen one after the other, each with the rights that the one before left:
    two operators who disable each other at the same moment do not leave the network without one.
    """
    await Operators(tx).lock_operators()
    person = await People(tx).by_id(user_id)
    if person is None:
        return NoSuchUser()
    refused = await _refused(tx, by, user_id, act)
    if refused is None:
        return person
    await record_refused_act(tx, by.caller, user_id, act, refused)
    return refused


async def lost_scope(tx: Transaction, by: ActingOperator) -> ScopeMissing | None:
    """Refuse, under a lock, an operator who may not manage members any more; it is recorded.

    Who waited for the lock may have been disabled, or lost the scope, by the one before.
    """
    held = await manager_scopes(tx, by)
    if not isinstance(held, ScopeMissing):
        return None
    refused = AuditEntry(
        EventName.OPERATOR_SIGN_IN_REFUSE, by.caller, reason=_reason(held), outcome=Outcome.REFUSED
    )
    await AuditLog(tx).append(refused)
    return held


async def manager_scopes(tx: Transaction, by: ActingOperator) -> frozenset[Scope] | ScopeMissing:
    """Read the caller's scopes under the lock: the act before may have removed them."""
    if not by.user_id:
        return by.scopes
    caller = await People(tx).by_id(by.user_id)
    held = await Operators(tx).scopes(by.user_id)
    # As `managers` counts them: by single sign-on an operator acts without a password here.
    able = caller is not None and caller.state is UserState.ACTIVE and Scope.MEMBERS in held
    return held if able else ScopeMissing(Scope.MEMBERS)


async def record_refused_act(
    tx: Transaction, caller: Caller, user_id: str, act: PersonAct, refused: Refusal
) -> None:
    """Record an act on a person that a rule refused."""
    await AuditLog(tx).append(
        AuditEntry(
            EventName.OPERATOR_ACCOUNT_CHANGE,
            caller,
            user_id=user_id,
            reason=_reason(refused),
            detail={"act": act.value},
            outcome=Outcome.REFUSED,
        )
    )


async def _refused(
    tx: Transaction, by: ActingOperator, user_id: str, act: PersonAct
) -> ActRefused | None:
    caller_scopes = await manager_scopes(tx, by)
    if isinstance(caller_scopes, ScopeMissing):
        return caller_scopes
    person_scopes = await Operators(tx).scopes(user_id)
    refused = may_act(caller_scopes, person_scopes, own=user_id == by.user_id)
    if refused is None and act in LOCKS_OUT:
        return leaves_no_manager(await Operators(tx).managers(), user_id)
    return refused


def _reason(refused: Refusal) -> str:
    match refused:
        case OwnAccount() | OwnScopes():
            return "own-account"
        case PersonHoldsMore(scope) | ScopeNotHeld(scope) | ScopeMissing(scope):
            return f"scope-{scope.value}-missing"
        case LastOperator():
            return "last-operator"
        case _:
            return "value"
