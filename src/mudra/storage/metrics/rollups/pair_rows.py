"""Writes the sums of the AA x FIP matrix of an AA: by hour, by day, and by window of late."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Final

import sqlalchemy as sa
from msgspec.structs import astuple, fields

from mudra.metrics.payload.catalogue import TIMINGS, Tag
from mudra.metrics.rollup.pair import ALL_CALLS, PairSums, add_pairs, pair_sums
from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.stale import Stale
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.rollups.sums import bounded, copy_in

_PAIR: Final = ("at", "type", "aa_id", "fip_id", *(field.name for field in fields(PairSums)))
_TIMING_CODES: Final = frozenset(str(code) for code in TIMINGS)


async def put_pairs(
    tx: Transaction,
    table: sa.Table,
    stale: Stale,
    sums: Mapping[datetime, Mapping[Cell, Rollup]],
) -> None:
    """Replaces the rows of an AA at the times of `stale`; notifications have none."""
    if stale.tag is not Tag.REQUESTS:
        return
    rows = await asyncio.to_thread(_rows_of, stale.aa_id, sums)
    await tx.connection.execute(
        sa.delete(table).where(table.c.at.in_(stale.ats), table.c.aa_id == stale.aa_id)
    )
    await copy_in(tx, table, _PAIR, rows)


def _rows_of(
    aa_id: str, sums: Mapping[datetime, Mapping[Cell, Rollup]]
) -> Sequence[tuple[object, ...]]:
    pairs: dict[tuple[str, str, datetime], PairSums] = {}
    for at, cells in sums.items():
        for cell, summed in cells.items():
            if cell.type in _TIMING_CODES:
                continue
            one = pairs[(cell.type, cell.fip_id, at)] = pair_sums(summed)
            key = (ALL_CALLS, cell.fip_id, at)
            pairs[key] = add_pairs(pairs[key], one) if key in pairs else one
    return [
        (at, code, aa_id, fip_id, *bounded(astuple(summed)))
        for (code, fip_id, at), summed in sorted(pairs.items(), key=itemgetter(0))
    ]
