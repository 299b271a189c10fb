"""Reads the sums of pairs: for the matrix, and for who is outvoted in the status of a FIP."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import sqlalchemy as sa
from msgspec.structs import fields
from sqlalchemy.engine import RowMapping

from mudra.metrics.payload.catalogue import TIMING_CODES, Tag
from mudra.metrics.payload.report import RequestBlock
from mudra.metrics.ports import Pair, SumsOfFips
from mudra.metrics.rollup.grain_selection import Rows, SeriesKey, Sources
from mudra.metrics.rollup.pair import (
    ALL_CALLS,
    PairSums,
    add_pairs,
    pair_sums_of,
)
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import short_tag
from mudra.storage.metrics.rollups.packed_reads import (
    WindowSums,
    chosen,
    is_of,
    split_at,
    times_of,
)
from mudra.storage.metrics.rollups.packed_rows import EVERY, PAIRS
from mudra.storage.metrics.rollups.raw_pairs import late_blocks_query, soon_pairs_query
from mudra.storage.metrics.rollups.sums import (
    ROWS_AT_ONCE,
    Part,
    aas_with_rows,
    aas_with_rows_at,
    block_of,
    chosen_rows,
    mappings_of,
    within_times,
)
from mudra.storage.metrics.tables import (
    metrics_packed,
    metrics_pair_day,
    metrics_pair_hour,
    metrics_raw,
)

if TYPE_CHECKING:
    from mudra.storage.metrics.rollups.pair_arrays import PairArrays

_PAIR_SUMS: Final = tuple(field.name for field in fields(PairSums))
_Sums = Mapping[Pair, PairSums]
_OfTypes = Mapping[str, _Sums]
_TOGETHER: Final = 200
"""Packed rows that are added up at a time: of 2,000 FIPs some 20 KB each."""
_Tables = Sequence[tuple[sa.Table, Rows]]


class PairQueries:
    """Reads them in a transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._windows = WindowSums(transaction)

    async def sums(self, used: Sources, codes: Collection[str]) -> _Sums:
        """Returns the sums of each pair, over some types of request together or all calls."""
        found = await self._found(await self._chosen(used), codes)
        return await asyncio.to_thread(found.pairs)

    async def of_fips(self, used: Sources) -> SumsOfFips:
        """Returns the sums of each FIP over all calls, and its pairs where they are contested."""
        found = await self._found(await self._chosen(used), (ALL_CALLS,))
        return SumsOfFips(
            await asyncio.to_thread(found.of_fips), await asyncio.to_thread(found.contested)
        )

    async def contested(
        self, used: Sources, codes: Collection[str]
    ) -> AsyncIterator[tuple[str, _Sums]]:
        """Returns for each type the pairs of the FIPs of which not every AA sees good calls.

        One type after the other: the pairs of a nation take 8 MB for each, and 30 as objects where
        an AA sees no good calls to anyone.
        """
        chosen = await self._chosen(used)
        for code in codes:
            found = await self._found(chosen, (code,))
            yield code, await asyncio.to_thread(found.contested)

    async def of_fip(self, used: Sources, fip_id: str, codes: Collection[str]) -> _OfTypes:
        """Returns the pairs of one FIP, of each type: rows of its key, added up by the database."""
        parts: list[tuple[str, Pair, PairSums]] = []
        for table, rows in ((metrics_pair_day, used.days), (metrics_pair_hour, used.hours)):
            if rows.times or rows.only:
                summed = _summed(_of_fip(table, rows, fip_id, codes), "type", "aa_id", "fip_id")
                parts += await self._by_type(summed)
        if used.windows.times or used.windows.only:
            raw = _raw_pairs(used.windows, codes, fip_id)
            parts += await self._by_type(soon_pairs_query(raw, by_type=True))
            for row in (await self._tx.connection.execute(late_blocks_query(raw))).mappings():
                parts.append((row["type"], _pair_of(row), pair_sums_of([_block_of(row)])))
        found: dict[str, dict[Pair, PairSums]] = {code: {} for code in codes}
        for code, pair, sums in parts:
            before = found[code].get(pair)
            found[code][pair] = add_pairs(before, sums) if before else sums
        return found

    async def _by_type(
        self, query: sa.Select[tuple[object, ...]]
    ) -> Sequence[tuple[str, Pair, PairSums]]:
        rows = (await self._tx.connection.execute(query)).mappings()
        return [(row["type"], _pair_of(row), _sums_of(row)) for row in rows]

    async def _found(self, chosen: "_Chosen", codes: Collection[str]) -> "PairArrays":
        """Adds up the pairs of these types."""
        # numpy: a worker loads it with the first sums of pairs that it reads.
        from mudra.storage.metrics.rollups.pair_arrays import PairArrays  # noqa: PLC0415

        found = PairArrays()
        for grain, rows in chosen.packed:
            await self._add_packed(found, codes, grain, rows)
        if chosen.rows:
            await self._add_rows(found, _sums_query(chosen.rows, codes))
        await self._add_raw(found, chosen.raw, codes)
        return found

    async def _add_packed(
        self, found: "PairArrays", codes: Collection[str], grain: str, rows: Rows
    ) -> None:
        c = metrics_packed.c
        query: sa.Select[tuple[str, bytes]] = sa.select(c.aa_id, c.sums).where(
            *(c.kind == PAIRS, c.grain == grain, c.type == sa.any_(sa.literal([*codes]))),
            chosen_rows(metrics_packed, c.at, rows),
        )

        def add(read: Sequence[sa.Row[tuple[str, bytes]]]) -> None:
            for row in read:
                found.add_packed(row.aa_id, row.sums)

        async for read in self._tx.in_parts(query, _TOGETHER):
            await asyncio.to_thread(add, read)

    async def _chosen(self, used: Sources) -> "_Chosen":
        """Returns which rows are packed, which are rows of a pair each, and what is raw."""
        windows, raw = await self._summed(used.windows)
        packed, rows = [("window", windows)], []
        for table, grain, of_grain in (
            (metrics_pair_day, "day", used.days),
            (metrics_pair_hour, "hour", used.hours),
        ):
            packed.append((grain, of_grain))
            if left := await self._not_packed(table, grain, of_grain):
                rows.append((table, Rows(only=left)))
        return _Chosen([one for one in packed if one[1].times or one[1].only], rows, raw)

    async def _not_packed(self, table: sa.Table, grain: str, rows: Rows) -> frozenset[SeriesKey]:
        """Returns the AAs of these hours or days that the release before summed."""
        times = sorted(times_of(rows))
        if not times:
            return frozenset()
        p, tag = metrics_packed.c, short_tag(Tag.REQUESTS)
        summed = aas_with_rows_at(table, times)
        of = summed.selected_columns
        is_packed = sa.exists().where(
            *(p.aa_id == of.aa_id, p.kind == PAIRS, p.grain == grain),
            *(p.at == of.time, p.tag == tag, p.type == EVERY),
        )
        found = await self._tx.connection.execute(summed.where(~is_packed))
        keys = (SeriesKey(aa_id, tag, time) for aa_id, time in found)
        return frozenset(filter(is_of(rows), keys))

    async def _summed(self, rows: Rows) -> tuple[Rows, Rows]:
        """Returns the windows with sums for the matrix that hold, and those to be read raw."""
        recent, old = split_at(rows, await self._windows.since())
        times = times_of(recent)
        if not times:
            return Rows(), old
        part = Part(tag=Tag.REQUESTS)
        versions = chosen(await self._windows.versions(times, part), recent)
        made = await self._windows.headers(times, Tag.REQUESTS)
        packed = await _packed_at(self._tx, "window", times)
        good = {
            key
            for key, row in made.items()
            if key in packed and key in versions and row.made_of == {key.aa_id: versions[key]}
        }
        return Rows(only=frozenset(good)), Rows(
            old.times, old.without, old.only | (versions.keys() - good)
        )

    async def _add_raw(self, found: "PairArrays", windows: Rows, codes: Collection[str]) -> None:
        if windows.times or windows.only:
            raw = _raw_pairs(windows, codes)
            await self._add_rows(found, soon_pairs_query(raw))
            async for late in self._tx.in_parts(late_blocks_query(raw), ROWS_AT_ONCE):
                await asyncio.to_thread(_add_blocks, found, mappings_of(late))

    async def _add_rows(self, found: "PairArrays", query: sa.Select[tuple[object, ...]]) -> None:
        async for rows in self._tx.in_parts(query, ROWS_AT_ONCE):
            await asyncio.to_thread(_add_rows, found, mappings_of(rows))


