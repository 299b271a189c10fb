"""Buckets: the cells of one time are stored in parts by FIP, so that one FIP is read alone.

The fan is the number of buckets: 1 in a small network, 8 for a nation's reports. It may differ
from one block to the next, so a question about one FIP asks for its bucket of each fan.
"""

import zlib
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from mudra.metrics.sums.cells import Cells

FANS: Final = tuple(1 << power for power in range(10))
CELLS_A_BUCKET: Final = 4096
"""A block of some takes a tenth of a millisecond more than one of none: a type of all FIPs is read
from many. One FIP is read from few, which have four times what it needs."""


def fan_of(cells: int) -> int:
    """Returns the smallest fan with at most about `CELLS_A_BUCKET` cells in a bucket; 512 at most.

    Takes the number of cells of one time: of settled blocks those of a bucket, not of all times.
    """
    return next((fan for fan in FANS if cells <= fan * CELLS_A_BUCKET), FANS[-1])


def bucket_of(fip_id: str, fan: int) -> int:
    """Returns the bucket of a FIP: the fan plus its place within, so that no two fans share one."""
    return fan + zlib.crc32(fip_id.encode()) % fan


def fan_with(bucket: int) -> int:
    """Returns the fan that has a bucket."""
    return 1 << (bucket.bit_length() - 1)


def buckets_of(fip_id: str) -> tuple[int, ...]:
    """Returns the buckets in which a FIP may be, of each fan."""
    return tuple(bucket_of(fip_id, fan) for fan in FANS)


def split(cells: Cells, ids: Sequence[str], fan: int) -> Iterator[tuple[int, Cells]]:
    """Yields the cells of each bucket that has any; rows keep their order within it.

    One after the other: together they are as large as all cells.
    """
    if fan == 1 or not len(cells):
        yield from [(fan, cells)] if len(cells) else []
        return
    fips, fip = np.unique(cells.keys["fip"], return_inverse=True)
    bucket = np.array([bucket_of(ids[place], fan) for place in fips.tolist()])[fip]
    for one in np.unique(bucket).tolist():
        yield one, cells.chosen(bucket == one)
