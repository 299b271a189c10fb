"""Pages and calls of health in a national network: every AA calls every FIP by every API.

    python -m bench.long_ranges [AAS] [FIPS]

The windows of the last hours are checked, written and summed by the job's own code, and so is a
day; its sums are then moved to 30 days, and what the public status reads to 90. Then each page and
call is asked of a worker that has read nothing before, and again, next to a client that asks for
something small of the same worker, which shows how long a page keeps its event loop. What counts is
the CPU time of the worker; that of PostgreSQL is printed next to it. The ranges are those of the
pages: from a full hour on where longer than two hours, from a full day on where longer than two
days; with `ANY_START=1` they begin in the middle of an hour, as a call may ask. `KEEP=DIR` keeps
what is loaded, and asks only, when it is there already; `ONLY=WORDS` asks for those whose name has
these words.
"""

import asyncio
import contextlib
import math
import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import psycopg
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.people.operators import new_operator
from tests.support.process import running_service
from tests.support.service import Service

from bench import full_traffic
from bench.full_traffic import Page, Readers, Waiting, aa_name, admin_of, fip_name, onboard_all
from bench.full_traffic import reports as reports_of
from bench.history import (
    keep_sums,
    make_all_longer,
    make_sums,
    move_sums,
    partitions,
    put_windows,
    windows_until,
)
from bench.kept_load import loaded_once, print_largest_tables
from bench.machine import slowness, speed_note
from bench.sizes import exit_code, sized
from bench.support import (
    cpu_of_tree,
    cpu_seconds,
    data_directory,
    peak_rss_mb,
    postmaster,
    pss_mb,
    say,
    worker_pids,
)
from mudra.bootstrap.dependencies import build_dependencies
from mudra.bootstrap.node.serve import open_store
from mudra.metrics.payload.catalogue import WINDOW, day_start, hour_start, window_start
from mudra.metrics.rollup.coverage import TimeRange, latest
from mudra.metrics.rollup.stale import DAY, HOUR
from mudra.settings.settings import Settings
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.metrics.blocks.grain import SEEN

