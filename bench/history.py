"""The reports of a network from before a benchmark began: its windows as blocks, and their sums.

One window of payloads is generated and checked; others are that window, some time earlier. The
sums of one time are made by the job's own code, and moved in the database to other times.
"""

import random
import uuid
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import psycopg
import sqlalchemy as sa

from bench.support import say
from mudra.demo.traffic import Traffic
from mudra.metrics.payload.catalogue import WINDOW, day_start, window_start
from mudra.metrics.payload.report import Report, encode_report
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.metrics.rollup.rollup_service import RollupService
from mudra.metrics.rollup.stale import DAY
from mudra.metrics.sums import report_cells
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database
from mudra.storage.metrics.blocks.grain import DERIVED, NOT, REQ, SEEN, Grain
from mudra.storage.metrics.blocks.sums.longer import make_longer
from mudra.storage.metrics.blocks.sums.refresh import BlockSums
from mudra.storage.metrics.blocks.writing import Series, put, report_rows
from mudra.storage.metrics.partitions import ALL_PARTITIONED, make_partition
from mudra.storage.metrics.stored_report import short_tag
from mudra.storage.tables.metrics import metrics_receipt, metrics_stale

_LIMIT_S = 600.0
_MOVE = (
    "INSERT INTO metrics_block (aa_id, grain, bucket, at, until, tag, version, numbers, times)"
    " SELECT aa_id, grain, bucket, at + %(by)s, until + %(by)s, tag, gen_random_uuid(), numbers,"
    " times FROM metrics_block WHERE grain = %(grain)s AND at >= %(start)s AND at < %(end)s"
    " AND tag = ANY(%(tags)s)"
)
_MOVE_RECEIPTS = (
    "INSERT INTO metrics_receipt (receipt_id, aa_id, tag, window_at, version, txn_id,"
    " content_hash, received_at, blocks, findings) SELECT gen_random_uuid(), aa_id, tag,"
    " window_at + %(by)s, 1, txn_id, content_hash, received_at + %(by)s, blocks, findings"
    " FROM metrics_receipt WHERE window_at >= %(start)s AND window_at < %(end)s"
)
_SUMS = sa.text(
    "SELECT DISTINCT aa_id, grain, tag, at FROM metrics_block WHERE grain <> 'window'"
    " AND tag IN ('req', 'not')"
)
_BUSIEST = 3000
_STEP = timedelta(hours=3)
"""Between two windows, so that the cells are of many days, each a partition."""
EVERY_TAG = (REQ, NOT, *DERIVED[REQ], *DERIVED[NOT], SEEN)


def checked(report: Report, now: datetime) -> CheckedReport:
    """Check a report that the service accepts."""
    found = check_report(encode_report(report), now)
    assert isinstance(found, CheckedReport), found
    return found


def database_of(conninfo: str) -> Database:
    """The storage of a process, without its caches."""
    return Database(conninfo, CacheInvalidation(conninfo), timedelta)


async def partitions(conninfo: str, first: datetime, last: datetime) -> None:
    """Make the partitions of these days."""
    database = database_of(conninfo)
    day = first
    while day <= last:
        async with database.transaction(within_s=_LIMIT_S) as transaction:
            for part in ALL_PARTITIONED:
                await make_partition(transaction, part, day)
        day += DAY
    await database.close()


async def put_windows(
    conninfo: str, reports: Sequence[CheckedReport], windows: Sequence[datetime]
) -> int:
    """Write the same reports for each of these windows; gives how many cells were written.

    With receipts, and the marks that ask for sums; the partitions are there.
    """
    encoded = [(one, report_cells.encode_report(one)) for one in reports]
    cells = sum(_cells(one) for one in reports)
    database = database_of(conninfo)
    for window in windows:
        rows = [
            row
            for one, buckets in encoded
            for row in report_rows(
                Series(one.aa_id, Grain.WINDOW, short_tag(one.tag)), window, buckets
            )
        ]
        hour = window.replace(minute=0)
        marks = [("window", "", short_tag(one.tag), window) for one in reports[:2]]
        marks += [("hour", one.aa_id, short_tag(one.tag), hour) for one in reports]
        async with database.transaction(within_s=_LIMIT_S) as transaction:
            await put(transaction, rows)
            await transaction.connection.execute(
                sa.insert(metrics_receipt), [_receipt(one, window) for one in reports]
            )
            await transaction.connection.execute(
                sa.insert(metrics_stale),
                [
                    dict(zip(("grain", "aa_id", "tag", "at"), mark, strict=True))
                    for mark in dict.fromkeys(marks)
                ],
            )
    await database.close()
    return cells * len(windows)


def newest_window(now: datetime) -> datetime:
    """The newest window of `load_windows`: the load of a benchmark pushes what is newer."""
    return window_start(now - 2 * DAY)


