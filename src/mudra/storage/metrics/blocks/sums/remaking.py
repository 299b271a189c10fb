"""Makes sums again whatever is in their place: a damaged block cannot be read, nor laid out again.

All that a settled block has is made again with it. What is there goes only once what is to come is
made: blocks that are finer may be damaged as well.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.metrics.rollup.damage import BlockDamaged, NothingFiner
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import Grain, source_tag
from mudra.storage.metrics.blocks.sums.derived import derived_tags
from mudra.storage.metrics.blocks.sums.longer import make_longer
from mudra.storage.metrics.blocks.sums.making import derived_at, replace_sums, source_of, sums_of
from mudra.storage.metrics.blocks.sums.settling import is_settled, lock_layout, times_of_layout
from mudra.storage.metrics.blocks.writing import Series, delete, put
from mudra.storage.metrics.partitions import BLOCK_OF, has_partition
from mudra.storage.tables.metrics_blocks import metrics_block

_C: Final = metrics_block.c


async def remake_sums(tx: Transaction, series: Series, at: datetime) -> None:
    """Makes the sums of a time again, with all that its settled block has.

    Raises NothingFiner and BlockDamaged; nothing is changed then.
    """
    await lock_layout(tx, series, at)
    settled = await is_settled(tx, series, at)
    times = times_of_layout(series.grain, at) if settled else [at]
    if not await _has_finer(tx, series, times):
        await _remake_derived(tx, series, times)
        return
    made = {one: await sums_of(tx, series, one) for one in times}
    await replace_sums(tx, series, made)
    await make_longer(tx, series, times)


async def _remake_derived(tx: Transaction, series: Series, times: Sequence[datetime]) -> None:
    """Makes what is stored besides the sums of an AA again from them: they have it as well."""
    if series.aa_id == ALL_AAS:
        raise NothingFiner
    try:
        made = [row for one in times for row in await derived_at(tx, series, one)]
    except BlockDamaged as error:
        raise NothingFiner from error
    await delete(tx, series, times, derived_tags(series))
    await put(tx, made)
    await make_longer(tx, series, times)


async def _has_finer(tx: Transaction, series: Series, times: Collection[datetime]) -> bool:
    source = source_of(series)
    first, end = min(times), max(times) + series.grain.length
    if source is not Grain.DAY and not await has_partition(tx, BLOCK_OF[source], first):
        return False
    of_aa = _C.aa_id != ALL_AAS if series.aa_id == ALL_AAS else _C.aa_id == series.aa_id
    found = await tx.connection.scalar(
        sa.select(sa.literal(1))
        .where(
            *(_C.grain == source.value, of_aa, _C.tag == series.tag),
            *(_C.at >= source.settled_start(first), _C.at < end, _C.until > first),
        )
        .limit(1)
    )
    return found is not None


async def blocks_at(tx: Transaction, aa_id: str, grain: Grain, at: datetime) -> frozenset[str]:
    """Returns the tags of reports with sums at a time, or in settled blocks that contain it."""
    found = await tx.connection.scalars(
        sa.select(_C.tag)
        .where(
            *(_C.aa_id == aa_id, _C.grain == grain.value),
            *(_C.at >= grain.settled_start(at), _C.at <= at, _C.until > at),
        )
        .distinct()
    )
    return frozenset(source_tag(tag) for tag in found)
