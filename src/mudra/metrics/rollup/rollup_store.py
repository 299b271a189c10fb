"""The port of sums that are made: what a roll-up reads and writes."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from mudra.metrics.rollup.recount import Compared, RecountPart
from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.stale import Stale


class RollupStore(Protocol):
    """Stored sums of hours and days, and the stale ones among them."""

    async def next_stale(self, *, delayed: bool) -> Stale | None:
        """Returns what to sum next; `delayed` leaves out what late windows still arrive for."""
        ...

    async def lock(self, stale: Stale) -> Sequence[int]:
        """Locks out other processes; returns the IDs of the stale marks that are handled now."""
        ...

    async def sums_of_raw(self, stale: Stale) -> Mapping[datetime, Mapping[Cell, Rollup]] | None:
        """Returns the sums of the raw rows of some hours, by hour.

        None where another transaction is to go on: what was made in this one stays.
        """
        ...

    async def sums_of_hours(self, stale: Stale, day: datetime) -> Mapping[Cell, Rollup]:
        """Returns the sums of the hours of a day."""
        ...

    async def replace(self, stale: Stale, sums: Mapping[datetime, Mapping[Cell, Rollup]]) -> None:
        """Replaces the stored sums of an AA, and those of the matrix."""
        ...

    async def replace_over_aas(self, stale: Stale) -> None:
        """Replaces the sums over all AAs by those of the rows of each."""
        ...

    async def are_sources_kept(self, stale: Stale) -> bool:
        """Returns whether retention keeps what these sums are made of."""
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

    async def aas_of(self, day: datetime) -> Sequence[str] | None:
        """Returns the AAs that have reports or sums of a day; None without raw rows of it."""
        ...

    async def recount(self, part: RecountPart) -> Sequence[Compared]:
        """Compares sums with what they are made of; those that are stale are left out."""
        ...
