"""Rows of sums and raw rows of several times, added up by cell."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from itertools import groupby
from typing import Final, TypeVar, cast

from sqlalchemy.engine import RowMapping

from mudra.metrics.payload.report import Block
from mudra.metrics.rollup.rollup import Cell, Rollup, merge_all, rollup
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.storage.metrics.copy_rows import long_tag
from mudra.storage.metrics.rollups.packed_sums import by_fip
from mudra.storage.metrics.rollups.sums import Row, block_of, merged

T = TypeVar("T")
_FEW_ROWS: Final = 200
"""So many are added up in 10 ms, which no one notices who waits for the same process."""
_Key = tuple[str, str, str, str]
"""AA, FIP, tag and type."""
_Kind = tuple[str, str]
"""Tag and type."""


async def sums_by_cell(rows: Iterable[object], *, over_aas: bool = False) -> dict[Cell, Rollup]:
    """Returns rows of sums, added up by cell; many in a thread."""
    gathered = Gathered(over_aas=over_aas)
    gathered.sums(rows)
    return await gathered.summed()


class Gathered:
    """Rows of sums and raw rows of several times, grouped by cell and added up at once, one time.

    Adding costs little, the distribution of a sum costs much, so it is made once. With `over_aas`
    the sums are over all AAs.
    """

    def __init__(self, *, over_aas: bool = False) -> None:
        self.over_aas = over_aas
        self._rows: dict[_Key, list[Row]] = defaultdict(list)
        self._packed: dict[tuple[str, str, str], list[bytes]] = defaultdict(list)
        self._blocks: dict[_Key, list[Block]] = defaultdict(list)

    def sums(self, rows: Iterable[object]) -> None:
        """Adds rows of `sums_query`."""
        for row in cast("Iterable[Row]", rows):
            self._rows[ALL_AAS if self.over_aas else row[0], row[1], row[2], row[3]].append(row)

    async def add_sums(self, rows: Sequence[object]) -> None:
        """Adds rows of `sums_query`; many in a thread."""
        await _in_thread_if_many(self.sums, rows)

    def packed(self, aa_id: str, tag: str, type_: str, sums: bytes) -> None:
        """Adds the packed sums of all FIPs in a window, of an AA, short tag and type."""
        self._packed[ALL_AAS if self.over_aas else aa_id, tag, type_].append(sums)

    def raw(self, rows: Iterable[RowMapping]) -> None:
        """Adds rows of `raw_query`."""
        for row in rows:
            aa_id = ALL_AAS if self.over_aas else row["aa_id"]
            self._blocks[aa_id, row["fip_id"], row["tag"], row["type"]].append(block_of(row))

    async def summed(self) -> dict[Cell, Rollup]:
        """Returns the sums of each cell with rows; many are added up in a thread."""
        if self._are_few():
            return self._by_cell(None)
        return await asyncio.to_thread(self._by_cell, None)

    async def by_type(
        self, raw: AsyncIterator[Sequence[RowMapping]], fip_id: str | None = None
    ) -> AsyncIterator[dict[Cell, Rollup]]:
        """Returns the sums of one tag and type after the other, but of few cells at once.

        Those of one FIP where it is named. `raw` are further rows of `raw_query`, in the order of
        tag and type: those of one type are held at a time. Of 40 AAs and 2,000 FIPs all are a
        gigabyte, and the distributions of the FIPs are tens of megabytes for each type.
        """
        last: _Kind | None = None
        async for rows in raw:
            for kind, of_kind in groupby(rows, _kind_of):
                if last is not None and last != kind and not self._are_few():
                    yield await asyncio.to_thread(self._taken, last, fip_id)
                last = kind
                await _in_thread_if_many(self.raw, [*of_kind])
        if self._are_few():
            yield self._by_cell(fip_id)
            return
        for kind in self._kinds():
            yield await asyncio.to_thread(self._taken, kind, fip_id)

    def _by_cell(self, fip_id: str | None) -> dict[Cell, Rollup]:
        found: dict[Cell, Rollup] = {}
        for kind in self._kinds():
            found |= self._taken(kind, fip_id)
        return found

    def _are_few(self) -> bool:
        if self._packed or len(self._rows) + len(self._blocks) > _FEW_ROWS:
            return False
        held = sum(map(len, self._rows.values())) + sum(map(len, self._blocks.values()))
        return held <= _FEW_ROWS

    def _kinds(self) -> Collection[_Kind]:
        keys = [*self._packed, *(key[1:] for key in (*self._rows, *self._blocks))]
        return dict.fromkeys((tag, type_) for _, tag, type_ in keys)

    def _taken(self, kind: _Kind, fip_id: str | None) -> dict[Cell, Rollup]:
        """Adds up the cells of a tag and type, and forgets their rows."""
        found: dict[Cell, Rollup] = {}
        for aa_id, *_ in [key for key in self._packed if key[1:] == kind]:
            for one, sums in by_fip(self._packed.pop((aa_id, *kind)), fip_id).items():
                found[_cell((aa_id, one, *kind))] = sums
        keys = (key for key in (*self._rows, *self._blocks) if key[2:] == kind)
        for key in dict.fromkeys(keys):
            cell, sums = _cell(key), self._sum(key)
            found[cell] = merge_all([found[cell], sums]) if cell in found else sums
        return found

    def _sum(self, key: _Key) -> Rollup:
        rows = self._rows.pop(key, ())
        others = rollup(self._blocks.pop(key, ()))
        return merged(rows, others) if rows else others


async def _in_thread_if_many(add: Callable[[Sequence[T]], None], rows: Sequence[T]) -> None:
    if len(rows) > _FEW_ROWS:
        await asyncio.to_thread(add, rows)
    else:
        add(rows)


def _kind_of(row: RowMapping) -> _Kind:
    return row["tag"], row["type"]


def _cell(key: _Key) -> Cell:
    return Cell(key[0], key[1], long_tag(key[2]), key[3])