DAYS, STATUS_DAYS = sized(31, 2), sized(91, 3)
FIRST_S, AGAIN_S = 1.0, 0.2
ANY_START = os.environ.get("ANY_START") == "1"
WORKER_MB = 150.0
SLOWER = {"rows by AA, 30 days": 2.0}
"""Goals of their own for the first ask."""
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
        asyncio.run(partitions(conninfo, now - (STATUS_DAYS + 1) * DAY, now))
        windows = windows_until(now, (now - hour) // WINDOW)
        model = list(reports_of(now - WINDOW))
        say(f"{asyncio.run(put_windows(conninfo, model, windows)):,} cells of windows")
        began = time.process_time()
        say(f"{asyncio.run(make_sums(conninfo))} sums made, {time.process_time() - began:.0f} s")
        with psycopg.connect(conninfo, autocommit=True) as connection:
            move_times(connection, hour, now)
        began = time.process_time()
        say(f"{asyncio.run(make_sums(conninfo))} of a day, {time.process_time() - began:.0f} s")
        with psycopg.connect(conninfo, autocommit=True) as connection:
            move_days(connection, day_start(hour) - DAY)
            connection.execute("DELETE FROM metrics_stale")
            keep_sums(connection, now)
            say(f"{asyncio.run(make_all_longer(conninfo))} series with longer sums")
            print_largest_tables(connection)


def move_times(
    connection: psycopg.Connection[tuple[object, ...]], hour: datetime, now: datetime
) -> None:
    """Moves the hours of these days, and windows in which a range begins, to one hour."""
    times = (hour, hour + HOUR)
    today = day_start(hour)
    starts = {hour_start(now - ago * DAY) for ago in (1, 7, 30) if ago < DAYS}
    for start in starts:
        move_sums(connection, "window", times, start - hour)
    days = {today, today - DAY} | {
        day_start(start) + after * DAY for start in starts for after in (0, 1)
    }
    for place in range(24):
        for day in days:
            at = day + place * HOUR
            if at < hour:
                move_sums(connection, "hour", times, at - hour)
    connection.execute("VACUUM ANALYZE")
    connection.execute("DELETE FROM metrics_stale")
    connection.execute(
        "INSERT INTO metrics_stale (grain, aa_id, tag, at)"
        " SELECT DISTINCT 'day', aa_id, tag, %s::timestamptz FROM metrics_receipt",
        (today - DAY,),
    )


def move_days(connection: psycopg.Connection[tuple[object, ...]], model: datetime) -> None:
    """Let the days before be one that was summed."""
    times = (model, model + DAY)
    for ago in range(1, DAYS):
        move_sums(connection, "day", times, -ago * DAY)
    for ago in range(DAYS, STATUS_DAYS):
        move_sums(connection, "day", times, -ago * DAY, (SEEN,))


class Call(Page):
    """A call of an operator or a member."""

    def __init__(
        self, name: str, path: str, root: str, client: httpx2.Client, headers: dict[str, str]
    ) -> None:
        super().__init__(name, path, client, root)
        self._headers = headers

    def status(self) -> int:
        """Its status."""
        return self._client.get(self._asked, headers=self._headers, timeout=60).status_code


def pages(service: Service, now: datetime) -> list[Page]:
    """All that is asked: each over an hour, a day, a week and a month."""
    readers, noc = Readers(service), new_operator(service, "health")

    def call(name: str, path: str) -> Page:
        return Call(name, path, service.root, noc.client, dict(noc.headers))

    fiu = pushing_aa(service)
    found = [
        Call("feed", "/metrics/perf/v1/feed", service.root, fiu.client, fiu.bearer),
        readers.page("fips.json", "/status/v1/fips.json", ""),
        readers.page("status page", "/status", ""),
    ]
    for name, length in (("hour", HOUR), ("24 h", DAY), ("7 days", 7 * DAY), ("30 days", 30 * DAY)):
        if length < DAYS * DAY:
            asked = latest(now, length) if not ANY_START else TimeRange(now - length, now)
            found += [*pages_of(readers, call, name, f"from={asked.start:%Y-%m-%dT%H:%M:%SZ}"
                                f"&to={asked.end:%Y-%m-%dT%H:%M:%SZ}")]  # fmt: skip
    return found


def pages_of(readers: Readers, call: Callable[[str, str], Page], name: str, of: str) -> list[Page]:
    """Returns the questions about one range."""
    aa, fip = aa_name(0), fip_name(1)
    health, noc = "/console/operator/health", readers.operator
    api = "/operator/v1/health"
    return [
        readers.page(f"matrix, {name}", f"{health}?{of}", noc),
        readers.page(f"matrix of an API, {name}", f"{health}?{of}&type=fif", noc),
        readers.page(f"an API, {name}", f"{health}/api/fif?{of}", noc),
        readers.page(f"an API over time, {name}", f"{health}/api/fif?{of}&over-time=part", noc),
        readers.page(f"an AA, {name}", f"{health}/aa/{aa}?{of}", noc),
        readers.page(f"a FIP, {name}", f"{health}/fip/{fip}?{of}", noc),
        readers.page(f"a pair, {name}", f"{health}/pair/{aa}/{fip}?{of}", noc),
        readers.page(f"own health of an AA, {name}", f"/console/entity/{aa}/health?{of}",
                     admin_of(aa)),
        readers.page(f"own health of a FIP, {name}", f"/console/entity/{fip}/health?{of}",
                     admin_of(fip)),
        readers.page(f"health of a FIU, {name}", f"/console/entity/FIU-00/health?{of}",
                     admin_of("FIU-00")),
        call(f"rows of the network, {name}", f"{api}/network?{of}"),
        call(f"rows by FIP, {name}", f"{api}/fips?{of}"),
        call(f"rows by AA, {name}", f"{api}/aas?{of}"),
        call(f"rows by pair of an AA, {name}", f"{api}/pairs?aaId={aa}&{of}"),
        call(f"rows by pair of a FIP, {name}", f"{api}/pairs?fipId={fip}&{of}"),
        call(f"call for the matrix, {name}", f"{api}/matrix?{of}"),
    ]  # fmt: skip


def ask(folder: Path, now: datetime) -> bool:
    """Ask and print; gives whether every goal was met, at the speed of the machine it is for."""
    slow = slowness()
    print(speed_note(slow))
    print(f"{'':38}{'worker CPU ms':>22}{'PostgreSQL':>14}{'wait':>8}{'peak':>8}{'PSS':>8}")
    print(f"{'':38}{'first':>11}{'again':>11}{'first ms':>14}{'ms':>8}{'MB':>8}{'MB':>8}")
    with running_service(folder / "data", "--workers", "1", keeps_store=True) as service:
        wanted = [one for one in pages(service, now) if os.environ.get("ONLY", "") in one.name]
        asked = wanted[:: sized(1, 20)]
        missed = [page.name for page in asked if not measured(service, page, slow)]
    print(f"goals missed by: {missed}")
    return not missed


def measured(service: Service, page: Page, slow: float) -> bool:
    """Ask for a page and print; gives whether its goals were met."""
    server, worker = postmaster(service.data_dir), fresh_worker(service)
    with Waiting(service.root) as waiting:
        own, there = cpu_seconds(worker), cpu_of_tree(server)
        answered = page.milliseconds() < math.inf
        waited = max(waiting.took)
        first, its = cpu_seconds(worker) - own, cpu_of_tree(server) - there
        own = cpu_seconds(worker)
        page.milliseconds()
        again = cpu_seconds(worker) - own
    assert not answered or not page.says(*NOTHING), f"{page.name} shows nothing"
    peak, held = peak_rss_mb(worker), pss_mb(worker)
    goal = SLOWER.get(page.name, FIRST_S)
    met = answered and first / slow <= goal and again / slow <= AGAIN_S and held <= WORKER_MB
    said = "" if met else "  missed" if answered else "  not answered"
    print(f"{page.name:38}{first * 1000:11.0f}{again * 1000:11.0f}{its * 1000:14.0f}"
          f"{waited:8.0f}{peak:8.0f}{held:8.0f}{said}", flush=True)  # fmt: skip
    return met


def fresh_worker(service: Service) -> int:
    """Let another process take the place of the worker; gives its ID."""
    before = worker_pids(service.process.pid)[0]
    os.kill(before, signal.SIGKILL)
    while True:
        with contextlib.suppress(KeyError):  # none is there yet
            now = worker_pids(service.process.pid)[0]
            if now != before and is_ready(service):
                return now
        time.sleep(0.05)


def is_ready(service: Service) -> bool:
    """Returns whether the service answers."""
    try:
        return service.client().get(f"{service.root}/readyz").status_code == httpx2.codes.OK
    except httpx2.TransportError:
        return False


def main() -> int:
    """Load, ask, print; 1 when a goal is missed."""
    with loaded_once(load, window_start(datetime.now(UTC))) as (folder, now):
        met = ask(folder, now)
    size = f"{full_traffic.AAS} AAs x {full_traffic.FIPS} FIPs"
    print(f"{size}: every goal of long ranges met: {met}")
    return exit_code(met=met)


if __name__ == "__main__":
    sys.exit(main())
