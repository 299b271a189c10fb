"""Keeps all sums equal to the reports that are counted.

Every push marks the sums of its hour as stale, together with its blocks, and those of its window
over all AAs. A mark is read before the blocks and deleted with the new sums: a push that commits in
between leaves its own mark and the sums are made once more. Marks are only added and deleted, so
that pushes and roll-ups never wait for each other.

The hour of an AA is summed as soon as anything arrives, also while it runs: its sums are then of
what was received so far. Sums of many (days, and hours over all AAs with an empty `aa_id`) wait
until the time is over.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.payload.catalogue import day_start
from mudra.metrics.rollup.damage import BlockPlace
from mudra.metrics.rollup.recount import Compared, RecountPart
from mudra.metrics.rollup.rollup_store import RollupStore
from mudra.metrics.rollup.stale import ALL_AAS, DAY, Stale

RECOUNTED_DAYS: Final = 8
"""A window may arrive 7 days late, so each day is counted again once after it can no longer change.

The reports of these days are kept whatever `MUDRA_METRICS_RAW_DAYS` is (0216).
"""


class RollupService(Struct, frozen=True):
    """Makes and checks sums in one transaction."""

    store: RollupStore

    async def next_stale(self, *, delayed: bool, without: Sequence[Stale] = ()) -> Stale | None:
        """Returns the most urgent stale sums, but for some; None when there are none.

        With `delayed`, sums for which late windows are still arriving wait.
        """
        return await self.store.next_stale(delayed=delayed, without=without)

    async def refresh(self, stale: Stale) -> None:
        """Makes these sums again and marks those that are made of them.

        Sums of what retention has dropped stay as they are.
        """
        marks = await self.store.lock(stale)
        if await self.store.make(stale):
            await self._mark_coarser(stale)
        await self.store.clear(marks)

    async def _mark_coarser(self, stale: Stale) -> None:
        if stale.aa_id == ALL_AAS:
            return
        await self.store.mark_stale(replace(stale, aa_id=ALL_AAS))
        day = day_start(stale.ats[0])
        if stale.grain == "hour":
            await self.store.mark_stale(replace(stale, grain="day", ats=(day,)))
        else:
            await self.store.replace_received(stale, day)

    async def remake(self, stale: Stale) -> None:
        """Makes sums again of what is finer, and marks those that are made of them.

        Raises NothingFiner and BlockDamaged; nothing is changed then.
        """
        marks = await self.store.lock(stale)
        await self.store.remake(stale)
        await self._mark_coarser(stale)
        await self.store.clear(marks)

    async def settle_next(self, now: datetime, *, without: Sequence[BlockPlace] = ()) -> bool:
        """Lays out by FIP the oldest sums that can change no more; returns whether there were."""
        return await self.store.settle_next(now, without=without)

    async def recount_parts(self, now: datetime, days: int) -> Sequence[RecountPart]:
        """Returns the parts in which the sums of the last days are counted again, the last first.

        Without reports that are kept there is nothing to compare.
        """
        parts: list[RecountPart] = []
        for days_ago in range(1, days + 1):
            parts += await self.store.recount_parts(day_start(now) - days_ago * DAY)
        return parts

    async def recount(self, part: RecountPart) -> Sequence[Compared]:
        """Compares sums with what they are made of; marks those that differ as stale."""
        found = await self.store.recount(part)
        for one in found:
            if one.different:
                await self.store.mark_stale(one.sums)
        return found
