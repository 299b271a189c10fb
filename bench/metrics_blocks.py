"""Metrics in blocks at a nation's size: bytes, log, and CPU next to `json.loads` and a bare COPY.

    python -m bench.metrics_blocks [AAS] [FIPS]

Each figure is a ratio within this run, or bytes; its goal is printed next to it. CPU is that of
this process and of PostgreSQL together. A push goes from checked structs to commit; questions go
from SQL to rows of numbers. Memory is how far a question raised what this process held. `ONLY=hour`
measures the sums of an hour alone.
"""

import asyncio
import json
import math
import os
import random
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from msgspec.structs import replace

from bench.bare_rows import CREATE, lines_of
from bench.history import (
    checked,
    database_of,
    make_all_longer,
    make_sums,
    move_sums,
    partitions,
    put_windows,
    windows_until,
)
from bench.sizes import argument, exit_code, sized
from bench.support import cpu_of_tree, data_directory, peak_rss_mb, postmaster, rss_mb, say, scratch
from mudra.bootstrap.node.serve import open_store
from mudra.demo.traffic import Traffic
from mudra.metrics.payload.catalogue import CALL_CODES, WINDOW, day_start
from mudra.metrics.payload.report import RequestMetrics, encode_report
from mudra.metrics.payload.validation import CheckedReport
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.stale import DAY, HOUR
from mudra.metrics.sums import report_cells
from mudra.metrics.sums.adding import joined
from mudra.metrics.sums.totals import Totals
from mudra.settings.settings import Settings
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.metrics.blocks.grain import Grain, Tier
from mudra.storage.metrics.blocks.questions import BlockQuestions
from mudra.storage.metrics.blocks.sums.longer import make_longer
from mudra.storage.metrics.blocks.sums.settling import Unsettled, settle
from mudra.storage.metrics.blocks.writing import Series, put, report_rows
from mudra.storage.metrics.partitions import month_of

AAS = int(argument(1, 20, 2))
FIPS = int(argument(2, 2000, 4))
BUSIEST = 300
"""Calls of the busiest pair in the busiest window: 40 in an average cell."""
PUSHES = sized(12, 2)
WINDOWS_OF_A_DAY = sized(144, 2)
"""Of less than a day, the fixed pages of a partition would count for a tenth of it."""
HOURS = 6
"""Hours that are summed by the job's code: those of the longest sum, so that each hour counts with
its share of the sums of two and of six hours."""
DAYS = sized(30, 2)
_SIZE = (
    "SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(%s::regclass) WHERE isleaf"
)


