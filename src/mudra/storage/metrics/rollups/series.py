"""Sums for charts: implements metrics/ports.py Series, with one query for each grain."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from msgspec.structs import replace

from mudra.metrics.payload.catalogue import Tag, day_start
from mudra.metrics.rollup.chart_grains import grains
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.grain_selection import Rows
from mudra.metrics.rollup.rollup import Rollup
from mudra.metrics.rollup.stale import ALL_AAS, CHARTS_KEPT
from mudra.metrics.rollup.step import Step
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.copy_rows import short_tag
from mudra.storage.metrics.rollups.packed_reads import WindowSums, find_packed
from mudra.storage.metrics.rollups.partial_sums import PartialSums
from mudra.storage.metrics.rollups.sums import Part, chosen_rows, raw_query, sums_query
from mudra.storage.metrics.tables import SUMS_OF, metrics_stale

_S: Final = metrics_stale.c
_WINDOWS_AT_ONCE: Final = 6
_MAX_STATEMENTS: Final = 10


class PostgresSeries:
    """Sums of a range, step by step."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def steps(
        self,
        within: TimeRange,
        step: Step,
        types: frozenset[str],
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
    ) -> Mapping[datetime, Rollup]:
        """Returns the sums of all requests of these type codes together, by start of the step."""
        part = Part(aa_id, fip_id, Tag.REQUESTS, types)
        # Sums over all AAs are separate rows: reading them takes far fewer rows than one per AA.
        sums_part = part if aa_id is not None else replace(part, aa_id=ALL_AAS)
        stale = await self._stale(within, aa_id)
        used = grains(within, step, stale["day"], stale["hour"])
        found: PartialSums[datetime] = PartialSums(self._tx)
        for grain, times in (("day", used.days), ("hour", used.hours)):
            rows = Rows(tuple(times))
            if fip_id is None:
                packed = await find_packed(self._tx, grain, rows, sums_part)
                async for some in packed.each():
                    await found.add_packed(some, lambda row, _: step.start_of(row.key.at))
            elif rows.times:  # of one FIP there are few rows, by its key
                table = SUMS_OF[grain]
                query = sums_query(table, chosen_rows(table, table.c.at, rows), sums_part)
                await found.add_sums(
                    query.add_columns(table.c.at), lambda row: step.start_of(row["at"])
                )
        if used.windows:
            await self._add_windows(used.windows, part, step, found)
        return await found.summed()

    async def _add_windows(
        self,
        windows: Sequence[datetime],
        part: Part,
        step: Step,
        found: PartialSums[datetime],
    ) -> None:
        """Adds windows, those of an hour at a time: each over all AAs may be megabytes."""
        sums, of_one_fip = WindowSums(self._tx), part.fip_id is not None
        since = None if of_one_fip else await sums.since(CHARTS_KEPT)
        for some in _in_groups(windows):
            rows = Rows(tuple(some))
            if of_one_fip:
                # Packed sums are of all FIPs. Of one there are few raw rows, by their keys.
                summed, raw = await sums.read(rows, part, over_aas=False)
            else:
                over_aas = part.aa_id is None
                summed, raw = await sums.read_since(since, rows, part, over_aas=over_aas)
            await found.add_packed(summed, lambda row, _: step.start_of(row.key.at))
            if raw.times or raw.only:
                await found.add_raw(
                    raw_query(raw, part), lambda row: step.start_of(row["window_at"])
                )

    async def _stale(self, within: TimeRange, aa_id: str | None) -> Mapping[str, set[datetime]]:
        """Returns the stale hours and days of an AA, or of any."""
        rows = await self._tx.connection.execute(
            sa.select(_S.grain, _S.at)
            .distinct()
            .where(
                _S.at >= day_start(within.start),
                _S.at < within.end,
                _S.grain != "window",
                _S.tag == short_tag(Tag.REQUESTS),
                *([_S.aa_id == aa_id] if aa_id is not None else []),
            )
        )
        found: dict[str, set[datetime]] = {"day": set(), "hour": set()}
        for grain, at in rows:
            found[grain].add(at)
        return found


def _in_groups(windows: Sequence[datetime]) -> Iterator[Sequence[datetime]]:
    size = max(_WINDOWS_AT_ONCE, -(-len(windows) // _MAX_STATEMENTS))
    for begin in range(0, len(windows), size):
        yield windows[begin : begin + size]
