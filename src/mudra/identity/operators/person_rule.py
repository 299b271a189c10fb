"""Decide whether an operator may act on a person. The decisions are pure.

An act on a person (disable, enable, new address, link, tokens, scopes) needs every scope that
the person holds, and no one does so to themselves: otherwise the right to manage members would
be the right to take over any operator. The scope `members` is the one that manages operators;
the last active operator who has it keeps it, and keeps the account.
"""

import enum
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.event import Caller
from mudra.identity.operators.operator import Scope, ScopeMissing
from mudra.shared.refusal import Refusal, RefusalKind

SECOND_OPERATOR_SINCE: Final = timedelta(hours=24)
"""For so long the second operator must have managed operators before a change was requested."""


class PersonAct(enum.StrEnum):
    """The acts of an operator on a person's account; the value is its name in the audit log."""

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
    """The operator who acts on a person. `user_id` is empty for the owner of the installation.

    The owner is anyone who runs commands on the service's own machine: they read its master key.
    """

    caller: Caller
    user_id: str
    scopes: frozenset[Scope]


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
