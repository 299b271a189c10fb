"""Raw blocks for the AA x FIP matrix: the database adds up those in which all calls ended soon.

They are most, and their sums need no percentiles: `pair_sums_of` returns the same for them. A
window of a nation has 90,000 blocks of requests, which a process would read for seconds.
"""

from typing import Final

import sqlalchemy as sa

from mudra.metrics.payload.catalogue import COUNTS, FIRST_4XX, FIRST_5XX, Position
from mudra.metrics.rollup.pair import PARTS, SOON_BEFORE_MS
from mudra.storage.metrics.tables import metrics_raw

_C: Final = metrics_raw.c
_LONGEST: Final = 4
"""The position of the longest response time in `pxx`, from 1 as PostgreSQL counts."""


def soon_pairs_query(
    wanted: sa.ColumnElement[bool], *, by_type: bool = False
) -> sa.Select[tuple[object, ...]]:
    """Returns the query for the sums of pairs over blocks in which all calls ended soon.

    Of each type apart, or of all that are wanted together.
    """
    key = [_C.aa_id, _C.fip_id, *([_C.type] if by_type else [])]
    answered = _counts(Position.OK_200, COUNTS)
    longest = sa.func.max(_longest()).filter(answered > 0)
    return (
        sa.select(
            *key,
            _sum(_counts(Position.TOTAL, Position.OK_200)).label("total"),
            _sum(_counts(Position.OK_200, FIRST_4XX)).label("succeeded"),
            _sum(_counts(FIRST_4XX, FIRST_5XX)).label("client_errors"),
            _sum(answered).label("answered"),
            _sum(answered).label("soon_lower"),
            _sum(answered).label("soon_upper"),
            (_sum(answered) * PARTS).label("soon_estimate"),
            sa.func.coalesce(longest, 0).label("longest"),
        )
        .where(wanted, _longest() < SOON_BEFORE_MS)
        .group_by(*key)
    )


def late_blocks_query(wanted: sa.ColumnElement[bool]) -> sa.Select[tuple[object, ...]]:
    """Returns the query for the other blocks, whose percentiles say how many ended soon."""
    return sa.select(metrics_raw).where(wanted, _longest() >= SOON_BEFORE_MS)


def _longest() -> sa.ColumnElement[int]:
    return _C.pxx[_LONGEST]


def _counts(first: int, end: int) -> sa.ColumnElement[int]:
    """Returns the sum of the counts of a block at these positions, which begin at 0."""
    total: sa.ColumnElement[int] = _C.counts[first + 1]
    for position in range(first + 1, end):
        total = total + _C.counts[position + 1]
    return total


def _sum(of: sa.ColumnElement[int]) -> sa.ColumnElement[int]:
    return sa.func.sum(of)