class _Chosen(NamedTuple):
    packed: Sequence[tuple[str, Rows]]
    rows: Sequence[tuple[sa.Table, Rows]]
    raw: Rows


async def _packed_at(
    tx: Transaction, grain: str, times: Collection[datetime]
) -> frozenset[SeriesKey]:
    """Returns the AAs whose pairs are packed, each with the time."""
    if not times:
        return frozenset()
    c = metrics_packed.c
    rows = await tx.connection.execute(
        sa.select(c.aa_id, c.tag, c.at).where(
            *(c.kind == PAIRS, c.grain == grain, c.type == EVERY),
            within_times(c.at, sorted(times)),
        )
    )
    return frozenset(SeriesKey(*row) for row in rows)


def _add_rows(found: "PairArrays", rows: Sequence[RowMapping]) -> None:
    found.add_pairs((_pair_of(row), _sums_of(row)) for row in rows)


def _add_blocks(found: "PairArrays", rows: Sequence[RowMapping]) -> None:
    blocks: dict[Pair, list[RequestBlock]] = defaultdict(list)
    for row in rows:
        blocks[_pair_of(row)].append(_block_of(row))
    found.add_pairs(((pair, pair_sums_of(held)) for pair, held in blocks.items()))


def _block_of(row: RowMapping) -> RequestBlock:
    block = block_of(row)
    assert isinstance(block, RequestBlock)  # the queries select request metrics
    return block


