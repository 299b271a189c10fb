"""Rows of sums and raw rows of several times, added up by cell."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import partial
from typing import Final, cast

from sqlalchemy.engine import RowMapping

from mudra.metrics.payload.report import Block
from mudra.metrics.rollup.rollup import Cell, Rollup, merge_all, rollup
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.storage.metrics.copy_rows import long_tag
from mudra.storage.metrics.rollups.packed_sums import by_fip
from mudra.storage.metrics.rollups.sums import Row, block_of, merged

_FEW_CELLS: Final = 100
"""So many are added up in 10 ms, which no one notices who waits for the same process."""
_Key = tuple[str, str, str, str]
"""AA, FIP, tag and type."""


async def sums_by_cell(rows: Iterable[object], *, over_aas: bool = False) -> dict[Cell, Rollup]:
    """Returns rows of sums, added up by cell; many in a thread."""
    gathered = Gathered(over_aas=over_aas)
    gathered.sums(rows)
    return await gathered.summed()


class Gathered:
    """Rows of sums and raw rows of several times, grouped by cell and added up at once.

    Adding costs little, the distribution of a sum costs much, so it is made once. With `over_aas`
    the sums are over all AAs.
    """

    def __init__(self, *, over_aas: bool = False) -> None:
        self._over_aas = over_aas
        self._rows: dict[_Key, list[Row]] = defaultdict(list)
        self._packed: dict[tuple[str, str, str], list[bytes]] = defaultdict(list)
        self._blocks: dict[_Key, list[Block]] = defaultdict(list)

    def sums(self, rows: Iterable[object]) -> None:
        """Adds rows of `sums_query`."""
        for row in cast("Iterable[Row]", rows):
            self._rows[ALL_AAS if self._over_aas else row[0], row[1], row[2], row[3]].append(row)

    def packed(self, aa_id: str, tag: str, type_: str, sums: bytes) -> None:
        """Adds the packed sums of all FIPs in a window, of an AA, short tag and type."""
        self._packed[ALL_AAS if self._over_aas else aa_id, tag, type_].append(sums)

    def raw(self, rows: Iterable[RowMapping]) -> None:
        """Adds rows of `raw_query`."""
        for row in rows:
            aa_id = ALL_AAS if self._over_aas else row["aa_id"]
            self._blocks[aa_id, row["fip_id"], row["tag"], row["type"]].append(block_of(row))

    async def summed(self, fip_id: str | None = None) -> dict[Cell, Rollup]:
        """Returns the sums of each cell with rows, of one FIP where it is named.

        Many are added up in a thread.
        """
        if self._are_few():
            return self.by_cell(fip_id)
        return await asyncio.to_thread(self.by_cell, fip_id)

    async def by_type(self, fip_id: str | None = None) -> AsyncIterator[dict[Cell, Rollup]]:
        """Returns the same, of one tag and type after the other, but for few at once.

        The distributions of 2,000 FIPs are tens of megabytes for each type.
        """
        if self._are_few():
            yield self.by_cell(fip_id)
            return
        for part in self._parts():
            yield await asyncio.to_thread(part, fip_id)

    def by_cell(self, fip_id: str | None = None) -> dict[Cell, Rollup]:
        """Returns the sums of each cell with rows."""
        found: dict[Cell, Rollup] = {}
        for part in self._parts():
            found |= part(fip_id)
        return found

    def _are_few(self) -> bool:
        return not self._packed and len(self._rows) + len(self._blocks) <= _FEW_CELLS

    def _parts(self) -> Iterable[Callable[[str | None], dict[Cell, Rollup]]]:
        """Returns what adds up the cells of each tag and type."""
        packed: dict[tuple[str, str], list[str]] = defaultdict(list)
        for aa_id, tag, type_ in self._packed:
            packed[tag, type_].append(aa_id)
        keys: dict[tuple[str, str], list[_Key]] = defaultdict(list)
        for key in dict.fromkeys([*self._rows, *self._blocks]):
            keys[key[2], key[3]].append(key)
        return [
            partial(self._of_type, kind, packed[kind], keys[kind])
            for kind in dict.fromkeys([*packed, *keys])
        ]

    def _of_type(
        self, kind: tuple[str, str], packed: Sequence[str], keys: Sequence[_Key], fip_id: str | None
    ) -> dict[Cell, Rollup]:
        found: dict[Cell, Rollup] = {}
        for aa_id in packed:
            for one, sums in by_fip(self._packed[aa_id, *kind], fip_id).items():
                found[_cell((aa_id, one, *kind))] = sums
        for key in keys:
            cell, sums = _cell(key), self._sum(key)
            found[cell] = merge_all([found[cell], sums]) if cell in found else sums
        return found

    def _sum(self, key: _Key) -> Rollup:
        rows = self._rows.get(key, ())
        others = rollup(self._blocks.get(key, ()))
        return merged(rows, others) if rows else others


def _cell(key: _Key) -> Cell:
    return Cell(key[0], key[1], long_tag(key[2]), key[3])
