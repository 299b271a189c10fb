"""An operator and its rights."""

from msgspec import Struct

from mudra.identity.memberships.memberships import Scope
from mudra.shared.refusal import Refusal


class Operator(Struct, frozen=True):
    """The operator behind a valid User Access Token."""

    user_id: str
    email: str
    scopes: frozenset[Scope]

    @property
    def actor(self) -> str:
        """Its name in the audit."""
        return f"operator:{self.email}"


class ScopeMissing(Refusal, frozen=True):
    """The caller is no operator, or one without this scope."""

    scope: Scope


class NoOperator(Refusal, frozen=True):
    """The caller is signed in and is no operator."""
