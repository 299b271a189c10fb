"""What invitations and onboarding ask of storage, in the transaction of their unit of work."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from mudra.audit.event import Caller
from mudra.identity.memberships.invitation import Invitation


class Invitations(Protocol):
    """Invitations by which an entity's admins ask others to become one."""

    async def add(self, invitation: Invitation) -> None:
        """Store an invitation; an earlier one of the entity to the same address ends."""

    async def sent(self, entity_id: str) -> Sequence[datetime]:
        """Return when the entity sent its invitations of the last 24 hours."""

    async def pending(self, entity_id: str) -> Sequence[Invitation]:
        """Return the invitations of an entity that can still be accepted, the oldest first."""

    async def find(self, token_hash: bytes) -> Invitation | None:
        """Find an invitation by its link, and hold its lock for this transaction."""

    async def end(self, invitation_id: str, now: datetime, *, accepted: bool) -> None:
        """End an invitation that was accepted or withdrawn."""


class FirstSecret(Protocol):
    """Creates the first secret of a new member."""

    async def create(self, entity_id: str, caller: Caller, now: datetime) -> None:
        """Create and store it in this transaction."""
