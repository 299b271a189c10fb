"""Sums of two and six hours, of three and nine days, next to the sums of each hour and day.

A question over all FIPs of 24 hours then reads the cells of six times, not of 23. They have tags
of their own in the same grain, and are there or not: where they are not, or one of their times is
stale, the shorter ones are read. They always are the sum of the shorter ones that are stored.
"""

import asyncio
import contextlib
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.rollup.damage import BlockDamaged
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.fewest import summed_from_fewest
from mudra.storage.metrics.blocks.grain import DERIVED, LONGER, Grain, Tier
from mudra.storage.metrics.blocks.reading import Blocks, Form, Share, Wanted
from mudra.storage.metrics.blocks.sums.derived import derived_tags, fan_for, has_times
from mudra.storage.metrics.blocks.sums.settling import UNCHANGING_AFTER, lock_layout
from mudra.storage.metrics.blocks.writing import Row, Series, delete, put, rows_of

_BY: Final = ("aa", "type", "fip")


async def make_longer(tx: Transaction, series: Series, times: Collection[datetime]) -> None:
    """Makes the sums that have these times among theirs, with what is derived of them.

    None of what is not over yet, or has a damaged time: that must not keep the others from being
    made. They are those of the times as these are stored, also of a stale one: a question takes
    none then.
    """
    now = await tx.now()
    for layout in sorted({series.grain.settled_start(at) for at in times}):
        # Others that make one of the times wait for this, and make these again as well.
        await lock_layout(tx, series, layout)
    tags = [tag for tag in (series.tag, *derived_tags(series)) if tag in LONGER[Tier.LONG]]
    for tier in Tier:
        spans = {series.grain.longer(tier, at) for at in times}
        over = [(begin, end) for begin, end in sorted(spans) if end <= now]
        longer = [LONGER[tier][tag] for tag in tags]
        await delete(tx, series, [begin for begin, _ in over], longer)
        made: list[Row] = []
        for begin, end in over:
            kept = [of for tag in tags if _is_kept(of := series._replace(tag=tag), tier, now - end)]
            with contextlib.suppress(BlockDamaged):
                made += [row for of in kept for row in await _made(tx, of, tier, begin, end)]
        await put(tx, made)


def _is_kept(series: Series, tier: Tier, age: timedelta) -> bool:
    """Returns whether sums of a tier are kept at an age: an AA's hours by FIP are half of a disk.

    They go when the hours are settled: few ask for hours that long ago.
    """
    is_small = series.aa_id == ALL_AAS or series.tag not in DERIVED or series.grain is Grain.DAY
    return is_small or tier is Tier.LONGEST or age < UNCHANGING_AFTER


async def _made(
    tx: Transaction, series: Series, tier: Tier, begin: datetime, end: datetime
) -> Sequence[Row]:
    blocks, times = Blocks(tx), frozenset(series.grain.times(begin, end))
    wanted = Wanted(series.grain, (series.tag,), series.aa_id, times)
    # What is derived has one bucket.
    shares = await blocks.shares(wanted) if series.tag in DERIVED else [Share(0, 1)]
    rows: list[Row] = []
    for share in shares:
        form = Form(times=has_times(series.tag), share=share)
        if tier is Tier.LONGEST:  # of those of the other tier, which are made before
            most = series.grain.usual(Tier.LONG)
            sums = await summed_from_fewest(blocks, [wanted], _BY, form, most)
        else:
            sums = await blocks.summed([wanted], _BY, form)
        fan = fan_for(series, sums, len(shares))
        longer, span = series._replace(tag=LONGER[tier][series.tag]), (begin, end)
        cells, ids = sums.at(window_number(begin)), blocks.names.ids
        rows += await asyncio.to_thread(rows_of, longer, span, cells, ids, fan)
        del sums, cells  # or they were kept while the next ones are added up
    return rows
