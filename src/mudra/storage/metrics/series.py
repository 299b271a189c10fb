"""Sums for charts: implements metrics/ports.py Series, with one query for each grain.

The coarsest sums that fit into a step are used; where they are stale, or the range
cuts them, the next finer rows replace them, so that a chart shows every acknowledged push.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, cast

import sqlalchemy as sa
from msgspec import Struct

from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.report import Block
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.rollup import Rollup, merge_all, rollup
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.metrics.rollup.step import Step, day_start, starts
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.sums import (
    Part,
    Row,
    block_of,
    merged,
    raw_query,
    sums_query,
    within_times,
)
from mudra.storage.metrics.tables import metrics_day, metrics_hour, metrics_stale

_S: Final = metrics_stale.c


class Grains(Struct, frozen=True):
    """The rows of a chart: disjoint, and together the whole range."""

    days: tuple[datetime, ...]
    hours: tuple[datetime, ...]
    windows: tuple[datetime, ...]


def grains(
    within: TimeRange, step: Step, stale_days: Iterable[datetime], stale_hours: Iterable[datetime]
) -> Grains:
    """Selects the rows for a range."""
    bad_hours = frozenset(stale_hours)
    bad_days = frozenset(stale_days) | {day_start(hour) for hour in bad_hours}
    days, left = _whole(within, Step.DAY, bad_days) if step is Step.DAY else ((), (within,))
    if step is Step.WINDOW:
        return Grains((), (), within.windows)
    hours: list[datetime] = []
    windows: list[datetime] = []
    for part in left:
        found, rest = _whole(part, Step.HOUR, bad_hours)
        hours += found
        windows += [window for one in rest for window in one.windows]
    return Grains(days, tuple(hours), tuple(windows))


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
        if used.windows:
            blocks: dict[datetime, list[Block]] = defaultdict(list)
            raw = await self._tx.connection.execute(raw_query(used.windows, part))
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


def _whole(
    within: TimeRange, step: Step, stale: frozenset[datetime]
) -> tuple[tuple[datetime, ...], tuple[TimeRange, ...]]:
    """Returns the whole steps of a range with valid sums, and what is left of it."""
    good: list[datetime] = []
    left: list[TimeRange] = []
    for start in starts(within, step):
        end = start + step.value
        if start >= within.start and end <= within.end and start not in stale:
            good.append(start)
        else:
            left.append(TimeRange(max(start, within.start), min(end, within.end)))
    return tuple(good), tuple(left)
