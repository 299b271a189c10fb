"""Writes rows of packed sums: of all FIPs in a window, an hour or a day, by type.

So half a million rows of a cell each need not be read. A row is written in the transaction that
writes the rows of the same sums.
"""

import asyncio
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from msgspec import Struct

from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.stale import Stale
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import short_tag
from mudra.storage.metrics.rollups.packed_sums import pack_types
from mudra.storage.metrics.rollups.sums import at_times, times_given
from mudra.storage.metrics.tables import metrics_packed

PAIRS: Final = "pairs"
OF_FIPS: Final = "sums"
EVERY: Final = ""
"""The type of the row that is there whenever the others are, if any."""
_C: Final = metrics_packed.c
_DELETE: Final = sa.delete(metrics_packed).where(
    *(_C.aa_id == sa.bindparam("aa_id"), _C.kind == sa.bindparam("kind")),
    *(_C.grain == sa.bindparam("grain"), _C.tag == sa.bindparam("tag"), at_times(_C.at)),
)
_ADD: Final = sa.insert(metrics_packed)
_DROP: Final = sa.delete(metrics_packed).where(
    _C.grain == sa.bindparam("grain"), _C.at < sa.bindparam("before")
)


class Packed(Struct, frozen=True):
    """The packed sums of one series at one time, by type."""

    at: datetime
    types: Mapping[str, bytes]


async def put_packed(tx: Transaction, kind: str, stale: Stale, packed: Iterable[Packed]) -> None:
    """Replaces the rows of an AA, or of all, and tag at the times of `stale`."""
    tag = short_tag(stale.tag)
    own: dict[str, object] = {"aa_id": stale.aa_id, "kind": kind, "grain": stale.grain, "tag": tag}
    await tx.connection.execute(_DELETE, own | times_given(stale.ats))
    rows = [
        {**own, "at": one.at, "type": type_, "version": str(uuid.uuid4()), "sums": sums}
        for one in packed
        for type_, sums in ({EVERY: b""} | dict(one.types)).items()
    ]
    if rows:
        await tx.connection.execute(_ADD, rows)


async def drop_packed(tx: Transaction, grain: str, before: datetime) -> None:
    """Deletes the rows of windows or hours before a time."""
    await tx.connection.execute(_DROP, {"grain": grain, "before": before})


async def put_sums(
    tx: Transaction, stale: Stale, sums: Mapping[datetime, Mapping[Cell, Rollup]]
) -> None:
    """Replaces the sums of all FIPs of one AA at the times of `stale`."""
    packed = await asyncio.to_thread(
        lambda: [Packed(at, pack_types(cells)) for at, cells in sums.items()]
    )
    await put_packed(tx, OF_FIPS, stale, packed)
