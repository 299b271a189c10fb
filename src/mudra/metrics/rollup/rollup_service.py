"""Keeps the sums of hours and days equal to the raw rows.

Every push marks the sums of its hour as stale, together with its raw rows. The mark is read
before the raw rows and deleted with the new sums: a push that commits in between leaves its own
mark and the hour is summed once more. Marks are only added and deleted, so that pushes and
roll-ups never wait for each other.

The hour of an AA is summed as soon as anything arrives, also while it runs: its row then holds
what was received so far. Sums of many such rows (days, and those over all AAs with an empty
`aa_id`) wait until the time is over.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.payload.catalogue import day_start
from mudra.metrics.ports import RollupStore
from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.stale import ALL_AAS, DAY, Recount, Stale

RECOUNTED_DAYS: Final = 8
"""A window may arrive 7 days late, so each day is counted again once after it can no longer change.

The raw rows of these days are kept whatever `MUDRA_METRICS_RAW_DAYS` is (0162).
"""


class RollupService(Struct, frozen=True):
    """Computes and checks sums in one transaction."""

    store: RollupStore

    async def next_stale(self, *, delayed: bool) -> Stale | None:
        """Returns the most urgent stale sums; None when there are none.

        With `delayed`, sums for which late windows are still arriving wait.
        """
        return await self.store.next_stale(delayed=delayed)

    async def refresh(self, stale: Stale) -> None:
        """Computes the sums of one AA from raw rows or hours, those over all AAs from theirs.

        Those of an hour with very many new rows take several transactions. Sums of rows that
        retention has dropped stay as they are.
        """
        marks = await self.store.lock(stale)
        if stale.aa_id == ALL_AAS:
            # Retention drops hours together with those that they are made of, and no days.
            if await self.store.are_sources_kept(stale):
                await self.store.replace_over_aas(stale)
        else:
            sums = await self._sums(stale)
            if sums is None:
                return  # its marks stay, so that it is the next again
            # Asked after they were read: what is kept now was kept then.
            if await self.store.are_sources_kept(stale):
                await self._replace(stale, sums)
        await self.store.clear(marks)

    async def _sums(self, stale: Stale) -> Mapping[datetime, Mapping[Cell, Rollup]] | None:
        if stale.grain == "hour":
            return await self.store.sums_of_raw(stale)
        (day,) = stale.ats
        return {day: await self.store.sums_of_hours(stale, day)}

    async def _replace(self, stale: Stale, sums: Mapping[datetime, Mapping[Cell, Rollup]]) -> None:
        """Stores new sums and marks those that are made of them."""
        await self.store.replace(stale, sums)
        await self.store.mark_stale(replace(stale, aa_id=ALL_AAS))
        day = day_start(stale.ats[0])
        if stale.grain == "hour":
            await self.store.mark_stale(replace(stale, grain="day", ats=(day,)))
        else:
            await self.store.replace_received(stale, day)

    async def recount(self, now: datetime, days_ago: int) -> tuple[datetime, Sequence[Recount]]:
        """Compares the sums of a day with its raw rows; marks them stale when they differ.

        Without raw rows that are kept there is nothing to compare.
        """
        day = day_start(now) - days_ago * DAY
        found = await self.store.recount(day)
        if any(one.different for one in found):
            await self.store.mark_day_stale(day)
        return day, found
