"""Makes the sums of hours and days anew from the raw rows, wherever they are stale.

Every push leaves a note in `metrics_stale` with its raw rows. A note is read
before the raw rows and deleted with the new sums: a push that commits in
between leaves its own note and the hour is made once more. Notes are only
added and deleted, so that pushes and this job never wait for each other.

The hour of an AA is made as soon as anything came, also while it runs: its row
then holds what was heard so far. What is made of many such rows (days, and the
sums over all AAs, whose `aa_id` is empty) waits until the time is over.
"""

from dataclasses import astuple, dataclass, fields
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from mudra.metrics.catalogue import TIMINGS, Tag
from mudra.metrics.coverage import TimeRange
from mudra.metrics.pair import ALL_CALLS, PairSums, add_pairs, pair_sums
from mudra.metrics.ports import Cell
from mudra.metrics.rollup import Rollup, coarse, rollup
from mudra.storage.database import Transaction
from mudra.storage.metrics import long_tag, short_tag
from mudra.storage.metrics_partitions import HOURS, PAIR_HOURS, day_of, make_partition
from mudra.storage.metrics_sums import (
    ALL_AAS,
    SUMS,
    Part,
    blocks_by_cell,
    bounded,
    copy_in,
    raw_query,
    row_of,
    sums_by_cell,
    sums_query,
    within_times,
)
from mudra.storage.metrics_tables import (
    metrics_day,
    metrics_heard,
    metrics_hour,
    metrics_pair_day,
    metrics_pair_hour,
    metrics_receipt,
    metrics_stale,
)

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
SETTLED_AFTER: Final = timedelta(minutes=5)
"""Agents push a window within minutes of its end; sums of sums are made once most have come."""
WORK_S: Final = 60.0
_STALE: Final = metrics_stale.c
_PAIR: Final = ("at", "type", "aa_id", "fip_id", *(field.name for field in fields(PairSums)))
_TABLES: Final = {"hour": metrics_hour, "day": metrics_day}
_TIMING_CODES: Final = frozenset(str(code) for code in TIMINGS)


@dataclass(frozen=True, slots=True)
class Stale:
    """An hour or a day of one AA (or of all) and tag whose sums must be made anew."""

    grain: str
    aa_id: str
    tag: Tag
    at: datetime


async def next_stale(tx: Transaction) -> Stale | None:
    """The oldest that may be made; hours before days, each AA's before those of all."""
    now = await tx.now()
    of_all = sa.case((_STALE.aa_id == ALL_AAS, 1), else_=0)
    length = sa.case((_STALE.grain == "day", sa.literal(DAY)), else_=sa.literal(HOUR))
    running = sa.and_(_STALE.grain == "hour", _STALE.aa_id != ALL_AAS)
    row = (
        await tx.connection.execute(
            sa.select(_STALE.grain, _STALE.aa_id, _STALE.tag, _STALE.at)
            .where(
                _STALE.grain != "window",
                sa.or_(running, _STALE.at + length <= now - SETTLED_AFTER),
            )
            .order_by(_STALE.grain.desc(), of_all, _STALE.at, _STALE.id)
            .limit(1)
        )
    ).first()
    return Stale(row[0], row[1], long_tag(row[2]), row[3]) if row else None


async def make_anew(tx: Transaction, stale: Stale) -> None:
    """Make the sums of one stale hour or day; one process at a time for each."""
    await tx.connection.execute(sa.text(f"SET LOCAL statement_timeout = '{WORK_S:.0f}s'"))
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
    if stale.aa_id == ALL_AAS:
        await _make_all(tx, stale)
    elif stale.grain == "hour":
        await _make_hour(tx, stale)
        await _note(tx, "hour", ALL_AAS, stale.tag, stale.at)
        await _note(tx, "day", stale.aa_id, stale.tag, day_of(stale.at))
    else:
        await _make_day(tx, stale)
        await _note(tx, "day", ALL_AAS, stale.tag, stale.at)
    await tx.connection.execute(sa.delete(metrics_stale).where(_STALE.id.in_(heeded)))


