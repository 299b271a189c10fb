"""The ports of announcements to storage."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.metrics.announcements.announcement import Announcement


class Sending(Struct, frozen=True):
    """An announcement whose subscribers were not all written to; `after` is the last who was."""

    announcement: Announcement
    after: str


class Announcements(Protocol):
    """Stored announcements."""

    async def make_alone(self) -> None:
        """Let no other transaction make one until this one ends: they are counted."""
        ...

    async def add(self, announcement: Announcement) -> None:
        """Store a new one, to be sent once it is published."""
        ...

    async def put(self, announcement: Announcement) -> None:
        """Store what was changed of one; whom it was sent to stays."""
        ...

    async def send_again(self, announcement_id: str) -> None:
        """Send it to all subscribers from the first: it says something new."""
        ...

    async def unended(self, announcement_id: str, now: datetime) -> Announcement | None:
        """Return one that is shown or scheduled, and hold its lock for this transaction."""
        ...

    async def latest(self, since: datetime, limit: int) -> Sequence[Announcement]:
        """Return those that are not over, or were not at a moment, the last published first."""
        ...

    async def made_since(self, since: datetime) -> int:
        """Return how many were made since a moment."""
        ...

    async def take_unsent(self, now: datetime, but: Collection[str]) -> Sending | None:
        """Take one that is published and not sent to all, so that no other process takes it.

        It is none of `but`, by their IDs.
        """
        ...

    async def sent(self, announcement_id: str, after: str, *, done: bool) -> None:
        """Record the last subscription that was written to."""
        ...
