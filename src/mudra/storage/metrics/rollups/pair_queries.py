"""Reads the sums of pairs: for the matrix, and for who is outvoted in the status of a FIP."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

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
    pair_sums_of,
)
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.rollups.packed_reads import (
    WindowSums,
    chosen,
    split_at,
    times_of,
)
from mudra.storage.metrics.rollups.packed_rows import EVERY, PAIRS
from mudra.storage.metrics.rollups.raw_pairs import late_blocks_query, soon_pairs_query
from mudra.storage.metrics.rollups.sums import (
    ROWS_AT_ONCE,
    Part,
    block_of,
    chosen_rows,
    mappings_of,
    within_times,
)
from mudra.storage.metrics.tables import metrics_packed, metrics_raw

if TYPE_CHECKING:
    from mudra.storage.metrics.rollups.pair_arrays import PairArrays

_PAIR_SUMS: Final = tuple(field.name for field in fields(PairSums))
_Sums = Mapping[Pair, PairSums]
_OfTypes = Mapping[str, _Sums]
_Packed = sa.Row[tuple[str, str, bytes]]
_TOGETHER: Final = 200
"""Packed rows that are added up at a time: of 2,000 FIPs some 20 KB each."""


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
        """Returns the pairs of one FIP, of each type; its raw rows are looked up by their keys."""
        # numpy: a worker loads it with the first sums of pairs that it reads.
        from mudra.storage.metrics.rollups.pair_arrays import PairArrays  # noqa: PLC0415

        found = {code: PairArrays() for code in codes}
        for grain, rows in (("day", used.days), ("hour", used.hours)):
            if rows.times or rows.only:
                async for some in self._packed(codes, grain, rows):
                    await asyncio.to_thread(_add_of_fip, found, some, fip_id)
        if used.windows.times or used.windows.only:
            raw = _raw_pairs(used.windows, codes, fip_id)
            soon = await self._tx.connection.execute(soon_pairs_query(raw, by_type=True))
            for row in soon.mappings():
                found[row["type"]].add_pairs([(_pair_of(row), _sums_of(row))])
            for row in (await self._tx.connection.execute(late_blocks_query(raw))).mappings():
                sums = pair_sums_of([_block_of(row)])
                found[row["type"]].add_pairs([(_pair_of(row), sums)])
        return {code: arrays.pairs() for code, arrays in found.items()}

    async def _found(self, chosen: "_Chosen", codes: Collection[str]) -> "PairArrays":
        """Adds up the pairs of these types."""
        # numpy: a worker loads it with the first sums of pairs that it reads.
        from mudra.storage.metrics.rollups.pair_arrays import PairArrays  # noqa: PLC0415

        found = PairArrays()

        def add(some: Sequence[_Packed]) -> None:
            for row in some:
                found.add_packed(row.aa_id, row.sums)

        for grain, rows in chosen.packed:
            async for some in self._packed(codes, grain, rows):
                await asyncio.to_thread(add, some)
        await self._add_raw(found, chosen.raw, codes)
        return found

    def _packed(
        self, codes: Collection[str], grain: str, rows: Rows
    ) -> AsyncIterator[Sequence[_Packed]]:
        """Gives type, AA and sums of what is packed, some at a time."""
        c = metrics_packed.c
        query: sa.Select[tuple[str, str, bytes]] = sa.select(c.type, c.aa_id, c.sums).where(
            *(c.kind == PAIRS, c.grain == grain, c.type == sa.any_(sa.literal([*codes]))),
            chosen_rows(metrics_packed, c.at, rows),
        )
        return self._tx.in_parts(query, _TOGETHER)

    async def _chosen(self, used: Sources) -> "_Chosen":
        """Returns which rows are packed and what is raw."""
        windows, raw = await self._summed(used.windows)
        packed = (("window", windows), ("day", used.days), ("hour", used.hours))
        return _Chosen([one for one in packed if one[1].times or one[1].only], raw)

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


def _add_of_fip(found: Mapping[str, "PairArrays"], rows: Sequence[_Packed], fip_id: str) -> None:
    for row in rows:
        found[row.type].add_packed(row.aa_id, row.sums, fip_id)


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
