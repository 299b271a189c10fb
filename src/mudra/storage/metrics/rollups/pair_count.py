"""Finds out whether very many pairs reported, without counting them all."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.metrics.payload.catalogue import day_start, hour_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.pair import ALL_CALLS
from mudra.metrics.rollup.stale import DAY, HOUR
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.rollups.packed_rows import PAIRS
from mudra.storage.metrics.rollups.sums import within_times
from mudra.storage.metrics.tables import metrics_packed

_HOURS: Final = DAY
"""Of a longer time the hours of its last day are looked at, and all its days."""
_TOGETHER: Final = 40
"""AAs whose pairs are counted at a time."""
_P: Final = metrics_packed.c


async def has_more_pairs(tx: Transaction, within: TimeRange, limit: int) -> bool:
    """Returns whether an hour or day that a range touches has sums of more pairs than this.

    The hour before is looked at too: that of a window of now may have no sums yet.
    """
    first = hour_start(max(within.start, within.end - _HOURS)) - HOUR
    hours = [first + place * HOUR for place in range(-((first - within.end) // HOUR))]
    day = day_start(within.start)
    days = [day + place * DAY for place in range(-((day - within.end) // DAY))]
    return await _has_more(tx, "hour", hours, limit) or await _has_more(tx, "day", days, limit)


async def _has_more(tx: Transaction, grain: str, times: Sequence[datetime], limit: int) -> bool:
    """Reads the latest first, up to the first that has more."""
    # numpy: a worker loads it with the first sums of pairs that it reads.
    from mudra.storage.metrics.rollups.pair_arrays import number_of_pairs  # noqa: PLC0415

    query: sa.Select[tuple[datetime, bytes]] = (
        sa.select(_P.at, _P.sums)
        .where(
            *(_P.kind == PAIRS, _P.grain == grain, _P.type == ALL_CALLS),
            within_times(_P.at, times),
        )
        .order_by(_P.at.desc())
    )
    counted: Counter[datetime] = Counter()
    async for rows in tx.in_parts(query, _TOGETHER):
        for row in rows:
            counted[row.at] += number_of_pairs(row.sums)
        if max(counted.values()) > limit:
            return True
    return False