async def load_windows(conninfo: str, aas: Sequence[str], fips: Sequence[str], cells: int) -> int:
    """Write at least so many cells, each AA's window some hours before the one after; their number.

    For what must hold next to them. None asks for sums, so the jobs leave them alone.
    """
    window = newest_window(datetime.now(UTC))
    traffic = Traffic(fips, _BUSIEST)
    model = [
        checked(make(aa_id, window, str(uuid.uuid4()), random.Random(aa_id)), window + 2 * WINDOW)
        for aa_id in aas
        for make in (traffic.requests, traffic.notifications)
    ]
    number = -(-cells // sum(map(_cells, model)))
    windows = windows_until(window + WINDOW, number, _STEP)
    await partitions(conninfo, day_start(windows[-1]), day_start(datetime.now(UTC)))
    made = await put_windows(conninfo, model, windows)
    async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
        await connection.execute("DELETE FROM metrics_stale")
        await connection.execute("VACUUM ANALYZE metrics_block")
    return made


def _cells(one: CheckedReport) -> int:
    return sum(len(fip.metrics) for fip in one.report.fips)


def _receipt(one: CheckedReport, window: datetime) -> dict[str, object]:
    return {
        "receipt_id": str(uuid.uuid4()),
        "aa_id": one.aa_id,
        "tag": short_tag(one.tag),
        "window_at": window,
        "version": 1,
        "txn_id": str(uuid.uuid4()),
        "content_hash": one.content_hash,
        "received_at": window + WINDOW + timedelta(minutes=1),
        "blocks": _cells(one),
        "findings": [],
    }


async def make_sums(conninfo: str, *, only_of_aas: bool = False) -> int:
    """Make all that is stale, as the job does, or the hours of each AA; gives how many."""
    database = database_of(conninfo)
    made = 0
    while True:
        async with database.transaction(within_s=_LIMIT_S) as transaction:
            sums = RollupService(BlockSums(transaction))
            stale = await sums.next_stale(delayed=False)
            if stale is None or (only_of_aas and not stale.aa_id):
                break
            await sums.refresh(stale)
        made += 1
        if made % 100 == 0:
            say(f"{made} sums made")
    await database.close()
    return made


async def make_all_longer(conninfo: str) -> int:
    """Make the sums of several hours and days of all that was moved; gives of how many series."""
    database = database_of(conninfo)
    async with database.transaction(within_s=_LIMIT_S) as transaction:
        rows = await transaction.connection.execute(_SUMS)
        found: dict[Series, list[datetime]] = defaultdict(list)
        for aa_id, grain, tag, at in rows:
            found[Series(aa_id, Grain(grain), tag)].append(at)
    for series, ats in found.items():
        async with database.transaction(within_s=_LIMIT_S) as transaction:
            await make_longer(transaction, series, ats)
    await database.close()
    return len(found)


def move_sums(
    connection: psycopg.Connection[tuple[object, ...]],
    grain: str,
    times: tuple[datetime, datetime],
    by: timedelta,
    tags: Sequence[str] = EVERY_TAG,
) -> None:
    """Let other times have the sums of these, with the receipts of hours."""
    named = {"grain": grain, "start": times[0], "end": times[1], "by": by, "tags": list(tags)}
    connection.execute(_MOVE, named)
    if grain == "hour":
        connection.execute(_MOVE_RECEIPTS, named)
    if grain == "day":
        connection.execute(
            "INSERT INTO metrics_received (at, aa_id, tag, windows)"
            " SELECT DISTINCT %s::timestamptz, aa_id, tag, 144 FROM metrics_receipt",
            (times[0] + by,),
        )


def keep_sums(connection: psycopg.Connection[tuple[object, ...]], now: datetime) -> None:
    """Let sums without reports stay: today is no whole day yet, and no job compares them."""
    connection.execute(
        "INSERT INTO metrics_stale (grain, aa_id, tag, at)"
        " SELECT DISTINCT 'day', aa_id, tag, %(day)s::timestamptz FROM metrics_receipt"
        " UNION SELECT DISTINCT 'day', '', tag, %(day)s::timestamptz FROM metrics_receipt",
        {"day": day_start(now)},
    )
    connection.execute(
        "INSERT INTO job_run (name, slot, started_at, finished_at)"
        " SELECT 'metrics-recount', date_bin('1 day', now(), '2000-01-01Z') + interval '1 day',"
        " now(), now() ON CONFLICT (name) DO UPDATE SET slot = EXCLUDED.slot"
    )


def ask_for_sums(connection: psycopg.Connection[tuple[object, ...]], hour: datetime) -> None:
    """Let the service make the sums over all AAs of an hour again, as it does after each hour."""
    connection.execute(
        "INSERT INTO metrics_stale (grain, aa_id, tag, at)"
        " SELECT DISTINCT 'hour', '', tag, %s::timestamptz FROM metrics_receipt",
        (hour,),
    )


def windows_until(end: datetime, number: int, step: timedelta = WINDOW) -> list[datetime]:
    """Returns so many windows, the last of which ends at `end`, with a step between them."""
    return [end - WINDOW - place * step for place in range(number)]
