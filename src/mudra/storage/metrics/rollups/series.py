"""Sums for charts: implements metrics/ports.py Series, with one query for each grain."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, cast

import sqlalchemy as sa

from mudra.metrics.payload.catalogue import Tag, day_start
from mudra.metrics.payload.report import Block
from mudra.metrics.rollup.chart_grains import grains
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.grain_selection import Rows
from mudra.metrics.rollup.rollup import Rollup, merge_all, rollup
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.metrics.rollup.step import Step
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.rollups.packed_sums import over_fips
from mudra.storage.metrics.rollups.sums import (
    Part,
    Row,
    block_of,
    merged,
    raw_query,
    sums_query,
    within_times,
)
from mudra.storage.metrics.rollups.window_sums import WindowRow, WindowSums
from mudra.storage.metrics.tables import metrics_day, metrics_hour, metrics_stale

_S: Final = metrics_stale.c


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
        sums_part = Part(ALL_AAS if aa_id is None else aa_id, fip_id, Tag.REQUESTS, types)
        found: dict[datetime, list[Rollup]] = defaultdict(list)
        stale = await self._stale(within)
        used = grains(within, step, stale["day"], stale["hour"])
        for table, times in ((metrics_day, used.days), (metrics_hour, used.hours)):
            for start, rows in (await self._sums(table, times, sums_part, step)).items():
                found[start].append(merged(rows))
        summed, windows = await WindowSums(self._tx).read(
            Rows(tuple(used.windows)), part, over_aas=aa_id is None
        )
        by_step = await asyncio.to_thread(_by_step, summed, step, fip_id)
        for start, sums in by_step.items():
            found[start].append(sums)
        if windows.times or windows.only:
            blocks: dict[datetime, list[Block]] = defaultdict(list)
            raw = await self._tx.connection.execute(raw_query(windows, part))
            for row in raw.mappings():
                blocks[step.start_of(row["window_at"])].append(block_of(row))
            for start, step_blocks in blocks.items():
                found[start].append(rollup(step_blocks))
        return {start: merge_all(parts) for start, parts in found.items()}

    async def _sums(
        self, table: sa.Table, times: Sequence[datetime], part: Part, step: Step
    ) -> Mapping[datetime, Sequence[Row]]:
        """Returns rows of sums by the start of their step."""
        found: dict[datetime, list[Row]] = defaultdict(list)
        if times:
            query = sums_query(table, within_times(table.c.at, times), part)
            for *sums, at in await self._tx.connection.execute(query.add_columns(table.c.at)):
                found[step.start_of(cast("datetime", at))].append(cast("Row", tuple(sums)))
        return found

    async def _stale(self, within: TimeRange) -> Mapping[str, set[datetime]]:
        rows = await self._tx.connection.execute(
            sa.select(_S.grain, _S.at)
            .distinct()
            .where(_S.at >= day_start(within.start), _S.at < within.end, _S.grain != "window")
        )
        found: dict[str, set[datetime]] = {"day": set(), "hour": set()}
        for grain, at in rows:
            found[grain].add(at)
        return found


def _by_step(
    rows: Iterable[WindowRow], step: Step, fip_id: str | None
) -> Mapping[datetime, Rollup]:
    found: dict[datetime, list[bytes]] = defaultdict(list)
    for row in rows:
        found[step.start_of(row.key.at)] += row.types.values()
    summed = {start: over_fips(packed, fip_id) for start, packed in found.items()}
    return {start: sums for start, sums in summed.items() if sums is not None}
