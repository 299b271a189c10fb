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
from mudra.metrics.rollup.recount import Recount, RecountPart, parts_of
from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.rollup_store import RollupStore
from mudra.metrics.rollup.stale import ALL_AAS, DAY, Stale

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

    async def recount_parts(self, now: datetime, days: int) -> Sequence[RecountPart]:
        """Returns the parts in which the sums of the last days are counted again, the last first.

        Without raw rows that are kept there is nothing to compare.
        """
        parts: list[RecountPart] = []
        for days_ago in range(1, days + 1):
            day = day_start(now) - days_ago * DAY
            aa_ids = await self.store.aas_of(day)
            if aa_ids is not None:
                parts += parts_of(day, aa_ids)
        return parts

    async def recount(self, part: RecountPart) -> Recount:
        """Compares sums with what they are made of; marks those of an AA and tag that differ."""
        found = await self.store.recount(part)
        for one in found:
            if one.different:
                await self.store.mark_stale(one.sums)
        return Recount(sum(one.rows for one in found), sum(one.different for one in found))
