"""bench/picture: the health picture of one FIP over 30 days, and the AA x FIP matrix of today.

Loads 3 days and keeps a copy; loads the rest up to 30 days; then asks two services over
HTTP, one with 3 days and one with 30, in turns, so that what else the machine does meets
both. A day of payloads of the traffic generator is checked, written by `COPY` and summed
up by the job's own code; other days and today are that day moved in the database, sums
included. `AAS=4 FIPS=8 DAYS=4` makes it small; the figures that count are those of the
defaults, 1,000,000 rows a day (some 10 minutes, 20 GB). `KEEP=DIR` keeps what is loaded,
and asks only, when it is there already.
"""

import asyncio
import contextlib
import os
import random
import statistics
import sys
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from mudra.storage.metrics.rollups.rollups import PostgresRollups
from tests.support.people.operators import Operator, new_operator
from tests.support.service import running_service

from bench.machine import slowness, speed_note
from bench.sizes import sized
from bench.support import copy_tree, data_directory, database_kept_up, scratch
from mudra.bootstrap.config import Settings
from mudra.bootstrap.node.serve import open_store
from mudra.demo.traffic import Traffic
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.payload.report import Report, encode_report
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.metrics.rollup.rollup_service import RollupService
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.storage.database.database import Database
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.metrics.partitions import HOURS, PREVIOUS, RAW, make_partition
from mudra.storage.metrics.stored_report import lines_of

AAS = int(os.environ.get("AAS", sized(20, 1)))
FIPS = int(os.environ.get("FIPS", sized(29, 2)))
DAYS = int(os.environ.get("DAYS", sized(30, 3)))
FEW = sized(3, 2)
BUSIEST = 3000
ASKS = int(os.environ.get("ASKS", sized(60, 2)))
WARM = sized(5, 1)
STEP = sized(1, 24)
"""Of the smallest size some windows of a day do."""
DAY = timedelta(days=1)
_SUMS = "aa_id, tag, fip_id, type, blocks, counts, statuses, data_bytes, distribution, longest"
_MOVED = {
    "metrics_raw": ("window_at", "aa_id, tag, fip_id, type, counts, pxx, status, data_bytes"),
    "metrics_hour": ("at", _SUMS),
}
_OF_A_DAY = {
    "metrics_day": ("at", _SUMS),
    "metrics_received": ("at", "aa_id, tag, windows"),
}


def say(text: str) -> None:
    """Progress, apart from the figures."""
    print(f"  {datetime.now(UTC):%H:%M:%S} {text}", file=sys.stderr, flush=True)


