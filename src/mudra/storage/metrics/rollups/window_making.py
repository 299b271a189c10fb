"""Makes the sums of the windows of the last hours: of an AA from its raw rows, of all from theirs.

An AA that was not yet in the sums over all is added to them; where one has reported a window again
they are made again, since a maximum cannot be taken back. `packed_reads.py` says which sums hold.

An older hour with very many rows is summed by its windows too, over several transactions. Pages
read none of them: there are no sums over all AAs. They are deleted once the hour is summed and no
chart asks for them.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.dialects.postgresql import ARRAY

from mudra.metrics.payload.catalogue import WINDOW, Tag, hour_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.grain_selection import SeriesKey
from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.stale import (
    ALL_AAS,
    CHARTS_KEPT,
    HOUR,
    WINDOWS_KEPT,
    Stale,
    few_enough,
)
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import short_tag
from mudra.storage.metrics.rollups.gathered import Gathered
from mudra.storage.metrics.rollups.packed_reads import HEADER, Versions, WindowRow, WindowSums
from mudra.storage.metrics.rollups.packed_rows import drop_packed
from mudra.storage.metrics.rollups.packed_sums import add, pack_types
from mudra.storage.metrics.rollups.pair_rows import put_pairs
from mudra.storage.metrics.rollups.raw_sums import Sums, sums_of_raw_rows
from mudra.storage.metrics.rollups.sums import Part, at_times, times_given
from mudra.storage.metrics.tables import (
    metrics_receipt,
    metrics_stale,
    metrics_window,
)

_C: Final = metrics_window.c
_STALE: Final = metrics_stale.c
_R: Final = metrics_receipt.c
_IN_USE: Final = sa.exists().where(
    _STALE.grain == "hour",
    _STALE.aa_id == _C.aa_id,
    _STALE.tag == _C.tag,
    _STALE.at == sa.func.date_trunc("hour", _C.window_at, "UTC"),
)
_DROP: Final = sa.delete(metrics_window).where(
    _C.window_at < sa.bindparam("before"), sa.or_(_C.aa_id == ALL_AAS, ~_IN_USE)
)
_MOST_ROWS: Final = (
    sa.select(_R.window_at, sa.func.max(_R.blocks).label("rows"))
    .where(
        *(_R.aa_id == sa.bindparam("aa_id"), _R.tag == sa.bindparam("tag")),
        at_times(_R.window_at),
    )
    .group_by(_R.window_at)
)
_NAMES: Final = sa.func.unnest(sa.bindparam("names", type_=ARRAY(sa.Text)))
_OF_WINDOW: Final = sa.select(_NAMES.column_valued("name")).subquery()
_LOCK: Final = sa.select(
    sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(_OF_WINDOW.c.name, 0))
)
_DELETE: Final = sa.delete(metrics_window).where(
    *(_C.aa_id == sa.bindparam("aa_id"), _C.tag == sa.bindparam("tag")),
    at_times(_C.window_at),
)
_ADD: Final = sa.insert(metrics_window)


class WindowMaking:
    """Makes sums in a transaction, of an hour about so many raw rows at most."""

    def __init__(self, transaction: Transaction, rows_together: int) -> None:
        self._tx = transaction
        self._rows_together = rows_together
        self._windows = WindowSums(transaction)

    async def drop_old(self) -> datetime:
        """Deletes the sums of windows that nothing asks for; returns the first hour of pages.

        Charts ask for older ones too. Those of an AA stay while their hour is stale: its sums are
        being made of them.
        """
        now = await self._tx.now()
        oldest, oldest_of_charts = hour_start(now - WINDOWS_KEPT), hour_start(now - CHARTS_KEPT)
        await self._tx.connection.execute(_DROP, {"before": oldest_of_charts})
        await drop_packed(self._tx, "window", oldest)
        return oldest

    async def hour(
        self, aa_id: str, tag: Tag, hour: datetime, *, for_pages: bool
    ) -> Mapping[Cell, Rollup] | None:
        """Makes what is missing of an hour of one AA; returns the sums of the whole hour.

        None where windows are left that another transaction makes. `for_pages` makes the sums over
        all AAs and of pairs besides, which pages read for the last hours.
        """
        windows = TimeRange(hour, hour + HOUR).windows
        part = Part(aa_id, tag=tag)
        versions = await self._windows.versions(windows, part)
        kept = {
            key.at: row.types
            for key, row in (await self._windows.rows(windows, part)).items()
            if key in versions and row.made_of == {aa_id: versions[key]}
        }
        new = {key: version for key, version in versions.items() if key.at not in kept}
        if new:
            few = await self._few(aa_id, tag, new)
            made = await self._make(aa_id, tag, few, for_pages=for_pages)
            kept |= {row.key.at: row.types for row in made}
            if len(few) < len(new):
                return None
        gathered = Gathered()
        for types in kept.values():
            for type_, sums in types.items():
                gathered.packed(aa_id, short_tag(tag), type_, sums)
        return await gathered.summed()

    async def hour_of_all(self, tag: Tag, hour: datetime) -> Mapping[Cell, Rollup] | None:
        """Returns the sums over all AAs of an hour, added up from those of its windows.

        None unless those of every report that is counted are there. The rows of all AAs are up to
        a million, these a few hundred.
        """
        windows = TimeRange(hour, hour + HOUR).windows
        found = await self._windows.rows(windows, Part(ALL_AAS, tag=tag))
        made_of = {
            SeriesKey(aa_id, key.tag, key.at): version
            for key, row in found.items()
            for aa_id, version in row.made_of.items()
        }
        if not made_of or made_of != await self._windows.versions(windows, Part(tag=tag)):
            return None
        gathered = Gathered(over_aas=True)
        for key, row in found.items():
            for type_, sums in row.types.items():
                gathered.packed(ALL_AAS, key.tag, type_, sums)
        return await gathered.summed()

    async def _few(self, aa_id: str, tag: Tag, new: Versions) -> Versions:
        """Returns the first of these windows, as many as have few raw rows; at least one."""
        if len(new) == 1:
            return new
        ats = sorted(key.at for key in new)
        found = await self._tx.connection.execute(
            _MOST_ROWS, {"aa_id": aa_id, "tag": short_tag(tag), **times_given(ats)}
        )
        rows = {one.window_at: one.rows for one in found}
        few = few_enough(ats, rows, self._rows_together)
        return {key: version for key, version in new.items() if key.at in few}

    async def _make(
        self, aa_id: str, tag: Tag, new: Versions, *, for_pages: bool
    ) -> Sequence[WindowRow]:
        """Makes the sums of these windows together."""
        ats = tuple(sorted(key.at for key in new))
        cells = await sums_of_raw_rows(self._tx, Part(aa_id, tag=tag), ats, WINDOW)
        rows = await asyncio.to_thread(_rows_of, aa_id, new, cells)
        await self._put(rows)
        if for_pages:
            await put_pairs(self._tx, Stale("window", aa_id, tag, ats), cells)
            await self._add_to_all(tag, rows)
        return rows

    async def _add_to_all(self, tag: Tag, rows: Sequence[WindowRow]) -> None:
        ats = sorted(row.key.at for row in rows)
        # In one order for all who take several, so that no two wait for each other.
        windows = [f"window:{short_tag(tag)}:{at.isoformat()}" for at in ats]
        await self._tx.connection.execute(_LOCK, {"names": windows})
        found = await self._windows.rows(ats, Part(ALL_AAS, tag=tag))
        parts: dict[datetime, list[WindowRow]] = {}
        for row in rows:
            of_all = replace(row.key, aa_id=ALL_AAS)
            parts[row.key.at] = [found.get(of_all, WindowRow(of_all, {}, {})), row]
        again = {at for at, (before, row) in parts.items() if row.key.aa_id in before.made_of}
        if again:
            parts |= {at: [] for at in again}
            for row in (await self._windows.rows(again, Part(tag=tag))).values():
                parts[row.key.at].append(row)
        await self._put([_added(SeriesKey(ALL_AAS, short_tag(tag), at), parts[at]) for at in ats])

    async def _put(self, rows: Sequence[WindowRow]) -> None:
        """Replaces the sums of windows of one AA, or of all, and of one tag."""
        aa_id, tag = rows[0].key.aa_id, rows[0].key.tag
        ats = [row.key.at for row in rows]
        of_aa = {"aa_id": aa_id, "tag": tag}
        await self._tx.connection.execute(_DELETE, of_aa | times_given(ats))
        values = []
        for row in rows:
            own = {"aa_id": aa_id, "tag": tag, "window_at": row.key.at}
            values.append({**own, "type": HEADER, "made_of": row.made_of, "sums": b""})
            for type_, sums in row.types.items():
                values.append({**own, "type": type_, "made_of": {}, "sums": sums})
        await self._tx.connection.execute(_ADD, values)


def _rows_of(aa_id: str, new: Versions, cells: Sums) -> Sequence[WindowRow]:
    return [
        WindowRow(key, {aa_id: version}, pack_types(cells[key.at])) for key, version in new.items()
    ]


def _added(key: SeriesKey, rows: Sequence[WindowRow]) -> WindowRow:
    types: dict[str, list[bytes]] = defaultdict(list)
    for row in rows:
        for type_, sums in row.types.items():
            types[type_].append(sums)
    made_of = {aa_id: version for row in rows for aa_id, version in row.made_of.items()}
    return WindowRow(key, made_of, {type_: add(many) for type_, many in types.items()})
