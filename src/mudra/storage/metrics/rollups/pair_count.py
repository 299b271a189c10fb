"""Finds out whether very many pairs reported, without counting them all."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.metrics.payload.catalogue import day_start, hour_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.pair import ALL_CALLS
from mudra.metrics.rollup.stale import DAY, HOUR
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.tables import metrics_pair_day, metrics_pair_hour

_HOURS: Final = DAY
"""Of a longer time the hours of its last day are looked at, and all its days."""


async def has_more_pairs(tx: Transaction, within: TimeRange, limit: int) -> bool:
    """Returns whether an hour or day that a range touches has sums of more pairs than this.

    The hour before is looked at too: that of a window of now may have no sums yet.
    """
    first = hour_start(max(within.start, within.end - _HOURS)) - HOUR
    hours = [first + place * HOUR for place in range(-((first - within.end) // HOUR))]
    day = day_start(within.start)
    days = [day + place * DAY for place in range(-((day - within.end) // DAY))]
    found = await tx.connection.scalar(
        sa.select(
            sa.or_(
                _has_more(metrics_pair_hour, hours, limit), _has_more(metrics_pair_day, days, limit)
            )
        )
    )
    return bool(found)


def _has_more(table: sa.Table, times: Sequence[datetime], limit: int) -> sa.Exists:
    """Reads so many entries of an index for each of these times, up to the first that has more."""
    c = table.c
    asked = (
        sa.func.unnest(sa.literal(times, sa.ARRAY(c.at.type))).table_valued("at").render_derived()
    )
    one_more = (
        sa.select(sa.literal(1).label("one"))
        .where(c.at == asked.c.at, c.type == ALL_CALLS)
        .offset(limit)
        .limit(1)
        .lateral()
    )
    return sa.exists(sa.select(one_more.c.one).select_from(asked.join(one_more, sa.true())))
