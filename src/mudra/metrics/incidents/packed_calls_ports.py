"""What evaluation needs from storage to judge a window again without its raw rows."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from mudra.metrics.rollup.coverage import TimeRange


class PackedCallsStore(Protocol):
    """The calls of judged windows, packed."""

    async def packed_calls(self, within: TimeRange) -> Mapping[datetime, bytes]:
        """Returns what was packed of these windows when they were judged (window_calls.py).

        Not of a window with reports that came since.
        """
        ...

    async def save_packed_calls(
        self, packed: Mapping[datetime, bytes], *, drop_before: datetime
    ) -> None:
        """Stores or replaces what was packed, and drops what is older than a time."""
        ...
