"""Reads the sums of each AA over all FIPs, of which a nation has 28,000 for each AA."""

from collections.abc import Collection, Mapping
from typing import Final

from msgspec.structs import replace
from sqlalchemy.engine import RowMapping

from mudra.metrics.rollup.grain_selection import Rows, Sources
from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import long_tag
from mudra.storage.metrics.rollups.packed_reads import (
    WindowRow,
    WindowSums,
    packed_by_aa,
    times_of,
)
from mudra.storage.metrics.rollups.partial_sums import PartialSums
from mudra.storage.metrics.rollups.sums import Part, chosen_rows, raw_query, sums_query
from mudra.storage.metrics.tables import SUMS_OF

_Key = tuple[str, str, str]
"""AA, tag and type."""
_OF_ALL: Final = ""


class AaSums:
    """Reads them in a transaction: no sum of a pair is made, and one AA's windows are in memory."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._windows = WindowSums(transaction)

    async def sums(self, used: Sources, part: Part) -> Mapping[Cell, Rollup]:
        """Returns the sums of each AA; `fip_id` of each cell is empty."""
        found: PartialSums[_Key] = PartialSums(self._tx)
        for grain, rows in (("day", used.days), ("hour", used.hours)):
            if part.fip_id is None:
                async for sums in packed_by_aa(self._tx, grain, rows, part):
                    await found.add_packed(sums, _key_of_packed)
            elif rows.times or rows.only:  # of one FIP few rows are read, by its key
                table = SUMS_OF[grain]
                query = sums_query(table, chosen_rows(table, table.c.at, rows), part)
                await found.add_sums(query, _key_of)
        for aa_id in await self._aas(used.windows, part):
            of_aa = replace(part, aa_id=aa_id)
            summed, raw = await self._windows.read(used.windows, of_aa, over_aas=False)
            await found.add_packed(summed, _key_of_packed)
            if raw.times or raw.only:
                await found.add_raw(raw_query(raw, of_aa), _key_of)
        return {
            Cell(aa_id, _OF_ALL, long_tag(tag), type_): sums
            for (aa_id, tag, type_), sums in (await found.summed()).items()
        }

    async def _aas(self, windows: Rows, part: Part) -> Collection[str]:
        """Returns the AAs that reported any of these windows."""
        if part.aa_id is not None:
            return (part.aa_id,)
        versions = await self._windows.versions(times_of(windows), part)
        return sorted({key.aa_id for key in versions})


def _key_of_packed(row: WindowRow, type_: str) -> _Key:
    return row.key.aa_id, row.key.tag, type_


def _key_of(row: RowMapping) -> _Key:
    return row["aa_id"], row["tag"], row["type"]
