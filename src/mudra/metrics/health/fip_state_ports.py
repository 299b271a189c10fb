"""The ports of the states of FIPs in the feed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from mudra.metrics.health.fip_state import FipStates
from mudra.metrics.rollup.coverage import TimeRange


class FipStateStore(Protocol):
    """What detection keeps of FIPs, window by window."""

    async def fip_counts(self, within: TimeRange) -> Sequence[tuple[datetime, bytes]]:
        """Returns the stored counts of FIPs in these windows, in order."""
        ...

    async def fip_states(self, *, before: datetime) -> bytes | None:
        """Returns the states of FIPs after the last window before this time."""
        ...

    async def save_fip_states(
        self,
        rows: Sequence[tuple[datetime, bytes, bytes]],
        *,
        since: datetime,
        drop_before: datetime,
    ) -> None:
        """Replaces counts and states from a window on, and announces the new states."""
        ...


class LatestFipStates(Protocol):
    """What the feed reads."""

    async def latest(self) -> FipStates:
        """Returns the states of FIPs after the last judged window."""
        ...
