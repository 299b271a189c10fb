"""Roll-ups: blocks added up, as a row of the hourly and daily tables holds them.

There is one row for each AA, FIP, tag, type and hour (or day), computed from the raw
rows of that time. When a window is late or replaced, the row is computed again from
the raw rows, so that their order of arrival does not matter. Rows of different
hours, AAs and FIPs are added by `merge_all`, in any order, with the same result.

Besides its counts a row contains the latency distribution in the fixed cells of
`latency_distribution.py`. Receipts record whether an AA reported at all, not these
rows: there is no row without traffic.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import UNSET, Struct

from mudra.metrics.payload.catalogue import COUNTS, STATUSES, Tag
from mudra.metrics.payload.report import NotificationBlock, RequestBlock
from mudra.metrics.rollup.latency_distribution import (
    NOTHING,
    LatencyDistribution,
    coarsen,
    distribution_of_blocks,
    merge_distributions,
)

NO_STATUS: Final = (0,) * STATUSES


class Cell(Struct, frozen=True):
    """One AA, one FIP, one tag, one type: the finest unit that is counted."""

    aa_id: str
    fip_id: str
    tag: Tag
    type: str


class Rollup(Struct, frozen=True):
    """Sums over blocks of one type, and the distribution of their response times."""

    blocks: int
    counts: tuple[int, ...]
    statuses: tuple[int, ...]
    data_bytes: int
    times: LatencyDistribution


EMPTY: Final = Rollup(0, (0,) * COUNTS, NO_STATUS, 0, NOTHING)


def rollup(blocks: Iterable[RequestBlock | NotificationBlock]) -> Rollup:
    """Adds up raw blocks of one type; times stay exact. `coarse` turns it into a stored row."""
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
        sum(int(block.counted_size) for block in requests if block.counted_size),
        distribution_of_blocks([(answered(block.counts), block.pxx) for block in requests]),
    )


def answered(counts: tuple[int, ...]) -> int:
    """Returns the number of calls with a response of any status; each has a response time."""
    return sum(counts[1:])


def coarse(row: Rollup) -> Rollup:
    """Returns the row as it is stored, its times in the fixed cells."""
    return Rollup(row.blocks, row.counts, row.statuses, row.data_bytes, coarsen(row.times))


def merge_all(rows: Iterable[Rollup]) -> Rollup:
    """Returns the sum of all rows; its times are coarse when those of one row are."""
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
