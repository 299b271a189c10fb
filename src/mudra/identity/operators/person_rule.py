"""Decide whether an operator may act on a person. The decisions are pure.

An act on a person (disable, enable, new address, link, tokens, scopes) needs every scope that
the person holds, and no one does so to themselves: otherwise the right to manage members would
be the right to take over any operator. The scope `members` is the one that manages operators;
the last active operator who has it keeps it, and keeps the account.
"""

import enum
from datetime import datetime, timedelta
from typing import Final, Protocol

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import NoSuchUser
from mudra.identity.accounts.user import User, UserState
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.operators.operator import OwnScopes, Scope, ScopeMissing, ScopeNotHeld
from mudra.identity.ports import IdentityUnitOfWork
from mudra.shared.refusal import Refusal, RefusalKind

SECOND_OPERATOR_SINCE: Final = timedelta(hours=24)
"""For so long the second operator must have managed operators before a change was requested."""


class PersonAct(enum.StrEnum):
    """What an operator can do to a person's account; the value is its name in the audit log."""

    DISABLE = "disable"
    ENABLE = "enable"
    ADDRESS = "address"
    CONFIRM_ADDRESS = "confirm-address"
    INVITE = "invite"
    TOKENS = "tokens"
    REVOKE = "revoke"
    SCOPES = "scopes"
    SECOND_FACTOR = "second-factor"


LOCKS_OUT: Final = frozenset({PersonAct.DISABLE, PersonAct.ADDRESS, PersonAct.CONFIRM_ADDRESS})
"""Acts after which the person cannot act until something else happens."""


class ActingOperator(Struct, frozen=True):
    """Who acts on a person. `user_id` is empty for the owner of the installation.

    The owner is anyone who runs commands on the service's own machine: they read its master key.
    """

    caller: Caller
    user_id: str
    scopes: frozenset[Scope]


class ManagerRights(Protocol):
    """What says whether an operator manages members and operators at this moment."""

    @property
    def audit_log(self) -> AuditLog:
        """The audit log."""

    @property
    def people(self) -> People:
        """Users."""

    @property
    def memberships(self) -> Memberships:
        """Scopes."""


class OwnAccount(Refusal, frozen=True):
    """Operators cannot do this to their own account: another operator must."""

    kind = RefusalKind.CONFLICT
    sentence = "this is your own account: another operator must do this"


class PersonHoldsMore(Refusal, frozen=True):
    """The person holds a scope that the caller lacks."""

    kind = RefusalKind.UNAUTHORIZED
    scope: Scope

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"this person holds the scope {self.scope.value}, which you do not hold"


class LastOperator(Refusal, frozen=True):
    """No active operator who can manage operators would be left."""

    kind = RefusalKind.CONFLICT
    sentence = (
        "this is the last active operator with the scope members: give it to another operator first"
    )


ActRefused = OwnAccount | PersonHoldsMore | LastOperator | ScopeMissing


def owner(caller: Caller) -> ActingOperator:
    """Return the owner of the installation, who acts by a command on its machine."""
    return ActingOperator(caller, "", frozenset(Scope))


def may_act(
    caller_scopes: frozenset[Scope], person_scopes: frozenset[Scope], *, own: bool
) -> OwnAccount | PersonHoldsMore | None:
    """Return why a holder of `caller_scopes` may not act on a person, or None."""
    if own:
        return OwnAccount()
    missing = sorted(person_scopes - caller_scopes)
    return PersonHoldsMore(missing[0]) if missing else None


def leaves_no_manager(managers: frozenset[str], user_id: str) -> LastOperator | None:
    """Return the refusal when `user_id` is the only active operator who manages operators."""
    return LastOperator() if managers == frozenset({user_id}) else None


def may_confirm(requested_by: str, requested_at: datetime, by: str, since: datetime | None) -> bool:
    """Return whether an operator counts as the second one for a requested change.

    The one who requested it does not, nor does one who has managed operators for less than a day
    before: it may be an account that the first one created for the purpose.
    """
    return (
        by != requested_by and since is not None and since <= requested_at - SECOND_OPERATOR_SINCE
    )


async def authorize_act(
    work: IdentityUnitOfWork, by: ActingOperator, user_id: str, act: PersonAct
) -> User | NoSuchUser | ActRefused:
    """Return the person on whom the operator may act; a refusal is recorded.

    Acts on people happen one after the other, each with the rights that the one before left:
    two operators who disable each other at the same moment do not leave the network without one.
    """
    await work.memberships.lock_operators()
    person = await work.people.by_id(user_id)
    if person is None:
        return NoSuchUser()
    refused = await _refused(work, by, user_id, act)
    if refused is None:
        return person
    await record_refused_act(work, by.caller, user_id, act, refused)
    return refused


async def lost_scope(work: ManagerRights, by: ActingOperator) -> ScopeMissing | None:
    """Refuse, under a lock, an operator who may not manage members any more; it is recorded.

    Who waited for the lock may have been disabled, or lost the scope, by the one before.
    """
    held = await manager_scopes(work, by)
    if not isinstance(held, ScopeMissing):
        return None
    refused = AuditEntry(
        EventName.OPERATOR_SIGN_IN_REFUSE, by.caller, reason=_reason(held), outcome=Outcome.REFUSED
    )
    await work.audit_log.append(refused)
    return held


async def manager_scopes(
    work: ManagerRights, by: ActingOperator
) -> frozenset[Scope] | ScopeMissing:
    """Read the caller's scopes under the lock: the act before may have removed them."""
    if not by.user_id:
        return by.scopes
    caller = await work.people.by_id(by.user_id)
    held = await work.memberships.scopes(by.user_id)
    # As `managers` counts them: by single sign-on an operator acts without a password here.
    able = caller is not None and caller.state is UserState.ACTIVE and Scope.MEMBERS in held
    return held if able else ScopeMissing(Scope.MEMBERS)


async def record_refused_act(
    work: IdentityUnitOfWork, caller: Caller, user_id: str, act: PersonAct, refused: Refusal
) -> None:
    """Record an act on a person that a rule refused."""
    await work.audit_log.append(
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
    work: IdentityUnitOfWork, by: ActingOperator, user_id: str, act: PersonAct
) -> ActRefused | None:
    caller_scopes = await manager_scopes(work, by)
    if isinstance(caller_scopes, ScopeMissing):
        return caller_scopes
    person_scopes = await work.memberships.scopes(user_id)
    refused = may_act(caller_scopes, person_scopes, own=user_id == by.user_id)
    if refused is None and act in LOCKS_OUT:
        return leaves_no_manager(await work.memberships.managers(), user_id)
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
