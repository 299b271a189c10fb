"""Writes rows of packed sums: of all FIPs in a window, an hour or a day, by type.

Those over all AAs are some hundred rows a day, and so half a million rows of a cell each need
not be read. A row is written in the transaction that writes the rows of the same sums.
"""

import asyncio
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from msgspec import Struct

from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.stale import ALL_AAS, DAY, HOUR, Stale
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import short_tag
from mudra.storage.metrics.rollups.packed_sums import pack_types
from mudra.storage.metrics.rollups.sums import aas_with_rows, at_times, times_given
from mudra.storage.metrics.tables import metrics_packed

PAIRS: Final = "pairs"
OF_FIPS: Final = "sums"
EVERY: Final = ""
"""The type of the row that is there whenever the others are, if any."""
_KEPT: Final = {
    "hour": (HOUR, timedelta(hours=50)),
    "day": (DAY, timedelta(days=35)),
}
"""How long an hour or a day of an AA takes, and how long its packed sums are kept after it began.

Pages over a day begin at a full hour, longer ones at a full day. For a nation these are 20 GB.
"""
_C: Final = metrics_packed.c
_DELETE: Final = sa.delete(metrics_packed).where(
    *(_C.aa_id == sa.bindparam("aa_id"), _C.kind == sa.bindparam("kind")),
    *(_C.grain == sa.bindparam("grain"), _C.tag == sa.bindparam("tag"), at_times(_C.at)),
)
_ADD: Final = sa.insert(metrics_packed)
_DROP: Final = sa.delete(metrics_packed).where(
    _C.grain == sa.bindparam("grain"), _C.at < sa.bindparam("before")
)
_AAS: Final = aas_with_rows(metrics_packed)
_ONE_BY_ONE: Final = sa.select(_AAS.c.aa_id).where(_AAS.c.aa_id != ALL_AAS)
_DROP_OF_AA: Final = sa.delete(metrics_packed).where(
    *(_C.aa_id == sa.bindparam("aa_id"), _C.kind == OF_FIPS),
    *(_C.grain == sa.bindparam("grain"), _C.at <= sa.bindparam("before")),
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


async def put_sums_of_aa(
    tx: Transaction, stale: Stale, sums: Mapping[datetime, Mapping[Cell, Rollup]]
) -> None:
    """Replaces the sums of all FIPs of one AA, while a page may ask for them.

    An hour is packed once it is over: until then pages read its windows.
    """
    now, (length, kept) = await tx.now(), _KEPT[stale.grain]
    wanted = [at for at in stale.ats if now - kept < at <= now - length]
    packed = await asyncio.to_thread(
        lambda: [Packed(at, pack_types(sums.get(at, {}))) for at in wanted]
    )
    await put_packed(tx, OF_FIPS, stale, packed)


async def drop_old_sums(tx: Transaction, grain: str) -> None:
    """Deletes the packed sums of hours or days of an AA that no page reads.

    By AA, each found by its key: one statement for all reads those over all AAs too, which are
    kept for more than a year.
    """
    before = await tx.now() - _KEPT[grain][1]
    found = await tx.connection.scalars(_ONE_BY_ONE)
    for aa_id in found.all():
        of_aa = {"aa_id": aa_id, "grain": grain, "before": before}
        await tx.connection.execute(_DROP_OF_AA, of_aa)