def _rows_of(table: sa.Table, rows: Rows, codes: Collection[str]) -> sa.Select[tuple[object, ...]]:
    c = table.c
    return sa.select(c.type, c.aa_id, c.fip_id, *(c[name] for name in _PAIR_SUMS)).where(
        c.type == sa.any_(sa.literal(sorted(codes))), chosen_rows(table, c.at, rows)
    )


def _of_fip(table: sa.Table, rows: Rows, fip_id: str, codes: Collection[str]) -> sa.Subquery:
    """Returns the rows of one FIP: the key begins with the AA, of which there are few."""
    c, aas = table.c, aas_with_rows(table)
    of_any_aa = c.aa_id == sa.any_(sa.select(aas.c.aa_id).scalar_subquery())
    return _rows_of(table, rows, codes).where(of_any_aa, c.fip_id == fip_id).subquery()


def _every(tables: _Tables, codes: Collection[str]) -> sa.Subquery:
    """Returns the rows of all tables."""
    return sa.union_all(*(_rows_of(table, rows, codes) for table, rows in tables)).subquery()


def _summed(rows: sa.Subquery, *key: str) -> sa.Select[tuple[object, ...]]:
    c = rows.c
    columns: list[sa.ColumnElement[Any]] = [c[name] for name in key]
    for name in _PAIR_SUMS:
        of: sa.ColumnElement[Any] = sa.func.max(c[name])
        columns.append((of if name == "longest" else sa.func.sum(c[name])).label(name))
    return sa.select(*columns).group_by(*(c[name] for name in key))


def _sums_query(tables: _Tables, codes: Collection[str]) -> sa.Select[tuple[object, ...]]:
    return _summed(_every(tables, codes), "aa_id", "fip_id")


def _raw_pairs(
    rows: Rows, codes: Collection[str], fip_id: str | None = None
) -> sa.ColumnElement[bool]:
    c = metrics_raw.c
    wanted: sa.ColumnElement[bool] = c.type.not_in(TIMING_CODES)
    if ALL_CALLS not in codes:
        wanted = c.type == sa.any_(sa.literal(sorted(codes)))
    part = Part(fip_id=fip_id, tag=Tag.REQUESTS)
    return sa.and_(chosen_rows(metrics_raw, c.window_at, rows), wanted, *part.of(metrics_raw))


def _pair_of(row: RowMapping) -> Pair:
    return Pair(row["aa_id"], row["fip_id"])


def _sums_of(row: RowMapping) -> PairSums:
    # Sums of bigint are numeric to PostgreSQL.
    return PairSums(*(int(row[name]) for name in _PAIR_SUMS))
