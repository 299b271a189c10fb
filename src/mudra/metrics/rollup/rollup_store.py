"""The port of sums that are made: what a roll-up reads and writes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from mudra.metrics.rollup.damage import BlockPlace
from mudra.metrics.rollup.recount import Compared, RecountPart
from mudra.metrics.rollup.stale import Stale


class RollupStore(Protocol):
    """Stored sums of windows, hours and days, and the stale ones among them."""

    async def next_stale(self, *, delayed: bool, without: Sequence[Stale] = ()) -> Stale | None:
        """Returns what to sum next, but for some.

        `delayed` leaves out what late windows still arrive for.
        """
        ...

    async def lock(self, stale: Stale) -> Sequence[int]:
        """Locks out other processes; returns the IDs of the stale marks that are handled now."""
        ...

    async def make(self, stale: Stale) -> bool:
        """Replaces sums by the sums of what they are made of.

        Returns False, and changes nothing, where retention has dropped that.
        """
        ...

    async def replace_received(self, stale: Stale, day: datetime) -> None:
        """Replaces the number of windows that an AA reported on a day, while receipts are kept."""
        ...

    async def mark_stale(self, stale: Stale) -> None:
        """Marks sums as stale."""
        ...

    async def clear(self, marks: Sequence[int]) -> None:
        """Deletes stale marks that were handled."""
        ...

    async def remake(self, stale: Stale) -> None:
        """Makes these sums again, whatever is there: damaged ones, and all of their settled block.

        Raises NothingFiner where what they are made of is kept no more, BlockDamaged where that is
        damaged; nothing is changed then.
        """
        ...

    async def settle_next(self, now: datetime, *, without: Sequence[BlockPlace] = ()) -> bool:
        """Lays out by FIP the oldest sums that can change no more; returns whether there were.

        Those of which a block is at one of these places are left as they are.
        """
        ...

    async def recount_parts(self, day: datetime) -> Sequence[RecountPart]:
        """Returns the parts in which a day is counted again; none without reports of it."""
        ...

    async def recount(self, part: RecountPart) -> Sequence[Compared]:
        """Compares sums with what they are made of; those that are stale are left out."""
        ...
