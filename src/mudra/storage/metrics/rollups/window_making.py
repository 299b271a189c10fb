"""Makes the sums of the windows of the last hours: of an AA from its raw rows, of all from theirs.

An AA that was not yet in the sums over all is added to them; where one has reported a window again
they are made again, since a maximum cannot be taken back. `window_sums.py` says which sums hold.
"""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.grain_selection import Rows, SeriesKey, hour_of
from mudra.metrics.rollup.rollup import Cell, Rollup, coarse, rollup
from mudra.metrics.rollup.stale import ALL_AAS, HOUR, Stale
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import short_tag
from mudra.storage.metrics.rollups.packed_sums import add, pack
from mudra.storage.metrics.rollups.pair_rows import put_pairs
from mudra.storage.metrics.rollups.rollup_queries import Gathered
from mudra.storage.metrics.rollups.sums import Part, blocks_by_cell, raw_query
from mudra.storage.metrics.rollups.window_sums import HEADER, WindowRow, WindowSums
from mudra.storage.metrics.tables import metrics_pair_window, metrics_window

KEPT: Final = timedelta(hours=3)
"""Pages read windows of the last hour; late reports and a slow clock have time beyond it."""
_C: Final = metrics_window.c
_PAIR_AT: Final = metrics_pair_window.c.at
_Types = Mapping[str, bytes]


class WindowMaking:
    """Makes sums in a transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._windows = WindowSums(transaction)

    async def drop_old(self) -> datetime:
        """Deletes the sums of windows that no page asks for; returns the first hour that stays."""
        oldest = hour_of(await self._tx.now() - KEPT)
        for table, at in ((metrics_window, _C.window_at), (metrics_pair_window, _PAIR_AT)):
            await self._tx.connection.execute(sa.delete(table).where(at < oldest))
        return oldest

    async def hour(self, aa_id: str, tag: Tag, hour: datetime) -> Mapping[Cell, Rollup]:
        """Makes what is missing of an hour of one AA; returns the sums of the whole hour."""
        windows = TimeRange(hour, hour + HOUR).windows
        part = Part(aa_id, tag=tag)
        versions = await self._windows.versions(windows, part)
        kept = {
            key.at: row.types
            for key, row in (await self._windows.rows(windows, part)).items()
            if key in versions and row.made_of == {aa_id: versions[key]}
        }
        new = {key: version for key, version in versions.items() if key.at not in kept}
        for key, version in sorted(new.items(), key=lambda one: one[0].at):
            kept[key.at] = await self._make(key, tag, version)
        gathered = Gathered()
        for types in kept.values():
            for type_, sums in types.items():
                gathered.packed(aa_id, short_tag(tag), type_, sums)
        return await gathered.summed()

    async def _make(self, key: SeriesKey, tag: Tag, version: int) -> _Types:
        raw = await self._tx.connection.execute(
            raw_query(Rows((key.at,)), Part(key.aa_id, tag=tag))
        )
        cells = {
            cell: coarse(rollup(blocks)) for cell, blocks in blocks_by_cell(raw.mappings()).items()
        }
        types: dict[str, dict[str, Rollup]] = defaultdict(dict)
        for cell, sums in cells.items():
            types[cell.type][cell.fip_id] = sums
        stale = Stale("window", key.aa_id, tag, (key.at,))
        await put_pairs(self._tx, metrics_pair_window, stale, {key.at: cells})
        row = WindowRow(
            key, {key.aa_id: version}, {type_: pack(sums) for type_, sums in types.items()}
        )
        await self._put(row)
        await self._add_to_all(key, tag, row)
        return row.types

    async def _add_to_all(self, key: SeriesKey, tag: Tag, row: WindowRow) -> None:
        of_all = SeriesKey(ALL_AAS, key.tag, key.at)
        name = f"window:{key.tag}:{key.at.isoformat()}"
        await self._tx.connection.execute(
            sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(name, 0)))
        )
        found = await self._windows.rows([key.at], Part(ALL_AAS, tag=tag))
        before = found.get(of_all, WindowRow(of_all, {}, {}))
        if key.aa_id in before.made_of:
            rows = [*(await self._windows.rows([key.at], Part(tag=tag))).values()]
        else:
            rows = [before, row]
        types: dict[str, list[bytes]] = defaultdict(list)
        for one in rows:
            for type_, sums in one.types.items():
                types[type_].append(sums)
        made_of = {aa_id: version for one in rows for aa_id, version in one.made_of.items()}
        summed = {type_: add(many) for type_, many in types.items()}
        await self._put(WindowRow(of_all, made_of, summed))

    async def _put(self, row: WindowRow) -> None:
        own = {"aa_id": row.key.aa_id, "window_at": row.key.at, "tag": row.key.tag}
        await self._tx.connection.execute(
            sa.delete(metrics_window).where(*(_C[name] == value for name, value in own.items()))
        )
        rows = [{**own, "type": HEADER, "made_of": row.made_of, "sums": b""}]
        rows += [
            {**own, "type": type_, "made_of": {}, "sums": sums} for type_, sums in row.types.items()
        ]
        await self._tx.connection.execute(insert(metrics_window), rows)
