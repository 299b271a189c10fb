"""What looking after people asks of storage: admins, contacts, operators, states.

Every call belongs to the caller's transaction.
"""

import enum
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.identity.accounts.user import UserState
from mudra.shared.refusal import Refusal


class Scope(enum.StrEnum):
    """What an operator may do; the NOC has `health` and cannot reset anybody's rights."""

    MEMBERS = "members"
    REGISTRY = "registry"
    HEALTH = "health"
    KEYS = "keys"
    AUDIT = "audit"


class ScopeNotYours(Refusal, frozen=True):
    """Nobody gives or takes a scope that he does not hold."""

    scope: Scope


class OwnScopes(Refusal, frozen=True):
    """Nobody changes his own scopes: another operator must."""


def may_change_scopes(
    giver: frozenset[Scope], former: frozenset[Scope], wanted: frozenset[Scope], *, own: bool
) -> ScopeNotYours | OwnScopes | None:
    """Tell why one who holds `giver` may not change an operator's scopes; None when it may."""
    if own:
        return OwnScopes()
    missing = sorted((former ^ wanted) - giver)
    return ScopeNotYours(missing[0]) if missing else None


class MemberStatus(enum.StrEnum):
    """Whether an entity gets tokens."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    RETIRED = "retired"


def lesser(one: MemberStatus, other: MemberStatus) -> MemberStatus:
    """Give the status that allows less."""
    return max(one, other, key=list(MemberStatus).index)


class Reader(Struct, frozen=True):
    """Somebody who gets the letters about an entity."""

    email: str
    name: str


class Admin(Struct, frozen=True):
    """An admin of an entity."""

    user_id: str
    email: str
    name: str
    state: UserState
    since: datetime


class HeldToken(Struct, frozen=True):
    """A User Access Token as its owner's list shows it: never its text."""

    jti: str
    issued_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None
    last_address: str


class Memberships(Protocol):
    """Admins, contacts, operators and their states."""

    async def admins(self, entity_id: str) -> Sequence[Admin]:
        """The admins of an entity, the longest serving first."""

    async def remove_admin(self, entity_id: str, user_id: str) -> None:
        """End a user's rights on an entity, on every node from the commit on."""

    async def contact(self, entity_id: str) -> str:
        """The backup contact address of an entity; empty for none."""

    async def keep_contact(self, entity_id: str, email: str) -> None:
        """Store the backup contact address; empty for none."""

    async def entity_name(self, entity_id: str) -> str:
        """The entity's name for people; empty when there is no such entity."""

    async def set_state(self, user_id: str, state: UserState) -> None:
        """Store a user's state."""

    async def keep_email(self, user_id: str, email: str) -> None:
        """Store a user's new address; the account waits for its verification."""

    async def entry_status(self, entity_id: str) -> MemberStatus:
        """What the registry entry allows, and allows until this transaction ends."""

    async def set_membership(self, entity_id: str, status: MemberStatus) -> MemberStatus:
        """Store the operator's word on a member; gives the status that comes of it.

        Every node is told before it becomes true.
        """

    async def scopes(self, user_id: str) -> frozenset[Scope]:
        """The scopes of an operator; empty for one who is none."""

    async def keep_scopes(self, user_id: str, scopes: frozenset[Scope]) -> None:
        """Store an operator's scopes; none ends the role."""

    async def tokens(self, user_id: str) -> Sequence[HeldToken]:
        """A user's tokens that have not expired, the newest first."""

    async def token_used(self, jti: str, address: str) -> None:
        """Note a use of a user token, at most once a minute."""
