"""Operators and their scopes: what each may do, and who may change it. Pure."""

import enum
from typing import Final

from msgspec import Struct

from mudra.shared.refusal import PlainRefusal, Refusal, RefusalKind


class Scope(enum.StrEnum):
    """A right of an operator. The NOC has `health`, which changes no one's rights."""

    MEMBERS = "members"
    REGISTRY = "registry"
    HEALTH = "health"
    KEYS = "keys"
    AUDIT = "audit"


class Operator(Struct, frozen=True):
    """An operator who was authenticated, with the scopes read from the database."""

    user_id: str
    email: str
    scopes: frozenset[Scope]

    @property
    def actor(self) -> str:
        """The operator's name in the audit log."""
        return f"operator:{self.email}"


class ScopeMissing(Refusal, frozen=True):
    """The caller is not an operator, or lacks this scope."""

    kind = RefusalKind.UNAUTHORIZED
    scope: Scope

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"the token gives no operator right of the scope {self.scope.value}"


NO_OPERATOR: Final = PlainRefusal(
    RefusalKind.UNAUTHORIZED, "the token gives no right of an operator"
)


class ScopeNotHeld(Refusal, frozen=True):
    """Operators can grant or remove only scopes that they hold."""

    kind = RefusalKind.CONFLICT
    scope: Scope

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"scopes: only holders of {self.scope.value} can grant or remove it"


class OwnScopes(Refusal, frozen=True):
    """Operators cannot change their own scopes: another operator must."""

    kind = RefusalKind.CONFLICT
    sentence = "scopes of your own account: ask another operator"


def makes_decider(before: frozenset[Scope], after: frozenset[Scope]) -> bool:
    """Return whether a change of scopes makes someone decide on entries, or manage who does.

    Who decides on entries already stays the person that they are when they may manage people, too.
    """
    given = after - before
    return Scope.REGISTRY in given or (Scope.MEMBERS in given and Scope.REGISTRY not in before)


def may_change_scopes(
    holder: frozenset[Scope], before: frozenset[Scope], after: frozenset[Scope], *, own: bool
) -> ScopeNotHeld | OwnScopes | None:
    """Return why an operator who has `holder` may not change these scopes, or None."""
    if own:
        return OwnScopes()
    missing = sorted((before ^ after) - holder)
    return ScopeNotHeld(missing[0]) if missing else None
