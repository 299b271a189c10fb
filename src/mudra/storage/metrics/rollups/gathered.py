"""Gathers rows of sums, packed sums and raw rows of several times, and adds them up by cell."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, cast

from sqlalchemy.engine import RowMapping

from mudra.metrics.payload.report import Block
from mudra.metrics.rollup.rollup import Cell, Rollup, rollup
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.storage.metrics.copy_rows import long_tag
from mudra.storage.metrics.rollups.packed_sums import by_fip
from mudra.storage.metrics.rollups.sums import Row, Sums, block_of, merged

_FEW_CELLS: Final = 100
"""So many are added up in 10 ms, which no one notices who waits for the same process."""
_Key = tuple[str, str, str, str]
"""AA, FIP, tag and type."""


def sums_by_cell(rows: Iterable[object], *, over_aas: bool = False) -> dict[Cell, Rollup]:
    """Returns rows of sums, added up by cell."""
    gathered = Gathered(over_aas=over_aas)
    gathered.sums(rows)
    return gathered.by_cell()


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
        if not self._packed and len(self._rows) + len(self._blocks) <= _FEW_CELLS:
            return self.by_cell(fip_id)
        return await asyncio.to_thread(self.by_cell, fip_id)

    def by_cell(self, fip_id: str | None = None) -> dict[Cell, Rollup]:
        """Returns the sums of each cell with rows."""
        found: dict[Cell, Rollup] = {}
        # One type after the other: unpacked sums that live long are looked through by the
        # garbage collector again and again, at three times the cost of the sums.
        for (aa_id, tag, type_), many in self._packed.items():
            parts = by_fip(many, fip_id)
            for one, sums in parts.items():
                found[_cell((aa_id, one, tag, type_))] = self._sum((aa_id, one, tag, type_), sums)
        for key in dict.fromkeys([*self._rows, *self._blocks]):
            cell = _cell(key)
            if cell not in found:
                found[cell] = self._sum(key, ())
        return found

    def _sum(self, key: _Key, parts: Sequence[Sums]) -> Rollup:
        rows = self._rows.get(key, ())
        others = rollup(self._blocks.get(key, ()))
        return merged(rows, others, parts) if rows or parts else others


def _cell(key: _Key) -> Cell:
    return Cell(key[0], key[1], long_tag(key[2]), key[3])
