"""What the use cases ask of the audit journal."""

from typing import Protocol

from mudra.audit.event import Act


class Journal(Protocol):
    """Where acts are noted, in the transaction of the act itself."""

    async def note(self, act: Act) -> None:
        """Note an act; when this fails, the act itself must not happen."""
