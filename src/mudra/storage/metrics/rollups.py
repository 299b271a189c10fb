"""Makes the sums of hours and days anew from the raw rows, wherever they are stale.

Every push leaves a note in `metrics_stale` with its raw rows. A note is read
before the raw rows and deleted with the new sums: a push that commits in
between leaves its own note and the hour is made once more. Notes are only
added and deleted, so that pushes and this job never wait for each other.

The hour of an AA is made as soon as anything came, also while it runs: its row
then holds what was heard so far. What is made of many such rows (days, and the
sums over all AAs, whose `aa_id` is empty) waits until the time is over.
"""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Final

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import astuple, fields, replace
from sqlalchemy.engine import RowMapping

from mudra.metrics.payload.catalogue import TIMINGS, Tag
from mudra.metrics.ports import Cell
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.pair import ALL_CALLS, PairSums, add_pairs, pair_sums
from mudra.metrics.rollup.rollup import Rollup, coarse, rollup
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.partitions import HOURS, PAIR_HOURS, day_of, make_partition
from mudra.storage.metrics.reports import long_tag, short_tag
from mudra.storage.metrics.rollup_delay import LIVE, MAX_LENGTH, MAX_OF_MANY, ripe
from mudra.storage.metrics.sums import (
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
from mudra.storage.metrics.tables import (
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
MAX_TOGETHER: Final = 20_000
"""Raw rows whose hours are summed in one transaction: a second of work or two."""
_STALE: Final = metrics_stale.c
_PAIR: Final = ("at", "type", "aa_id", "fip_id", *(field.name for field in fields(PairSums)))
_TABLES: Final = {"hour": metrics_hour, "day": metrics_day}
_TIMING_CODES: Final = frozenset(str(code) for code in TIMINGS)


class Stale(Struct, frozen=True):
    """Hours of one day, or a day, of one AA (or of all) and tag whose sums must be made anew."""

    grain: str
    aa_id: str
    tag: Tag
    ats: tuple[datetime, ...]
    """Their beginnings, the oldest first."""


Made = Mapping[datetime, Mapping[Cell, Rollup]]
"""Sums by the beginning of their hour or day."""


async def next_stale(tx: Transaction, *, patient: bool = False) -> Stale | None:
    """What to make next: what is live, then hours before days, each AA's before those of all.

    Hours of one day come together, as long as they are made of few raw rows: each
    transaction costs as much as the sums of a small hour, and a past is filled by days.
    With `patient` what is still arriving waits (storage/metrics/rollup_delay.py).
    """
    now = await tx.now()
    wanted = sa.and_(_STALE.grain != "window", _over(now))
    notes = _notes(wanted, now)
    c, first = notes.c, sa.func.min(notes.c.at)
    row = (
        await tx.connection.execute(
            sa.select(c.grain, c.aa_id, c.tag, first, c.live)
            .group_by(c.grain, c.aa_id, c.tag, c.day, c.live)
            .having(ripe(notes) if patient else sa.true())
            .order_by(c.live.desc(), c.grain.desc(), c.aa_id == ALL_AAS, first)
            .limit(1)
        )
    ).first()
    if row is None:
        return None
    grain, aa_id, tag, begin, live = row
    if grain == "day":
        return Stale(grain, aa_id, long_tag(tag), (begin,))
    hours = await tx.connection.scalars(
        sa.select(c.at)
        .where(
            c.grain == grain,
            c.aa_id == aa_id,
            c.tag == tag,
            c.at >= begin,
            c.at < day_of(begin) + DAY,
            c.live == live,
        )
        .distinct()
        .order_by(c.at)
    )
    return await _light(tx, Stale(grain, aa_id, long_tag(tag), tuple(hours)))


def _notes(wanted: sa.ColumnElement[bool], now: datetime) -> sa.Subquery:
    """Notes with their day, whether they are live, and how long they may wait."""
    of_one = sa.and_(_STALE.grain == "hour", _STALE.aa_id != ALL_AAS)
    return (
        sa.select(
            *(_STALE.grain, _STALE.aa_id, _STALE.tag, _STALE.at, _STALE.noted_at),
            sa.func.date_trunc("day", _STALE.at, "UTC").label("day"),
            sa.and_(of_one, _STALE.at > now - LIVE).label("live"),
            sa.case((of_one, sa.literal(MAX_LENGTH)), else_=sa.literal(MAX_OF_MANY)).label(
                "longest"
            ),
        )
        .where(wanted)
        .subquery()
    )


def _over(now: datetime) -> sa.ColumnElement[bool]:
    """Whether sums can be made: an AA's hour while it runs, all else when the time is over."""
    length = sa.case((_STALE.grain == "day", sa.literal(DAY)), else_=sa.literal(HOUR))
    running = sa.and_(_STALE.grain == "hour", _STALE.aa_id != ALL_AAS)
    return sa.or_(running, _STALE.at + length <= now - SETTLED_AFTER)


async def _light(tx: Transaction, stale: Stale) -> Stale:
    """As many of the hours, the oldest first, as are made of few raw rows; one at least."""
    if len(stale.ats) == 1:
        return stale
    r = metrics_receipt.c
    of_aa = [] if stale.aa_id == ALL_AAS else [r.aa_id == stale.aa_id]
    hour = sa.func.date_trunc("hour", r.window_at, "UTC")
    blocks = await tx.connection.execute(
        sa.select(hour, sa.func.sum(r.blocks))
        .where(
            r.tag == short_tag(stale.tag),
            r.window_at >= stale.ats[0],
            r.window_at < stale.ats[-1] + HOUR,
            *of_aa,
        )
        .group_by(hour)
    )
    weight = {at: int(number) for at, number in blocks}
    total, taken = 0, 0
    for at in stale.ats:
        total += weight.get(at, 0)
        if taken and total > MAX_TOGETHER:
            break
        taken += 1
    return replace(stale, ats=stale.ats[:taken])


async def make_anew(tx: Transaction, stale: Stale) -> None:
    """Make the sums of what is stale; one process at a time for each day of an AA and tag."""
    await tx.connection.execute(sa.text(f"SET LOCAL statement_timeout = '{WORK_S:.0f}s'"))
    day = day_of(stale.ats[0])
    name = f"sums:{stale.grain}:{stale.aa_id}:{stale.tag}:{day.isoformat()}"
    await tx.connection.execute(
        sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(name, 0)))
    )
    notes = await tx.connection.scalars(
        sa.select(_STALE.id).where(
            _STALE.grain == stale.grain,
            _STALE.aa_id == stale.aa_id,
            _STALE.tag == short_tag(stale.tag),
            _STALE.at.in_(stale.ats),
        )
    )
    heeded = list(notes)
    if stale.aa_id == ALL_AAS:
        await _make_all(tx, stale)
    elif stale.grain == "hour":
        await _make_hours(tx, stale)
        await _note(tx, replace(stale, aa_id=ALL_AAS))
        await _note(tx, replace(stale, grain="day", ats=(day,)))
    else:
        await _make_day(tx, stale)
        await _note(tx, replace(stale, aa_id=ALL_AAS))
    await tx.connection.execute(sa.delete(metrics_stale).where(_STALE.id.in_(heeded)))


