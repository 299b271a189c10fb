"""Makes the sums of hours and days anew from the raw rows, wherever they are stale.

Every push leaves a note in `metrics_stale` with its raw rows. A note is read
before the raw rows and deleted with the new sums: a push that commits in
between leaves its own note and the hour is made once more. Notes are only
added and deleted, so that pushes and this job never wait for each other.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from mudra.metrics.catalogue import Tag
from mudra.metrics.coverage import TimeRange
from mudra.metrics.rollup import coarse, merge_all, rollup
from mudra.storage.database import Transaction
from mudra.storage.metrics import long_tag, short_tag
from mudra.storage.metrics_partitions import HOURS, day_of, make_partition
from mudra.storage.metrics_sums import (
    Part,
    blocks_by_cell,
    raw_query,
    row_of,
    sums_by_cell,
    sums_query,
)
from mudra.storage.metrics_tables import metrics_day, metrics_hour, metrics_stale

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
SETTLED_AFTER: Final = timedelta(minutes=5)
"""Agents push a window within minutes of its end; sums are made once most have come."""
_WORK_TIMEOUT: Final = "60s"
_STALE: Final = metrics_stale.c


@dataclass(frozen=True, slots=True)
class Stale:
    """An hour or a day of one AA and tag whose sums must be made anew."""

    grain: str
    aa_id: str
    tag: Tag
    at: datetime


async def next_stale(tx: Transaction) -> Stale | None:
    """The oldest that is over and may be made; hours before days."""
    now = await tx.now()
    length = sa.case((_STALE.grain == "day", sa.literal(DAY)), else_=sa.literal(HOUR))
    row = (
        await tx.connection.execute(
            sa.select(_STALE.grain, _STALE.aa_id, _STALE.tag, _STALE.at)
            .where(_STALE.grain != "window", _STALE.at + length <= now - SETTLED_AFTER)
            .order_by(_STALE.grain.desc(), _STALE.at, _STALE.id)
            .limit(1)
        )
    ).first()
    return Stale(row[0], row[1], long_tag(row[2]), row[3]) if row else None


async def make_anew(tx: Transaction, stale: Stale) -> None:
    """Make the sums of one stale hour or day; one process at a time for each."""
    await tx.connection.execute(sa.text(f"SET LOCAL statement_timeout = '{_WORK_TIMEOUT}'"))
    name = f"sums:{stale.grain}:{stale.aa_id}:{stale.tag}:{stale.at.isoformat()}"
    await tx.connection.execute(
        sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(name, 0)))
    )
    notes = await tx.connection.scalars(
        sa.select(_STALE.id).where(
            _STALE.grain == stale.grain,
            _STALE.aa_id == stale.aa_id,
            _STALE.tag == short_tag(stale.tag),
            _STALE.at == stale.at,
        )
    )
    heeded = list(notes)
    if stale.grain == "hour":
        await _make_hour(tx, stale)
        await tx.connection.execute(
            sa.insert(metrics_stale).values(
                grain="day",
                aa_id=stale.aa_id,
                tag=short_tag(stale.tag),
                at=day_of(stale.at),
            )
        )
    else:
        await _make_day(tx, stale)
    await tx.connection.execute(sa.delete(metrics_stale).where(_STALE.id.in_(heeded)))


async def _make_hour(tx: Transaction, stale: Stale) -> None:
    await make_partition(tx, HOURS, stale.at)
    windows = TimeRange(stale.at, stale.at + HOUR).windows
    rows = await tx.connection.execute(raw_query(windows, Part(stale.aa_id, tag=stale.tag)))
    cells = blocks_by_cell(rows.mappings())
    made = [row_of(stale.at, cell, coarse(rollup(blocks))) for cell, blocks in cells.items()]
    await _put(tx, metrics_hour, stale, made)


async def _make_day(tx: Transaction, stale: Stale) -> None:
    hours = [stale.at + place * HOUR for place in range(DAY // HOUR)]
    rows = await tx.connection.execute(
        sums_query(metrics_hour, hours, Part(stale.aa_id, tag=stale.tag))
    )
    cells = sums_by_cell(rows.mappings())
    made = [row_of(stale.at, cell, merge_all(parts)) for cell, parts in cells.items()]
    await _put(tx, metrics_day, stale, made)


async def _put(
    tx: Transaction, table: sa.Table, stale: Stale, made: list[dict[str, object]]
) -> None:
    await tx.connection.execute(
        sa.delete(table).where(table.c.at == stale.at, *Part(stale.aa_id, tag=stale.tag).of(table))
    )
    if made:
        await tx.connection.execute(sa.insert(table), made)
