"""Writes and finds rows of packed sums: of all FIPs in a window, an hour or a day, by type.

Those over all AAs are some hundred rows a day, and so half a million rows of a cell each need
not be read. A row is written in the transaction that writes the rows of the same sums.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.dialects.postgresql import insert

from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.grain_selection import Rows, SeriesKey
from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.stale import ALL_AAS, DAY, HOUR, Stale
from mudra.shared.recent_values import RecentValues
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import short_tag
from mudra.storage.metrics.rollups.packed_sums import add, pack_types
from mudra.storage.metrics.rollups.sums import Part, within_times
from mudra.storage.metrics.rollups.window_sums import WindowRow
from mudra.storage.metrics.tables import metrics_packed

PAIRS: Final = "pairs"
OF_FIPS: Final = "sums"
EVERY: Final = ""
"""The type of the row that is there whenever the others are, if any."""
KEPT: Final = {
    "hour": (HOUR, timedelta(hours=50)),
    "day": (DAY, timedelta(days=35)),
}
"""How long an hour or a day of an AA takes, and how long its packed sums are kept after it began.

Pages over a day begin at a full hour, longer ones at a full day. For a nation these are 20 GB.
"""
_Versions = Mapping[tuple[str, str], Mapping[datetime, str]]
"""By short tag and type."""
_C: Final = metrics_packed.c
_TOGETHER: Final = 6
"""Rows that are unpacked at a time: 2,000 FIPs are some megabytes each as arrays."""
_added: Final = RecentValues[tuple[str, ...], bytes](64)
"""Sums of the rows with these versions, of which there are as many a day as APIs."""


class Packed(Struct, frozen=True):
    """The packed sums of one series at one time, by type."""

    at: datetime
    types: Mapping[str, bytes]


async def put_packed(tx: Transaction, kind: str, stale: Stale, packed: Iterable[Packed]) -> None:
    """Replaces the rows of an AA, or of all, and tag at the times of `stale`."""
    tag = short_tag(stale.tag)
    await tx.connection.execute(
        sa.delete(metrics_packed).where(
            *(_C.aa_id == stale.aa_id, _C.kind == kind, _C.grain == stale.grain),
            *(_C.tag == tag, within_times(_C.at, stale.ats)),
        )
    )
    own = {"aa_id": stale.aa_id, "kind": kind, "grain": stale.grain, "tag": tag}
    rows = [
        {**own, "at": one.at, "type": type_, "version": str(uuid.uuid4()), "sums": sums}
        for one in packed
        for type_, sums in ({EVERY: b""} | dict(one.types)).items()
    ]
    if rows:
        await tx.connection.execute(insert(metrics_packed), rows)


async def drop_packed(tx: Transaction, grain: str, before: datetime) -> None:
    """Deletes the rows of windows or hours before a time."""
    await tx.connection.execute(sa.delete(metrics_packed).where(_C.grain == grain, _C.at < before))


async def put_sums_of_aa(
    tx: Transaction, stale: Stale, sums: Mapping[datetime, Mapping[Cell, Rollup]]
) -> None:
    """Replaces the sums of all FIPs of one AA, while a page may ask for them.

    An hour is packed once it is over: until then pages read its windows.
    """
    now, (length, kept) = await tx.now(), KEPT[stale.grain]
    wanted = [at for at in stale.ats if now - kept < at <= now - length]
    packed = await asyncio.to_thread(
        lambda: [Packed(at, pack_types(sums.get(at, {}))) for at in wanted]
    )
    await put_packed(tx, OF_FIPS, stale, packed)


async def drop_old_sums(tx: Transaction) -> None:
    """Deletes the packed sums of AAs that no page reads."""
    now = await tx.now()
    for grain, (_, kept) in KEPT.items():
        await tx.connection.execute(
            sa.delete(metrics_packed).where(
                *(_C.grain == grain, _C.at <= now - kept),
                *(_C.kind == OF_FIPS, _C.aa_id != ALL_AAS),
            )
        )


class PackedSums:
    """The packed sums of one AA, or over all, at some hours or days."""

    def __init__(
        self, tx: Transaction, grain: str, part: Part, versions: _Versions, left: Rows
    ) -> None:
        """`find_packed` makes it."""
        self._tx, self._grain, self._part = tx, grain, part
        self._versions = versions
        self.left = left
        """The rows that the release before made, or that are too old: they have no packed ones."""

    async def together(self) -> Mapping[tuple[str, str], bytes]:
        """Returns the sums of all times by short tag and type.

        They are kept in memory until one of the times has other sums.
        """
        return {(tag, type_): await self._sum_of(tag, type_) for tag, type_ in self._series()}

    async def each(self) -> AsyncIterator[Sequence[WindowRow]]:
        """Returns the sums of each time, some at a time."""
        aa_id = self._part.aa_id or ALL_AAS
        for tag, type_ in self._series():
            async for rows in self._tx.in_parts(self._query(tag, type_), _TOGETHER):
                yield [
                    WindowRow(SeriesKey(aa_id, tag, row.at), {}, {type_: row.sums}) for row in rows
                ]

    def _series(self) -> Sequence[tuple[str, str]]:
        types = self._part.types
        return [
            (tag, type_)
            for tag, type_ in self._versions
            if type_ != EVERY and (types is None or type_ in types)
        ]

    async def _sum_of(self, tag: str, type_: str) -> bytes:
        if (kept := _added.get(tuple(self._versions[tag, type_].values()))) is not None:
            return kept
        made_of, total = list[str](), list[bytes]()
        async for rows in self._tx.in_parts(self._query(tag, type_), _TOGETHER):
            made_of += [row.version for row in rows]
            total = [await asyncio.to_thread(add, [*total, *(row.sums for row in rows)])]
        # Those of a later statement: others may have been written since the versions were read.
        _added.put(tuple(made_of), total[0])
        return total[0]

    def _query(self, tag: str, type_: str) -> sa.Select[tuple[datetime, str, bytes]]:
        aa_id, times = self._part.aa_id or ALL_AAS, sorted(self._versions[tag, type_])
        return (
            sa.select(_C.at, _C.version, _C.sums)
            .where(
                *(_C.aa_id == aa_id, _C.kind == OF_FIPS, _C.grain == self._grain),
                *(_C.tag == tag, _C.type == type_, within_times(_C.at, times)),
            )
            .order_by(_C.at)
        )


async def find_packed(tx: Transaction, grain: str, rows: Rows, part: Part) -> PackedSums:
    """Finds the sums of one AA, or over all, of all FIPs at these hours or days."""
    aa_id = part.aa_id
    assert aa_id is not None, "of one AA, or over all"
    tags = [short_tag(tag) for tag in Tag if part.tag in {None, tag}]
    times = {SeriesKey(aa_id, tag, at) for tag in tags for at in rows.times}
    wanted = (times - rows.without) | {
        one for one in rows.only if one.aa_id == aa_id and one.tag in tags
    }
    if not wanted:
        return PackedSums(tx, grain, part, {}, Rows())
    found = await tx.connection.execute(
        sa.select(_C.tag, _C.type, _C.at, _C.version)
        .where(
            *(_C.aa_id == aa_id, _C.kind == OF_FIPS, _C.grain == grain),
            *(
                within_times(_C.at, sorted({one.at for one in wanted})),
                _C.tag == sa.any_(sa.literal(tags)),
            ),
        )
        .order_by(_C.at)
    )
    versions: dict[tuple[str, str], dict[datetime, str]] = {}
    for tag, type_, at, version in found:
        if SeriesKey(aa_id, tag, at) in wanted:
            versions.setdefault((tag, type_), {})[at] = version
    left = (one for one in wanted if one.at not in versions.get((one.tag, EVERY), {}))
    return PackedSums(tx, grain, part, versions, Rows(only=frozenset(left)))


async def packed_pairs_at(
    tx: Transaction, grain: str, times: Collection[datetime]
) -> frozenset[SeriesKey]:
    """Returns the AAs whose pairs are packed, each with the time."""
    if not times:
        return frozenset()
    rows = await tx.connection.execute(
        sa.select(_C.aa_id, _C.tag, _C.at).where(
            *(_C.kind == PAIRS, _C.grain == grain, _C.type == EVERY),
            within_times(_C.at, sorted(times)),
        )
    )
    return frozenset(SeriesKey(*row) for row in rows)
