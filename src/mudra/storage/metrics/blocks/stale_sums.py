"""Reads which sums are older than what they are made of."""

from collections.abc import Collection
from typing import Final

import sqlalchemy as sa

from mudra.metrics.payload.catalogue import day_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.metrics.sums.selection import SeriesKey, StaleSums
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.blocks.grain import NOT, REQ, Grain
from mudra.storage.metrics.tables import metrics_stale

_S: Final = metrics_stale.c
_STALE: Final = (
    sa.select(_S.grain, _S.aa_id, _S.tag, _S.at)
    .distinct()
    .where(
        *(_S.at >= sa.bindparam("start"), _S.at < sa.bindparam("end")),
        # Those of windows of one AA are what detection has to judge.
        sa.or_(_S.grain != Grain.WINDOW.value, _S.aa_id == ALL_AAS),
    )
)


async def stale_sums(
    tx: Transaction, within: TimeRange, tags: Collection[str] = (REQ, NOT)
) -> StaleSums:
    """Returns the stale sums of a range from its first day on, of these tags."""
    rows = await tx.connection.execute(
        _STALE, {"start": day_start(within.start), "end": within.end}
    )
    found: dict[str, set[SeriesKey]] = {grain.value: set() for grain in Grain}
    for grain, of_aa, tag, at in rows:
        if tag in tags:
            found[grain].add(SeriesKey(of_aa, tag, at))
    return StaleSums(
        frozenset(found[Grain.DAY]),
        frozenset(found[Grain.HOUR]),
        frozenset(one.at for one in found[Grain.WINDOW]),
    )
