"""Writes the sums of the AA x FIP matrix of an AA: by hour, by day, and by window of late.

The empty type of packed ones, which says that all are there, is that of all calls of a pair.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from msgspec.structs import astuple, fields

from mudra.metrics.payload.catalogue import TIMING_CODES, Tag
from mudra.metrics.rollup.pair import ALL_CALLS, PairSums, add_pairs, pair_sums
from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.stale import Stale
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.rollups.packed_rows import PAIRS, Packed, put_packed
from mudra.storage.metrics.rollups.sums import bounded, copy_in

_PAIR: Final = ("at", "type", "aa_id", "fip_id", *(field.name for field in fields(PairSums)))


async def put_pairs(
    tx: Transaction,
    table: sa.Table,
    stale: Stale,
    sums: Mapping[datetime, Mapping[Cell, Rollup]],
) -> None:
    """Replaces the rows of an AA at the hours or days of `stale`; notifications have none.

    The packed ones are read. A node of the release before reads a row for each pair.
    """
    if stale.tag is not Tag.REQUESTS:
        return
    rows, packed = await asyncio.to_thread(_both_of, stale.aa_id, sums)
    await tx.connection.execute(
        sa.delete(table).where(table.c.at.in_(stale.ats), table.c.aa_id == stale.aa_id)
    )
    await copy_in(tx, table, _PAIR, rows)
    await put_packed(tx, PAIRS, stale, packed)


async def put_packed_pairs(
    tx: Transaction, stale: Stale, sums: Mapping[datetime, Mapping[Cell, Rollup]]
) -> None:
    """Replaces the packed pairs of an AA at the times of `stale`; notifications have none."""
    if stale.tag is Tag.REQUESTS:
        await put_packed(tx, PAIRS, stale, await asyncio.to_thread(_packed_of, sums))


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


def _both_of(
    aa_id: str, sums: Mapping[datetime, Mapping[Cell, Rollup]]
) -> tuple[Sequence[tuple[object, ...]], Sequence[Packed]]:
    """Returns the rows and the packed ones, each of the same pairs: these take most of the time."""
    rows, packed = list[tuple[object, ...]](), list[Packed]()
    for at, cells in sums.items():
        by_type = _pairs_of(cells)
        rows += [
            (at, code, aa_id, fip_id, *bounded(astuple(summed)))
            for code, pairs in sorted(by_type.items())
            for fip_id, summed in sorted(pairs.items())
        ]
        packed.append(_packed(at, by_type))
    return rows, packed


def _packed_of(sums: Mapping[datetime, Mapping[Cell, Rollup]]) -> Sequence[Packed]:
    return [_packed(at, _pairs_of(cells)) for at, cells in sums.items()]


def _packed(at: datetime, by_type: Mapping[str, Mapping[str, PairSums]]) -> Packed:
    from mudra.storage.metrics.rollups.pair_arrays import pack_pairs  # noqa: PLC0415  # numpy

    return Packed(at, {type_: pack_pairs(pairs) for type_, pairs in by_type.items()})
