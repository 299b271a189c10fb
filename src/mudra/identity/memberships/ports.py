"""What invitations and onboarding ask of storage, in the transaction of their unit of work."""

from datetime import datetime
from typing import Protocol

from mudra.audit.event import Caller


class FirstSecret(Protocol):
    """Creates the first secret of a new member."""

    async def create(self, entity_id: str, caller: Caller, now: datetime) -> None:
        """Create and store it in this transaction."""
