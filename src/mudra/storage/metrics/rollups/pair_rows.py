"""Writes the sums of the AA x FIP matrix of an AA: by hour, by day, and by window of late.

The empty type, which says that all are there, is that of all calls of a pair.
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime

from mudra.metrics.payload.catalogue import TIMING_CODES, Tag
from mudra.metrics.rollup.pair import ALL_CALLS, PairSums, add_pairs, pair_sums
from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.stale import Stale
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.rollups.packed_rows import PAIRS, Packed, put_packed


async def put_pairs(
    tx: Transaction, stale: Stale, sums: Mapping[datetime, Mapping[Cell, Rollup]]
) -> None:
    """Replaces the pairs of an AA at the times of `stale`; notifications have none."""
    if stale.tag is Tag.REQUESTS:
        packed = await asyncio.to_thread(
            lambda: [Packed(at, pack_types_of_pairs(cells)) for at, cells in sums.items()]
        )
        await put_packed(tx, PAIRS, stale, packed)


def pack_types_of_pairs(cells: Mapping[Cell, Rollup]) -> Mapping[str, bytes]:
    """Returns the sums of an AA's pairs: those of each type as one value."""
    from mudra.storage.metrics.rollups.pair_arrays import pack_pairs  # noqa: PLC0415  # numpy

    return {type_: pack_pairs(pairs) for type_, pairs in _pairs_of(cells).items()}


def _pairs_of(cells: Mapping[Cell, Rollup]) -> Mapping[str, Mapping[str, PairSums]]:
    """Returns the sums of each FIP by type, those of all calls under an empty one."""
    found: dict[str, dict[str, PairSums]] = {ALL_CALLS: {}}
    of_all = found[ALL_CALLS]
    for cell, summed in cells.items():
        if cell.type not in TIMING_CODES:
            one = pair_sums(summed)
            found.setdefault(cell.type, {})[cell.fip_id] = one
            before = of_all.get(cell.fip_id)
            of_all[cell.fip_id] = add_pairs(before, one) if before else one
    return found
