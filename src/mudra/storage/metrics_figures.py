"""Sums for pictures: implements metrics/ports.py Figures, always true to the raw rows.

A range is put together of whole days, whole hours and single windows. Where
sums are stale, the next finer ones stand in, so that a picture never shows
less than what was acknowledged.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from mudra.metrics.catalogue import Tag
from mudra.metrics.coverage import TimeRange
from mudra.metrics.ports import Cell
from mudra.metrics.rollup import Rollup, merge_all, rollup
from mudra.storage.database import Transaction
from mudra.storage.metrics import long_tag
from mudra.storage.metrics_partitions import day_of
from mudra.storage.metrics_rollups import DAY, HOUR
from mudra.storage.metrics_sums import (
    Part,
    block_of,
    blocks_by_cell,
    cell_of,
    raw_query,
    rollup_of,
    sums_query,
)
from mudra.storage.metrics_tables import (
    metrics_day,
    metrics_hour,
    metrics_receipt,
    metrics_stale,
)

_R: Final = metrics_receipt.c


@dataclass(frozen=True, slots=True)
class Sources:
    """From which rows a range is put together; disjoint, and together the whole range."""

    days: tuple[datetime, ...]
    hours: tuple[datetime, ...]
    windows: tuple[datetime, ...]


def sources(
    within: TimeRange, stale_days: frozenset[datetime], stale_hours: frozenset[datetime]
) -> Sources:
    """Take the coarsest sums that are not stale."""
    windows = within.windows
    if not windows:
        return Sources((), (), ())
    span = TimeRange(windows[0], windows[-1] + timedelta(minutes=10))
    bad_days = stale_days | {day_of(hour) for hour in stale_hours}
    days = [day for day in _whole(span, day_of, DAY) if day not in bad_days]
    in_days = set(days)
    hours = [
        hour
        for hour in _whole(span, _hour_of, HOUR)
        if day_of(hour) not in in_days and hour not in stale_hours
    ]
    in_hours = set(hours)
    rest = [
        window
        for window in windows
        if day_of(window) not in in_days and _hour_of(window) not in in_hours
    ]
    return Sources(tuple(days), tuple(hours), tuple(rest))


class PostgresFigures:
    """Sums of any range."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def totals(
        self,
        within: TimeRange,
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
        tag: Tag | None = None,
    ) -> Mapping[Cell, Rollup]:
        """The sums of every cell that had traffic."""
        part = Part(aa_id, fip_id, tag)
        parts: dict[Cell, list[Rollup]] = defaultdict(list)
        used = await self._sources(within, aa_id)
        for table, times in ((metrics_day, used.days), (metrics_hour, used.hours)):
            if times:
                rows = await self._tx.connection.execute(sums_query(table, times, part))
                for row in rows.mappings():
                    parts[cell_of(row)].append(rollup_of(row))
        if used.windows:
            rows = await self._tx.connection.execute(raw_query(used.windows, part))
            for cell, blocks in blocks_by_cell(rows.mappings()).items():
                parts[cell].append(rollup(blocks))
        return {cell: merge_all(found) for cell, found in parts.items()}

    async def by_window(
        self, within: TimeRange, *, fip_id: str | None = None
    ) -> Mapping[datetime, Mapping[Cell, Rollup]]:
        """The same for each window, for incidents."""
        windows = within.windows
        found: dict[datetime, dict[Cell, Rollup]] = defaultdict(dict)
        if windows:
            rows = await self._tx.connection.execute(raw_query(windows, Part(fip_id=fip_id)))
            for row in rows.mappings():
                found[row["window_at"]][cell_of(row)] = rollup([block_of(row)])
        return found

    async def heard(self, within: TimeRange) -> Mapping[tuple[str, Tag], int]:
        """How many windows each AA reported, whether or not they held traffic."""
        rows = await self._tx.connection.execute(
            sa.select(_R.aa_id, _R.tag, sa.func.count())
            .where(_R.version == 1, _R.window_at >= within.start, _R.window_at < within.end)
            .group_by(_R.aa_id, _R.tag)
        )
        return {(aa_id, long_tag(tag)): count for aa_id, tag, count in rows}

    async def _sources(self, within: TimeRange, aa_id: str | None) -> Sources:
        c = metrics_stale.c
        rows = await self._tx.connection.execute(
            sa.select(c.grain, c.at)
            .distinct()
            .where(
                c.at >= day_of(within.start),
                c.at < within.end,
                c.grain != "window",
                *([c.aa_id == aa_id] if aa_id is not None else []),
            )
        )
        stale: dict[str, set[datetime]] = {"day": set(), "hour": set()}
        for grain, at in rows:
            stale[grain].add(at)
        return sources(within, frozenset(stale["day"]), frozenset(stale["hour"]))


def _hour_of(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _whole(
    span: TimeRange, start_of: Callable[[datetime], datetime], length: timedelta
) -> Iterator[datetime]:
    at = start_of(span.start)
    if at < span.start:
        at += length
    while at + length <= span.end:
        yield at
        at += length
