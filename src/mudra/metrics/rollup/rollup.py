"""Blocks added up: what a row of the hourly and daily roll-ups holds.

One row for each AA, FIP, tag, type and hour (or day), made of the raw rows of
that time. A late or replaced window is answered by making the row anew from
the raw rows, so it is right whatever came when. Rows of different hours, AAs,
FIPs are added by `merge`, in any order and grouping, with the same result.

Beside its counts a row holds the spread of times in the fixed cells of
`spread.py`. Whether an AA reported at all stands in its receipts, not here: a
row without traffic does not exist.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import UNSET, Struct

from mudra.metrics.payload.catalogue import COUNTS, STATUSES, TIMINGS
from mudra.metrics.payload.report import NotificationBlock, RequestBlock
from mudra.metrics.rollup.latency_distribution import (
    NOTHING,
    LatencyDistribution,
    coarsen,
    distribution_of_blocks,
    merge_distributions,
)

NO_STATUS: Final = (0,) * STATUSES
_TIMING_CODES: Final = frozenset(str(code) for code in TIMINGS)


class Rollup(Struct, frozen=True):
    """Sums over blocks of one type, and the spread of their response times."""

    blocks: int
    counts: tuple[int, ...]
    statuses: tuple[int, ...]
    data_bytes: int
    times: LatencyDistribution


EMPTY: Final = Rollup(0, (0,) * COUNTS, NO_STATUS, 0, NOTHING)


def rollup(blocks: Iterable[RequestBlock | NotificationBlock]) -> Rollup:
    """Add up raw blocks of one type; times stay exact. `coarse` makes a stored row of it."""
    parts = list(blocks)
    if not parts:
        return EMPTY
    requests = [block for block in parts if isinstance(block, RequestBlock)]
    statuses = [
        block.status
        for block in parts
        if isinstance(block, NotificationBlock) and block.status is not UNSET
    ]
    return Rollup(
        len(parts),
        tuple(map(sum, zip(*(block.counts for block in parts), strict=True))),
        tuple(map(sum, zip(*statuses, strict=True))) or NO_STATUS,
        sum(
            int(block.sum_of_size_of_data_packets)
            for block in requests
            if block.sum_of_size_of_data_packets is not UNSET
        ),
        distribution_of_blocks([(answered(block.counts), block.pxx) for block in requests]),
    )


def answered(counts: tuple[int, ...]) -> int:
    """Calls that have a response time: all that any answer came to, whatever its status."""
    return sum(counts[1:])


def coarse(row: Rollup) -> Rollup:
    """The row as it is stored, its times in the fixed cells."""
    return Rollup(row.blocks, row.counts, row.statuses, row.data_bytes, coarsen(row.times))


def merge(one: Rollup, other: Rollup) -> Rollup:
    """Both together."""
    return merge_all((one, other))


def merge_all(rows: Iterable[Rollup]) -> Rollup:
    """All together; their times are coarse as soon as those of one row are."""
    parts = list(rows)
    if not parts:
        return EMPTY
    if len(parts) == 1:
        return parts[0]
    return Rollup(
        sum(part.blocks for part in parts),
        tuple(map(sum, zip(*(part.counts for part in parts), strict=True))),
        tuple(map(sum, zip(*(part.statuses for part in parts), strict=True))),
        sum(part.data_bytes for part in parts),
        merge_distributions(part.times for part in parts),
    )
