"""Reads the packed sums of an hour of each AA, where those over all AAs are not made yet.

A report of hours ago makes the sums over all AAs stale for some minutes. The rows of all AAs in one
hour of a nation are half a million; packed they are a value for each AA and type.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.dialects.postgresql import ARRAY

from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.grain_selection import Rows, SeriesKey
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import short_tag
from mudra.storage.metrics.rollups.aas_with_rows import aas_with_rows
from mudra.storage.metrics.rollups.packed_reads import times_of
from mudra.storage.metrics.rollups.packed_rows import EVERY, OF_FIPS
from mudra.storage.metrics.rollups.packed_sums import add
from mudra.storage.metrics.rollups.sums import Part, within_times
from mudra.storage.metrics.tables import metrics_hour, metrics_packed

_P: Final = metrics_packed.c
_TOGETHER: Final = 40
"""Packed values that are added up at a time: of 2,000 FIPs some 20 KB each."""


class PackedHours(Struct, frozen=True):
    """Which hours of which AAs are packed, and what is left to be read by row."""

    found: frozenset[SeriesKey]
    left: Rows


async def find_packed_hours(tx: Transaction, rows: Rows) -> PackedHours:
    """Finds the hours of AAs that have packed sums among these rows."""
    if not rows.times and not rows.only:
        return PackedHours(frozenset(), rows)
    read = await tx.connection.execute(
        sa.select(_P.aa_id, _P.tag, _P.at).where(
            *(_P.kind == OF_FIPS, _P.grain == "hour", _P.type == EVERY, _P.aa_id != ALL_AAS),
            within_times(_P.at, sorted(times_of(rows))),
        )
    )
    found = frozenset(key for key in (SeriesKey(*row) for row in read) if _is_wanted(key, rows))
    summed = await _with_rows(tx, sorted(times_of(rows)))
    left = (key for key in summed - found if _is_wanted(key, rows))
    return PackedHours(found, Rows(only=frozenset(left)))


async def _with_rows(tx: Transaction, times: Sequence[datetime]) -> frozenset[SeriesKey]:
    """Returns the AAs that may have sums in these hours, found without reading them."""
    c, aas = metrics_hour.c, aas_with_rows(metrics_hour)
    at = sa.func.unnest(sa.literal(times, ARRAY(c.at.type))).table_valued("time").render_derived()
    found = await tx.connection.execute(
        sa.select(aas.c.aa_id, at.c.time)
        .select_from(aas.join(at, sa.true()))
        .where(
            aas.c.aa_id.is_not(None),
            sa.exists().where(c.aa_id == aas.c.aa_id, c.at == at.c.time),
        )
    )
    return frozenset(SeriesKey(aa_id, short_tag(tag), time) for aa_id, time in found for tag in Tag)


def _is_wanted(key: SeriesKey, rows: Rows) -> bool:
    return (key.at in rows.times and key not in rows.without) or key in rows.only


async def packed_by_type(
    tx: Transaction, hours: PackedHours, part: Part
) -> AsyncIterator[tuple[str, str, bytes]]:
    """Gives short tag, type and the sums over all AAs of these hours, some values at a time."""
    if not hours.found:
        return
    conditions = [] if part.tag is None else [_P.tag == short_tag(part.tag)]
    if part.types is not None:
        conditions.append(_P.type == sa.any_(sa.literal(sorted(part.types))))
    query: sa.Select[tuple[str, str, datetime, str, bytes]] = (
        sa.select(_P.aa_id, _P.tag, _P.at, _P.type, _P.sums)
        .where(
            *(_P.kind == OF_FIPS, _P.grain == "hour", _P.type != EVERY, _P.aa_id != ALL_AAS),
            within_times(_P.at, sorted({key.at for key in hours.found})),
            *conditions,
        )
        .order_by(_P.tag, _P.type)
    )
    async for rows in tx.in_parts(query, _TOGETHER):
        of_series: dict[tuple[str, str], list[bytes]] = {}
        for row in rows:
            if SeriesKey(row.aa_id, row.tag, row.at) in hours.found:
                of_series.setdefault((row.tag, row.type), []).append(row.sums)
        for (tag, type_), many in of_series.items():
            yield tag, type_, await asyncio.to_thread(add, many)