async def _make_hour(tx: Transaction, stale: Stale) -> None:
    for part in (HOURS, PAIR_HOURS):
        await make_partition(tx, part, stale.at)
    windows = TimeRange(stale.at, stale.at + HOUR).windows
    rows = await tx.connection.execute(raw_query(windows, Part(stale.aa_id, tag=stale.tag)))
    cells = blocks_by_cell(rows.mappings())
    made = {cell: coarse(rollup(blocks)) for cell, blocks in cells.items()}
    await _put(tx, metrics_hour, stale, made)
    await _put_pairs(tx, metrics_pair_hour, stale, made)


async def _make_day(tx: Transaction, stale: Stale) -> None:
    hours = [stale.at + place * HOUR for place in range(DAY // HOUR)]
    query = sums_query(
        metrics_hour, within_times(metrics_hour.c.at, hours), Part(stale.aa_id, tag=stale.tag)
    )
    made = sums_by_cell(await tx.connection.execute(query))
    await _put(tx, metrics_day, stale, made)
    await _put_pairs(tx, metrics_pair_day, stale, made)
    await _put_heard(tx, stale)


async def _make_all(tx: Transaction, stale: Stale) -> None:
    """Add up the rows of all AAs for the same time."""
    table = _TABLES[stale.grain]
    query = sums_query(table, table.c.at == stale.at, Part(tag=stale.tag))
    made = sums_by_cell(await tx.connection.execute(query), over_aas=True)
    await _put(tx, table, stale, made)


async def _put(tx: Transaction, table: sa.Table, stale: Stale, made: dict[Cell, Rollup]) -> None:
    await tx.connection.execute(
        sa.delete(table).where(table.c.at == stale.at, *Part(stale.aa_id, tag=stale.tag).of(table))
    )
    # In order of FIPs: a picture of one reads rows that lie together.
    ordered = sorted(made.items(), key=lambda one: (one[0].fip_id, one[0].type))
    await copy_in(tx, table, SUMS, (row_of(stale.at, *one) for one in ordered))


async def _put_pairs(
    tx: Transaction, table: sa.Table, stale: Stale, made: dict[Cell, Rollup]
) -> None:
    if stale.tag is not Tag.REQUESTS:
        return
    pairs: dict[tuple[str, str], PairSums] = {}
    for cell, sums in made.items():
        if cell.type in _TIMING_CODES:
            continue
        one = pairs[(cell.type, cell.fip_id)] = pair_sums(sums)
        all_calls = pairs.get((ALL_CALLS, cell.fip_id))
        pairs[(ALL_CALLS, cell.fip_id)] = add_pairs(all_calls, one) if all_calls else one
    await tx.connection.execute(
        sa.delete(table).where(table.c.at == stale.at, table.c.aa_id == stale.aa_id)
    )
    await copy_in(
        tx,
        table,
        _PAIR,
        (
            (stale.at, code, stale.aa_id, fip_id, *bounded(astuple(sums)))
            for (code, fip_id), sums in sorted(pairs.items())
        ),
    )


async def _put_heard(tx: Transaction, stale: Stale) -> None:
    c, tag = metrics_heard.c, short_tag(stale.tag)
    r = metrics_receipt.c
    await tx.connection.execute(
        sa.delete(metrics_heard).where(c.at == stale.at, c.aa_id == stale.aa_id, c.tag == tag)
    )
    await tx.connection.execute(
        sa.insert(metrics_heard).from_select(
            ["at", "aa_id", "tag", "windows"],
            sa.select(
                sa.literal(stale.at), sa.literal(stale.aa_id), sa.literal(tag), sa.func.count()
            ).where(
                r.aa_id == stale.aa_id,
                r.tag == tag,
                r.version == 1,
                r.window_at >= stale.at,
                r.window_at < stale.at + DAY,
            ),
        )
    )


async def _note(tx: Transaction, grain: str, aa_id: str, tag: Tag, at: datetime) -> None:
    await tx.connection.execute(
        sa.insert(metrics_stale).values(grain=grain, aa_id=aa_id, tag=short_tag(tag), at=at)
    )