class Figures:
    """A measured figure next to its goal."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def add(self, name: str, found: float, goal: float) -> None:
        """Print a figure."""
        if found > goal:
            self.missed.append(name)
        print(f"{name:58}{found:9.2f}  (goal {goal:g}){'' if found <= goal else '  missed'}",
              flush=True)  # fmt: skip


class Bench:
    """A database with blocks."""

    def __init__(self, conninfo: str, data_dir: Path) -> None:
        self.conninfo, self._server = conninfo, postmaster(data_dir)

    async def cpu(self, act: Callable[[], Awaitable[object]]) -> float:
        """CPU seconds of this process and PostgreSQL."""
        own, there = time.process_time(), cpu_of_tree(self._server)
        await act()
        return time.process_time() - own + cpu_of_tree(self._server) - there

    def scalar(self, query: str, *values: object) -> int:
        """One number of the database."""
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            found = connection.execute(query, values).fetchone()
        return int(found[0] or 0) if found else 0

    def log(self) -> int:
        """Bytes of write-ahead log so far."""
        return self.scalar("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")


def body_of(fips: int, window: datetime, share: float = 1.0) -> RequestMetrics:
    """Request metrics of so many FIPs: of every type, or of a share of them."""
    dice = random.Random(fips)
    traffic = Traffic([f"BANK-{place:04}" for place in range(fips)], BUSIEST)
    made = traffic.requests("AA-00", window, str(uuid.uuid4()), dice)
    thinner = (
        replace(fip, metrics=tuple(one for one in fip.metrics if dice.random() < share))
        for fip in made.fips
    )
    return replace(made, fips=tuple(fip for fip in thinner if fip.metrics))


def cells_of(one: CheckedReport) -> int:
    """The blocks of a report."""
    return sum(len(fip.metrics) for fip in one.report.fips)


def loads_s(body: bytes) -> float:
    """CPU seconds of `json.loads` of a body: the least of some."""
    found = []
    for _ in range(sized(9, 1)):
        began = time.process_time()
        json.loads(body)
        found.append(time.process_time() - began)
    return min(found)


async def pushes(bench: Bench, figures: Figures, fips: int, end: datetime) -> None:
    """Push reports of so many FIPs, one a window."""
    window = end - WINDOW
    body = encode_report(body_of(fips, window))
    report = checked(body_of(fips, window), end + WINDOW)
    cells = cells_of(report)
    database = database_of(bench.conninfo)
    series = Series(f"PUSH-{fips}", Grain.WINDOW, "req")

    async def push(windows: Sequence[datetime]) -> None:
        for at in windows:
            async with database.transaction() as transaction:
                await put(transaction, report_rows(series, at, report_cells.encode_report(report)))

    await push(windows_until(end, 2))  # what is first needed is loaded
    windows = windows_until(end - 2 * WINDOW, PUSHES)
    log = bench.log()
    used = await bench.cpu(lambda: push(windows)) / PUSHES
    log = bench.log() - log
    with psycopg.connect(bench.conninfo, autocommit=True) as connection:
        connection.execute(CREATE)
    lines, old = lines_of(report), window.isoformat().encode()
    rows = [lines.replace(old, at.isoformat().encode()) for at in windows]

    async def copy_rows() -> None:
        for one in rows:
            async with (
                database.transaction() as transaction,
                transaction.copying("COPY bare_rows FROM STDIN") as copy,
            ):
                await copy.write(one)

    bare = await bench.cpu(copy_rows) / PUSHES
    with psycopg.connect(bench.conninfo, autocommit=True) as connection:
        connection.execute("DROP TABLE bare_rows")
    await database.close()
    figures.add(f"push of {cells:,} cells ÷ bare COPY", used / bare, 0.6 if fips > 100 else 0.9)
    if fips > 100:
        figures.add("the same ÷ json.loads of its body", used / loads_s(body), 1.5)
        figures.add("write-ahead log of a pushed cell, bytes", log / PUSHES / cells, 7)


async def sizes(bench: Bench, figures: Figures, day: datetime) -> None:
    """Store a day of one AA, full and of a quarter, in partitions of their own."""
    for name, share, goal in (("full", 1.0, 6.0), ("a quarter", 0.25, 12.0)):
        window = day + (0 if share == 1.0 else 1) * DAY
        report = checked(body_of(FIPS, window, share), window + 2 * WINDOW)
        await partitions(bench.conninfo, window, window)
        windows = [window + place * WINDOW for place in range(WINDOWS_OF_A_DAY)]
        cells = await put_windows(bench.conninfo, [report], windows)
        leaf = f"metrics_block_window_{window:%Y%m%d}"
        size = bench.scalar("SELECT pg_total_relation_size(%s::regclass)", leaf)
        figures.add(f"bytes of a cell of a window, {name}", size / cells, goal)
    with psycopg.connect(bench.conninfo, autocommit=True) as connection:
        connection.execute("DELETE FROM metrics_stale")
        connection.execute("DELETE FROM metrics_receipt")


async def hours(bench: Bench, figures: Figures, today: datetime) -> int:
    """Load some hours of all AAs and sum them; gives the cells of a window."""
    day = today - DAY
    await partitions(bench.conninfo, today - (DAYS + 1) * DAY, today)
    windows = [day + place * WINDOW for place in range(HOURS * 6)]
    traffic, dice = Traffic([f"BANK-{n:04}" for n in range(FIPS)], BUSIEST), random.Random(1)
    reports = [
        checked(make(f"AA-{place:02}", day, str(uuid.uuid4()), dice), day + 3 * WINDOW)
        for place in range(AAS)
        for make in (traffic.requests, traffic.notifications)
    ]
    body = encode_report(traffic.requests("AA-00", day, str(uuid.uuid4()), dice))
    cells = await put_windows(bench.conninfo, reports, windows) // len(windows)
    with psycopg.connect(bench.conninfo, autocommit=True) as connection:
        marks = "DELETE FROM metrics_stale WHERE grain = 'window'"
        connection.execute(marks)
    used = await bench.cpu(lambda: make_sums(bench.conninfo, only_of_aas=True))
    ratio = used / AAS / HOURS / (6 * loads_s(body) * cells / AAS / cells_of(reports[0]))
    figures.add("sums of an hour ÷ json.loads of its six bodies", ratio, 1.5)
    return cells


async def load(bench: Bench, figures: Figures, today: datetime) -> None:
    """Load some hours of all AAs and sum them; then a day of these, and a month of such days."""
    day = today - DAY
    cells = await hours(bench, figures, today)
    await make_sums(bench.conninfo)
    with psycopg.connect(bench.conninfo, autocommit=True) as connection:
        for place in range(HOURS, 24, HOURS):
            move_sums(connection, "hour", (day, day + HOURS * HOUR), place * HOUR)
        connection.execute(
            "INSERT INTO metrics_stale (grain, aa_id, tag, at)"
            " SELECT DISTINCT 'day', aa_id, tag, %s::timestamptz FROM metrics_receipt",
            (day,),
        )
    await make_sums(bench.conninfo)
    with psycopg.connect(bench.conninfo, autocommit=True) as connection:
        for ago in range(1, DAYS):
            move_sums(connection, "day", (day, today), -ago * DAY)
        connection.execute("DELETE FROM metrics_stale")
    await make_all_longer(bench.conninfo)
    with psycopg.connect(bench.conninfo, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    days = [today - ago * DAY for ago in range(1, DAYS + 1)]
    for grain, first, goal in (
        (Grain.HOUR, [day + n * HOUR for n in range(24)], 15.0),
        (Grain.DAY, days, 40.0),
    ):
        size = bench.scalar(_SIZE, f"metrics_block_{grain.value}")
        number = with_longer(grain, first) * (cells + cells / AAS)
        figures.add(f"bytes of a cell of a {grain.value}", size / number, goal)
    say("loaded")


def with_longer(grain: Grain, times: Sequence[datetime]) -> int:
    """Count the sums of these times, and the longer sums with such a time that are over."""
    spans = {(tier, *grain.longer(tier, at)) for tier in Tier for at in times}
    now = datetime.now(UTC)
    return len(times) + sum(1 for *_, end in spans if end <= now)


async def _heard(questions: BlockQuestions, window: datetime) -> Totals:
    reported = await questions.heard(window, lambda cells: cells)
    return Totals(joined(reported.blocks), reported.ids)


async def _contested(questions: BlockQuestions, day: TimeRange) -> Totals:
    return await questions.contested(day, CALL_CODES, await questions.over_aas(day))


async def questions(bench: Bench, figures: Figures, today: datetime) -> None:
    """Ask, and compare with `json.loads` of one body of all FIPs."""
    body = encode_report(body_of(2000 if FIPS > 100 else FIPS, today - DAY))
    base = loads_s(body)
    day = TimeRange(today - DAY + 6 * WINDOW, today)
    last = TimeRange(today - DAY, today - DAY + WINDOW)
    month = TimeRange(today - DAYS * DAY, today)
    asked: Sequence[tuple[str, Callable[[BlockQuestions], Awaitable[Totals]], float, float]] = (
        ("last window, as reported", lambda q: _heard(q, last.start), math.inf, 250),
        ("one AA by FIP, 24 h", lambda q: q.totals(day, aa_id="AA-00"), 20, 120),
        ("all FIPs by API, 24 h", lambda q: q.over_aas(day), 40, 120),
        ("matrix of 24 h", lambda q: q.calls_of_pairs(day), 20, 120),
        ("rows by AA, 30 days", lambda q: q.of_aas(month), 40, 120),
        ("what most AAs say, 24 h", lambda q: _contested(q, day), 20, 120),
        ("one FIP, 30 days by AA", lambda q: q.totals(month, fip_id="BANK-0001"), 15, 120),
    )
    for name, question, goal, memory in asked:
        used, grown = await ask(bench, question)
        figures.add(f"{name} ÷ json.loads", used / base, goal)
        figures.add("    memory in MB", grown, memory)
    await settle_days(bench, month)
    used, _ = await ask(bench, asked[-1][1])
    figures.add(f"{asked[-1][0]}, settled ÷ json.loads", used / base, 2.5)


async def ask(
    bench: Bench, question: Callable[[BlockQuestions], Awaitable[Totals]]
) -> tuple[float, float]:
    """CPU seconds of a question, the least of some, and the MB by which it raised the memory."""
    database = database_of(bench.conninfo)

    async def once() -> None:
        async with database.transaction(within_s=600) as transaction:
            await question(BlockQuestions(transaction))

    forget_peak()
    own, before = os.getpid(), rss_mb(os.getpid())
    used = [await bench.cpu(once) for _ in range(sized(3, 1))]
    await database.close()
    return min(used), peak_rss_mb(own) - before


def forget_peak() -> None:
    """Let the most memory of this process begin again, proc(5)."""
    Path("/proc/self/clear_refs").write_text("5")


async def settle_days(bench: Bench, month: TimeRange) -> None:
    """Lay out by FIP the days of each AA, as the job does when no report can change them."""
    database = database_of(bench.conninfo)
    for begin in {month_of(month.start), month_of(month.end - DAY)}:
        for place in range(AAS):
            for tag in ("req", "not"):
                series = Series(f"AA-{place:02}", Grain.DAY, tag)
                async with database.transaction(within_s=600) as transaction:
                    times = await settle(transaction, Unsettled(series, begin))
                    await make_longer(transaction, series, times)
    await database.close()


async def measured(bench: Bench, now: datetime) -> Figures:
    """Everything, with the goals that were missed."""
    figures, today = Figures(), day_start(now)
    if os.environ.get("ONLY") == "hour":
        await hours(bench, figures, today)
        return figures
    await sizes(bench, figures, today - 300 * DAY)
    await partitions(bench.conninfo, today - 400 * DAY, today - 398 * DAY)
    for fips in (FIPS, 40):
        await pushes(bench, figures, fips, today - 398 * DAY)
    await load(bench, figures, today)
    await questions(bench, figures, today)
    return figures


def main() -> int:
    """Measure and print; 1 when a goal is missed."""
    with scratch() as folder:
        data_dir = data_directory(folder)
        with (
            open_store(Settings(data_dir=data_dir), create=True),
            embedded_server(data_dir) as conninfo,
        ):
            bench = Bench(conninfo, data_dir)
            figures = asyncio.run(measured(bench, datetime.now(UTC)))
    print(f"{AAS} AAs x {FIPS} FIPs; goals missed: {figures.missed}")
    return exit_code(met=not figures.missed)


if __name__ == "__main__":
    sys.exit(main())