async def _make_hours(tx: Transaction, stale: Stale) -> None:
    for part in (HOURS, PAIR_HOURS):
        await make_partition(tx, part, stale.ats[0])
    windows = [window for at in stale.ats for window in TimeRange(at, at + HOUR).windows]
    found = await tx.connection.execute(raw_query(windows, Part(stale.aa_id, tag=stale.tag)))
    rows: dict[datetime, list[RowMapping]] = defaultdict(list)
    first = stale.ats[0]
    for row in found.mappings():
        rows[first + (row["window_at"] - first) // HOUR * HOUR].append(row)
    made = {
        at: {
            cell: coarse(rollup(blocks))
            for cell, blocks in blocks_by_cell(rows.get(at, ())).items()
        }
        for at in stale.ats
    }
    await _put(tx, metrics_hour, stale, made)
    await _put_pairs(tx, metrics_pair_hour, stale, made)


async def _make_day(tx: Transaction, stale: Stale) -> None:
    (at,) = stale.ats
    hours = [at + place * HOUR for place in range(DAY // HOUR)]
    query = sums_query(
        metrics_hour, within_times(metrics_hour.c.at, hours), Part(stale.aa_id, tag=stale.tag)
    )
    made = {at: sums_by_cell(await tx.connection.execute(query))}
    await _put(tx, metrics_day, stale, made)
    await _put_pairs(tx, metrics_pair_day, stale, made)
    await _put_heard(tx, stale, at)


async def _make_all(tx: Transaction, stale: Stale) -> None:
    """Add up the rows of all AAs for the same time."""
    table = _TABLES[stale.grain]
    made = {}
    for at in stale.ats:
        query = sums_query(table, table.c.at == at, Part(tag=stale.tag))
        made[at] = sums_by_cell(await tx.connection.execute(query), over_aas=True)
    await _put(tx, table, stale, made)


async def _put(tx: Transaction, table: sa.Table, stale: Stale, made: Made) -> None:
    await tx.connection.execute(
        sa.delete(table).where(
            table.c.at.in_(stale.ats), *Part(stale.aa_id, tag=stale.tag).of(table)
        )
    )
    # In order of FIPs: a picture of one reads rows that lie together.
    ordered = sorted(
        ((cell.fip_id, cell.type, at, cell) for at, cells in made.items() for cell in cells),
        key=itemgetter(0, 1, 2),
    )
    await copy_in(tx, table, SUMS, (row_of(at, cell, made[at][cell]) for _, _, at, cell in ordered))


async def _put_pairs(tx: Transaction, table: sa.Table, stale: Stale, made: Made) -> None:
    if stale.tag is not Tag.REQUESTS:
        return
    pairs: dict[tuple[str, str, datetime], PairSums] = {}
    for at, cells in made.items():
        for cell, sums in cells.items():
            if cell.type in _TIMING_CODES:
                continue
            one = pairs[(cell.type, cell.fip_id, at)] = pair_sums(sums)
            key = (ALL_CALLS, cell.fip_id, at)
            pairs[key] = add_pairs(pairs[key], one) if key in pairs else one
    await tx.connection.execute(
        sa.delete(table).where(table.c.at.in_(stale.ats), table.c.aa_id == stale.aa_id)
    )
    await copy_in(
        tx,
        table,
        _PAIR,
        (
            (at, code, stale.aa_id, fip_id, *bounded(astuple(sums)))
            for (code, fip_id, at), sums in sorted(pairs.items())
        ),
    )


async def _put_heard(tx: Transaction, stale: Stale, at: datetime) -> None:
    c, tag = metrics_heard.c, short_tag(stale.tag)
    r = metrics_receipt.c
    await tx.connection.execute(
        sa.delete(metrics_heard).where(c.at == at, c.aa_id == stale.aa_id, c.tag == tag)
    )
    await tx.connection.execute(
        sa.insert(metrics_heard).from_select(
            ["at", "aa_id", "tag", "windows"],
            sa.select(
                sa.literal(at), sa.literal(stale.aa_id), sa.literal(tag), sa.func.count()
            ).where(
                r.aa_id == stale.aa_id,
                r.tag == tag,
                r.version == 1,
                r.window_at >= at,
                r.window_at < at + DAY,
            ),
        )
    )


async def _note(tx: Transaction, stale: Stale) -> None:
    await tx.connection.execute(
        sa.insert(metrics_stale),
        [
            {"grain": stale.grain, "aa_id": stale.aa_id, "tag": short_tag(stale.tag), "at": at}
            for at in stale.ats
        ],
    )