def reports(day: datetime) -> Iterator[Report]:
    """The payloads of all AAs over one day."""
    traffic = Traffic([f"BANK-{place:03}" for place in range(FIPS)], BUSIEST)
    dice = random.Random(1)
    for place in range(0, DAY // WINDOW, STEP):
        window = day + place * WINDOW
        for aa in range(AAS):
            yield traffic.requests(f"AA-{aa:02}", window, str(uuid.uuid4()), dice)
            yield traffic.notifications(f"AA-{aa:02}", window, str(uuid.uuid4()), dice)


def copy_day(conninfo: str, day: datetime) -> int:
    """Write the raw rows and receipts of one day by COPY, with the notes that ask for sums."""
    now = day + DAY + timedelta(hours=1)
    number = 0
    with (
        psycopg.connect(conninfo) as connection,
        psycopg.connect(conninfo) as receipts,
        connection.cursor().copy(
            "COPY metrics_raw (window_at, aa_id, tag, fip_id, type, counts, pxx, status,"
            " data_bytes) FROM STDIN"
        ) as raw,
        receipts.cursor().copy(
            "COPY metrics_receipt (receipt_id, aa_id, tag, window_at, version, txn_id,"
            " content_hash, received_at, blocks, findings) FROM STDIN"
        ) as copying,
    ):
        for report in reports(day):
            checked = check_report(encode_report(report), now)
            assert isinstance(checked, CheckedReport), checked
            lines = list(lines_of(checked))
            raw.write(b"".join(lines))
            copying.write_row(
                (
                    str(uuid.uuid4()),
                    report.aa_id,
                    checked.tag.value[:3],
                    checked.window,
                    1,
                    report.txn_id,
                    checked.content_hash,
                    checked.window + WINDOW + timedelta(minutes=1),
                    len(lines),
                    "[]",
                )
            )
            number += len(lines)
    with psycopg.connect(conninfo) as connection:
        connection.execute(
            "INSERT INTO metrics_stale (grain, aa_id, tag, at) SELECT DISTINCT 'hour', aa_id, tag,"
            " date_trunc('hour', window_at, 'UTC') FROM metrics_receipt"
        )
    return number


def move(conninfo: str, day: datetime, by: timedelta, until: datetime) -> None:
    """Copy a day's rows to another one, up to `until`; of today the hours that are over."""
    end = min(day + DAY, until - by)
    hours_end = end.replace(minute=0) if end < day + DAY else end
    with psycopg.connect(conninfo) as connection:
        for table, (at, names) in (_MOVED | (_OF_A_DAY if end == day + DAY else {})).items():
            connection.execute(
                f"INSERT INTO {table} ({at}, {names}) SELECT {at} + %s, {names} FROM {table}"
                f" WHERE {at} >= %s AND {at} < %s",
                (by, day, end if table == "metrics_raw" else hours_end),
            )
        for grain, last in (("hour", hours_end), *([("day", end)] if end == day + DAY else [])):
            connection.execute(
                "INSERT INTO metrics_packed (aa_id, kind, grain, at, tag, type, version, sums)"
                " SELECT aa_id, kind, grain, at + %s, tag, type, gen_random_uuid(), sums"
                " FROM metrics_packed WHERE grain = %s AND at >= %s AND at < %s",
                (by, grain, day, last),
            )
        connection.execute(
            "INSERT INTO metrics_receipt (receipt_id, aa_id, tag, window_at, version, txn_id,"
            " content_hash, received_at, blocks, findings) SELECT gen_random_uuid(), aa_id, tag,"
            " window_at + %s, 1, txn_id, content_hash, received_at + %s, blocks, findings"
            " FROM metrics_receipt WHERE window_at >= %s AND window_at < %s",
            (by, by, day, end),
        )
        if end < day + DAY:  # what the job finds to do while a day runs
            connection.execute(
                "INSERT INTO metrics_stale (grain, aa_id, tag, at)"
                " SELECT DISTINCT 'hour', aa_id, tag, %s::timestamptz FROM metrics_receipt"
                " WHERE window_at >= %s"
                " UNION SELECT DISTINCT 'day', aa_id, tag, %s::timestamptz FROM metrics_receipt"
                " WHERE window_at >= %s",
                (hours_end + by, hours_end + by, day + by, day + by),
            )


async def partitions(conninfo: str, first: datetime, last: datetime) -> None:
    """Make the partitions of these days."""
    database = Database(conninfo, CacheInvalidation(conninfo), timedelta)
    day = first
    while day <= last:
        async with database.transaction(within_s=60.0) as transaction:
            for part in (RAW, PREVIOUS, HOURS):
                await make_partition(transaction, part, day)
        day += DAY
    await database.close()


async def make_sums(conninfo: str) -> int:
    """Make all that is stale, as the job does; gives how many sums were made."""
    database = Database(conninfo, CacheInvalidation(conninfo), timedelta)
    made = 0
    while True:
        async with database.transaction(within_s=60.0) as transaction:
            rollups = RollupService(PostgresRollups(transaction))
            stale = await rollups.next_stale(delayed=False)
            if stale is None:
                break
            await rollups.refresh(stale)
        made += 1
        if made % 200 == 0:
            say(f"{made} sums made")
    await database.close()
    return made


class Asking:
    """An operator who asks, again and again."""

    def __init__(self, operator: Operator, now: datetime) -> None:
        today = (now - WINDOW).replace(hour=0, minute=0)  # no day before its first window ended
        self._operator = operator
        month, within_an_hour = since(today - 30 * DAY), since(now - 30 * DAY + WINDOW)
        self.paths = {
            "one FIP over 30 days": ("fips", month),
            "the same, begun within an hour": ("fips", within_an_hour),
            "the same FIP again and again": ("fips", {"fipId": "BANK-001", **month}),
            "AA x FIP matrix of today": ("matrix", since(today)),
            "the same of one API": ("matrix", {"type": "fif", **since(today)}),
        }

    def milliseconds(self, name: str, turn: int) -> float:
        """How long one question takes; of one FIP it is about another one each turn.

        What was made for the same question just before is given once more.
        """
        path, query = self.paths[name]
        if path == "fips":
            query = {"fipId": f"BANK-{turn % FIPS:03}"} | query
        started = time.perf_counter()
        answer = self._operator.client.get(
            f"{self._operator.root}/operator/v1/health/{path}",
            params=query,
            headers=self._operator.headers,
        )
        assert answer.status_code == 200, answer.text
        return (time.perf_counter() - started) * 1000


def since(moment: datetime) -> dict[str, str]:
    return {"from": moment.strftime("%Y-%m-%dT%H:%M:%SZ")}


def counted(conninfo: str) -> str:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        row = connection.execute(
            "SELECT (SELECT count(*) FROM metrics_raw), (SELECT count(*) FROM metrics_hour),"
            " (SELECT count(*) FROM metrics_day),"
            " pg_size_pretty(pg_database_size(current_database()))"
        ).fetchone()
        assert row is not None
        return f"{row[0]:,} raw rows, {row[1]:,} of hours, {row[2]:,} of days, {row[3]}"


def main() -> None:
    with scratch() as directory:
        folder = Path(os.environ.get("KEEP", directory))
        loaded = folder / "loaded"
        if not loaded.exists():
            now = window_start(datetime.now(UTC))
            load(folder, now)
            loaded.write_text(now.isoformat())
        ask(folder, datetime.fromisoformat(loaded.read_text()))


def load(folder: Path, now: datetime) -> None:
    """Fill a data directory with a few days, and one with them all."""
    today = now.replace(hour=0, minute=0)
    model = today - DAY
    data_dir = data_directory(str(folder), "all")
    with contextlib.ExitStack() as stack:
        stack.enter_context(database_kept_up(data_dir))
        with open_store(Settings(data_dir=data_dir), create=True):
            say("the tables are made")
        # Without the service: its jobs would make the same sums at the same time.
        conninfo = stack.enter_context(embedded_server(data_dir))
        asyncio.run(partitions(conninfo, today - DAYS * DAY, today))
        say(f"{copy_day(conninfo, model):,} rows of {model:%Y-%m-%d} copied")
        asyncio.run(make_sums(conninfo))
        move(conninfo, model, DAY, now)
        for ago in range(2, FEW + 1):
            move(conninfo, model, (1 - ago) * DAY, now)
        asyncio.run(make_sums(conninfo))
        print(f"{FEW} days and today: {counted(conninfo)}")
    copy_tree(data_dir, folder / "few")
    with embedded_server(data_dir) as conninfo:
        for ago in range(FEW + 1, DAYS + 1):
            move(conninfo, model, (1 - ago) * DAY, now)
            say(f"day {ago} of {DAYS}")
        print(f"{DAYS} days and today: {counted(conninfo)}")


def ask(folder: Path, now: datetime) -> None:
    """Ask both in turns and print what came out."""
    with running_service(folder / "few") as few, running_service(folder / "all") as full:
        slow = slowness()
        print(speed_note(slow))
        asking = [Asking(new_operator(service, "health"), now) for service in (few, full)]
        for name in asking[0].paths:
            times = [
                [one.milliseconds(name, turn) for one in asking] for turn in range(ASKS + WARM)
            ][WARM:]
            less, more = (sorted(column) for column in zip(*times, strict=True))
            print(
                f"{name}: p95 {p95(more):.0f} ms (at most 100; {p95(more) / slow:.0f} at that"
                f" machine's speed), median"
                f" {statistics.median(more):.0f}; with {FEW} days p95 {p95(less):.0f},"
                f" median {statistics.median(less):.0f}: p95 of {DAYS} days ÷ {FEW} days"
                f" {p95(more) / p95(less):.2f} (at most 1.3)"
            )


def p95(times: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(times, n=20)[-1]


if __name__ == "__main__":
    main()
