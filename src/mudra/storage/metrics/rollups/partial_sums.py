"""Adds up many rows by a key: read a part at a time, added up in a thread, and not kept."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final, Generic, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping

from mudra.metrics.payload.report import Block
from mudra.metrics.rollup.rollup import Rollup, merge_all, rollup
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.rollups.packed_reads import WindowRow
from mudra.storage.metrics.rollups.packed_sums import over_fips
from mudra.storage.metrics.rollups.sums import ROWS_AT_ONCE, Row, block_of, mappings_of, merged

K = TypeVar("K", bound=Hashable)
_Rows = Sequence[RowMapping]

_MAX_PARTS: Final = 32
_SUMS: Final = ("aa_id", "fip_id", "tag", "type", "numbers", "distribution")


class PartialSums(Generic[K]):
    """Sums by a key, of rows of days, hours and windows and of raw rows.

    While a part is added up the event loop answers others, and no more than a part is in memory.
    """

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._found: dict[K, list[Rollup]] = defaultdict(list)

    async def add_sums(
        self, query: sa.Select[tuple[object, ...]], key: Callable[[RowMapping], K]
    ) -> None:
        """Adds rows of `sums_query`."""
        await self._add(query, lambda rows: _of_sums(rows, key))

    async def add_raw(
        self, query: sa.Select[tuple[object, ...]], key: Callable[[RowMapping], K]
    ) -> None:
        """Adds rows of `raw_query`."""
        await self._add(query, lambda rows: _of_raw(rows, key))

    async def add_packed(
        self, rows: Sequence[WindowRow], key: Callable[[WindowRow, str], K]
    ) -> None:
        """Adds the sums of windows over all FIPs; `key` has a window's row and a type."""
        if rows:
            await asyncio.to_thread(lambda: self._put(_of_packed(rows, key)))

    async def summed(self) -> dict[K, Rollup]:
        """Returns the sums of each key with rows."""
        return await asyncio.to_thread(
            lambda: {key: merge_all(parts) for key, parts in self._found.items()}
        )

    async def _add(
        self,
        query: sa.Select[tuple[object, ...]],
        added_up: Callable[[_Rows], Mapping[K, Rollup]],
    ) -> None:
        async for part in self._tx.in_parts(query, ROWS_AT_ONCE):
            await asyncio.to_thread(self._put_part, part, added_up)

    def _put_part(
        self,
        part: Sequence[sa.Row[tuple[object, ...]]],
        added_up: Callable[[_Rows], Mapping[K, Rollup]],
    ) -> None:
        self._put(added_up(mappings_of(part)))

    def _put(self, part: Mapping[K, Rollup]) -> None:
        for key, sums in part.items():
            found = self._found[key]
            found.append(sums)
            if len(found) >= _MAX_PARTS:
                self._found[key] = [merge_all(found)]


def _of_sums(rows: _Rows, key: Callable[[RowMapping], K]) -> Mapping[K, Rollup]:
    by_key: dict[K, list[Row]] = defaultdict(list)
    for row in rows:
        by_key[key(row)].append(cast("Row", tuple(row[name] for name in _SUMS)))
    return {one: merged(many) for one, many in by_key.items()}


def _of_raw(rows: _Rows, key: Callable[[RowMapping], K]) -> Mapping[K, Rollup]:
    blocks: dict[K, list[Block]] = defaultdict(list)
    for row in rows:
        blocks[key(row)].append(block_of(row))
    return {one: rollup(many) for one, many in blocks.items()}


def _of_packed(rows: Iterable[WindowRow], key: Callable[[WindowRow, str], K]) -> Mapping[K, Rollup]:
    packed: dict[K, list[bytes]] = defaultdict(list)
    for row in rows:
        for type_, sums in row.types.items():
            packed[key(row, type_)].append(sums)
    summed = {one: over_fips(many) for one, many in packed.items()}
    return {one: sums for one, sums in summed.items() if sums is not None}
