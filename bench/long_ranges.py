"""Pages over a day and a week of a network in which every AA calls every FIP by every API.

    python -m bench.long_ranges [AAS] [FIPS]

One hour of raw rows is written by `COPY` and summed by the job's own code; its sums over all AAs,
those of the matrix and those of one AA are then moved to the hours of two days before it and to
the days of a week, and what the public status reads to the days of three months. Then the public
files and the pages of a day and a week are asked, each by a worker that has read nothing before
and again by one that has, next to a client that asks for something small of the same worker, which
shows how long a page keeps its event loop.
`KEEP=DIR` keeps what is loaded, and asks only, when it is there already.
"""

import asyncio
import statistics
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from tests.support.service import Service, running_service

from bench import full_traffic
from bench.full_traffic import Page, Readers, Waiting, aa_name, admin_of, onboard_all, reports
from bench.kept_load import loaded_once, print_largest_tables
from bench.machine import slowness, speed_note
from bench.past_windows import copy_packed, copy_sums, copy_windows, keep_sums
from bench.picture import make_sums, partitions, say
from bench.sizes import exit_code, sized
from bench.support import data_directory, peak_rss_mb, worker_pids
from mudra.bootstrap.config import Settings
from mudra.bootstrap.dependencies import build_dependencies
from mudra.bootstrap.node.serve import open_store
from mudra.metrics.payload.catalogue import WINDOW, day_start, hour_start
from mudra.storage.database.embedded.server import embedded_server

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
HOURS, DAYS = sized(49, 3), sized(8, 2)
STATUS_DAYS = sized(91, 3)
"""So many days the public status has; those before `DAYS` have the packed sums that it reads."""
FIRST_MS, AGAIN_MS = 10_000.0, 3_000.0
"""At most: of a worker that has read nothing before, and of one that has, of another time."""
ASKS = sized(5, 1)
TOGETHER = sized([[place] for place in range(12)], [[0, 1, 2]])
"""The pages that one service is asked for: each by one that has read nothing before."""
NOTHING = ("No calls in this time", "No AA reported any traffic", "No API was called")


def load(folder: Path, now: datetime) -> None:
    """Fill a data directory."""
    data_dir = data_directory(str(folder))
    settings = Settings(data_dir=data_dir)
    with open_store(settings, create=True) as opened:
        asyncio.run(onboard_all(build_dependencies(settings, *opened)))
        say("members onboarded")
    hour = hour_start(now) - HOUR
    with embedded_server(data_dir) as conninfo:
        asyncio.run(partitions(conninfo, now - (DAYS + 1) * DAY, now))
        model = list(reports(hour + HOUR - WINDOW))
        say(f"{copy_windows(conninfo, model, hour + HOUR, 6):,} raw rows copied")
        say(f"{asyncio.run(make_sums(conninfo))} sums made")
        with psycopg.connect(conninfo, autocommit=True) as connection:
            for ago in range(1, HOURS):
                copy_sums(connection, hour, hour - ago * HOUR, "hour", [aa_name(0)])
            for ago in range(1, DAYS):
                copy_sums(connection, hour, day_start(hour) - ago * DAY, "day", [aa_name(0)])
            for ago in range(DAYS, STATUS_DAYS):
                copy_packed(connection, hour, day_start(hour) - ago * DAY, "day")
            connection.execute("DELETE FROM metrics_stale")
            keep_sums(connection, now)
            print_largest_tables(connection)


def pages(readers: Readers, end: datetime) -> list[Page]:
    """What is asked: each over a day and a week."""
    of, noc, aa = "/console/operator/health", readers.operator, aa_name(0)
    found = [
        readers.page("fips.json", "/status/v1/fips.json", ""),
        readers.page("status page", "/status", ""),
    ]
    for name, length in (("24 h", DAY), ("7 days", 7 * DAY)):
        start = hour_start(end - length)
        within = f"from={start:%Y-%m-%dT%H:%M:%SZ}&to={end:%Y-%m-%dT%H:%M}:SECOND"
        found += [
            readers.page(f"matrix, {name}", f"{of}?{within}", noc),
            readers.page(f"an API, {name}", f"{of}/api/fif?{within}", noc),
            readers.page(f"an AA, {name}", f"{of}/aa/{aa}?{within}", noc),
            readers.page(f"own health of an AA, {name}", f"/console/entity/{aa}/health?{within}",
                         admin_of(aa)),
            readers.page(f"health of a FIU, {name}", f"/console/entity/FIU-00/health?{within}",
                         admin_of("FIU-00")),
        ]  # fmt: skip
    return found


def ask(folder: Path, end: datetime) -> bool:
    """Ask and print; gives whether every goal was met."""
    slow = slowness()
    print(speed_note(slow))
    met = True
    for places in TOGETHER:
        with running_service(folder / "data", "--workers", "1", keeps_store=True) as service:
            found = pages(Readers(service), end)
            for place in places:
                met = measured(service, found[place], slow) and met
    return met


def measured(service: Service, page: Page, slow: float) -> bool:
    """Ask for a page and print; gives whether its goals were met."""
    with Waiting(service.root) as waiting:
        first = page.milliseconds()
    assert not page.says(*NOTHING), f"{page.name} shows nothing"
    again = statistics.median(page.milliseconds() for _ in range(ASKS))
    (worker,) = worker_pids(service.process.pid, 1)
    print(
        f"{page.name}: first ÷ {FIRST_MS / 1000:.0f} s {first / FIRST_MS:.2f}, again ÷"
        f" {AGAIN_MS / 1000:.0f} s {again / AGAIN_MS:.2f} ({first / slow / FIRST_MS:.2f} and"
        f" {again / slow / AGAIN_MS:.2f} at that machine's speed); longest wait of another"
        f" {max(waiting.took):.0f} ms; at most {peak_rss_mb(worker):.0f} MB resident",
        flush=True,
    )
    return first / slow <= FIRST_MS and again / slow <= AGAIN_MS


def main() -> int:
    """Load, ask, print; 1 when a goal is missed."""
    with loaded_once(load, hour_start(datetime.now(UTC))) as (folder, now):
        met = ask(folder, now)
    size = f"{full_traffic.AAS} AAs x {full_traffic.FIPS} FIPs"
    print(f"{size}: every goal of long ranges met: {met}")
    return exit_code(met=met)


if __name__ == "__main__":
    sys.exit(main())
