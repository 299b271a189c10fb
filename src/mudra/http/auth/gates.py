"""Who may pass: the gates of the API and of the console, which share those for people.

A gate decides alone. The API finds who calls by a token, the console by a session.
"""

from typing import Final

from msgspec import Struct

from mudra.identity.accounts.user import User
from mudra.identity.memberships.member import NotYourEntity
from mudra.identity.operators.operator import NoOperator, Scope, ScopeMissing
from mudra.shared.refusal import Refusal


class PersonGate(Struct, frozen=True):
    """Lets people pass who are signed in; each kind below lets fewer of them pass."""

    def refusal(self, user: User, scopes: frozenset[Scope], entity_id: str) -> Refusal | None:
        """Return why the person may not pass; `entity_id` is that of the address, if it has one."""
        del user, scopes, entity_id
        return None


class OperatorGate(PersonGate, frozen=True):
    """Lets operators pass who have the scope, or any scope where none is named."""

    scope: Scope | None

    def refusal(self, user: User, scopes: frozenset[Scope], entity_id: str) -> Refusal | None:
        """Return why the person is no such operator."""
        del user, entity_id
        if self.scope is None:
            return None if scopes else NoOperator()
        return None if self.scope in scopes else ScopeMissing(self.scope)


class MemberGate(PersonGate, frozen=True):
    """Lets admins pass of the entity that the address names, and its readers, if they may."""

    readers: bool

    def refusal(self, user: User, scopes: frozenset[Scope], entity_id: str) -> Refusal | None:
        """Return why the person is no such admin or reader."""
        del scopes
        passes = user.sees(entity_id) if self.readers else entity_id in user.administers
        return None if passes else NotYourEntity()


SIGNED_IN: Final = PersonGate()
ADMIN: Final = MemberGate(readers=False)
READER: Final = MemberGate(readers=True)


def operator(scope: Scope | None = None) -> OperatorGate:
    """Let operators pass who have the scope, or any scope where none is named."""
    return OperatorGate(scope)
