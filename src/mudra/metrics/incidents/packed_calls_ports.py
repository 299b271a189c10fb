"""What evaluation needs from storage to judge a window again without its raw rows."""

from datetime import datetime
from typing import Protocol

from mudra.metrics.rollup.coverage import TimeRange


class PackedCallsStore(Protocol):
    """The calls of judged windows, packed."""

    async def first_called(self, within: TimeRange) -> datetime | None:
        """Returns the first of these windows with raw rows or packed calls; None for none."""
        ...

    async def packed_calls(self, window: datetime) -> bytes | None:
        """Returns what was packed of a window when it was judged (window_calls.py).

        None where reports of it came since.
        """
        ...

    async def save_packed_calls(self, window: datetime, packed: bytes) -> None:
        """Stores or replaces what was packed of a window."""
        ...

    async def drop_packed_calls(self, *, before: datetime) -> None:
        """Drops what was packed of windows before a time."""
        ...
