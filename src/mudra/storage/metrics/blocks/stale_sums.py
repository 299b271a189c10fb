"""Reads which sums are older than what they are made of, and when their marks are handled."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.metrics.payload.catalogue import day_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.stale import ALL_AAS, QUIET
from mudra.metrics.sums.selection import SeriesKey, StaleSums
from mudra.storage.database.among import is_among_given
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import NOT, REQ, Grain
from mudra.storage.tables.metrics import metrics_receipt, metrics_stale
from mudra.storage.tables.metrics_blocks import metrics_block

_S: Final = metrics_stale.c
_R: Final = metrics_receipt.c
_C: Final = metrics_block.c
_STALE: Final = (
    sa.select(_S.grain, _S.aa_id, _S.tag, _S.at)
    .distinct()
    .where(
        *(_S.at >= sa.bindparam("start"), _S.at < sa.bindparam("end")),
        # Those of windows of one AA are what detection has to judge.
        sa.or_(_S.grain != Grain.WINDOW.value, _S.aa_id == ALL_AAS),
    )
)
_WITHOUT_SUMS: Final = (
    sa.select(_R.window_at)
    .distinct()
    .where(
        *(is_among_given(_R.window_at, "ats"), is_among_given(_R.tag, "tags")),
        ~sa.exists().where(
            *(_C.aa_id == ALL_AAS, _C.grain == Grain.WINDOW.value),
            *(_C.at == _R.window_at, _C.tag == _R.tag),
        ),
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


async def without_sums(
    tx: Transaction, windows: Collection[datetime], tags: Collection[str]
) -> frozenset[datetime]:
    """Returns the windows among these that were reported and have no sums over all AAs."""
    if not windows:
        return frozenset()
    found = await tx.connection.scalars(_WITHOUT_SUMS, {"ats": sorted(windows), "tags": [*tags]})
    return frozenset(found)


def is_due(marks: sa.Subquery) -> sa.ColumnElement[bool]:
    """Returns whether grouped marks are handled now (metrics/rollup/stale.py).

    Needs the columns `live` and `max_delay` next to `noted_at`.
    """
    c, now = marks.c, sa.func.now()
    return sa.or_(
        sa.func.bool_or(c.live),
        sa.func.max(c.noted_at) <= now - sa.literal(QUIET),
        sa.func.min(c.noted_at) <= now - sa.func.min(c.max_delay),
    )
