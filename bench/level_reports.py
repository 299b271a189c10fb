"""The reports of a month for all members, and their error budgets: the CPU of both jobs.

    python -m bench.level_reports [AAS] [FIPS]

A national network is loaded as by `bench.long_ranges`; each FIP has had an outage of its own.
The job's own code makes and signs the reports of the last 30 days,
then works out the budgets. What counts is the CPU of this process, with that of PostgreSQL next to
it, for 2,000 members: a smaller network is scaled by its number of reports, and says so.
"""

import asyncio
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from tests.support.metrics.incidents import stored_row

from bench import full_traffic
from bench.full_traffic import fip_name
from bench.kept_load import loaded_once
from bench.long_ranges import load
from bench.machine import slowness, speed_note
from bench.sizes import exit_code, sized
from bench.support import cpu_of_tree, data_directory, postmaster, say
from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.bootstrap.node.free_memory import allocate_apart
from mudra.bootstrap.node.serve import open_store
from mudra.http.levels.signing import signing
from mudra.jobs.key_rotation import maintain_keys
from mudra.levels.budgets.budget_run import work_out_budgets
from mudra.levels.level_service import LevelService
from mudra.levels.monthly import make_all
from mudra.metrics.payload.catalogue import day_start, window_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.settings.settings import Settings
from mudra.shared.garbage import set_aside_what_is_loaded
from mudra.shared.ids import fresh_id
from mudra.storage.tables.metrics import metrics_incident
from mudra.tokens.signing_keys.node_keys import NodeKeys

MEMBERS: Final = 2000
GOAL_S: Final = 60.0
DAYS: Final = sized(30, 1)
"""Of the period."""


async def incidents(parts: Dependencies, end: datetime) -> int:
    """Stores an outage of each FIP; returns how many."""
    rows = []
    for place in range(full_traffic.FIPS):
        began = window_start(end - timedelta(hours=1 + place % 23))
        over = began + timedelta(minutes=30)
        of_fip = stored_row(fresh_id(), "fip", fip_name(place), began)
        rows.append(of_fip | {"ended": over, "ending": "recovered"})
    async with parts.transaction() as tx:
        await tx.connection.execute(sa.insert(metrics_incident), rows)
    return len(rows)


async def run(parts: Dependencies, now: datetime, database: int) -> tuple[float, int]:
    """Makes and prints; returns the CPU of the reports, and how many were made."""
    end = day_start(now)
    within = TimeRange(end - timedelta(days=DAYS), end)
    say(f"{await incidents(parts, end)} incidents stored")
    keys = NodeKeys(parts.database, parts.invalidation, parts.clock, "JWT")
    await maintain_keys(parts.transaction)
    await keys.ready()
    async with parts.transaction() as tx:
        members = await tx.service(LevelService).reports.members(now + timedelta(days=1))
    made, took = await _timed(
        "reports of 30 days",
        lambda: make_all(parts.transaction, signing(keys), within, members, now),
        database,
    )
    alarms, _ = await _timed("error budgets", lambda: work_out_budgets(parts.transaction), database)
    say(f"{made} reports, {alarms} alarms")
    return took, made


async def _timed(name: str, act: Callable[[], Awaitable[int]], database: int) -> tuple[int, float]:
    began, own, there = time.monotonic(), _cpu(), cpu_of_tree(database)
    found = await act()
    took, its = _cpu() - own, cpu_of_tree(database) - there
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name}: {took:.1f} s of CPU, PostgreSQL {its:.1f} s, {time.monotonic() - began:.0f} s"
          f" in all, peak {peak:.0f} MB", flush=True)  # fmt: skip
    return found, took


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(folder: Path, now: datetime) -> bool:
    """Measures what was loaded; returns whether the goal was met."""
    slow = slowness()
    print(speed_note(slow))
    allocate_apart()  # as the process of jobs does, here and below
    settings = Settings(data_dir=data_directory(str(folder)))
    with open_store(settings, create=False) as opened:
        parts = build_dependencies(settings, *opened)
        set_aside_what_is_loaded()
        took, made = asyncio.run(run(parts, now, postmaster(settings.data_dir)))
    of_all = took / slow * MEMBERS / max(made, 1)
    scaled = "" if made >= MEMBERS else f", scaled from {made} reports"
    print(f"CPU of the month's reports of {MEMBERS:,} members ÷ goal of {GOAL_S:.0f} s: "
          f"{of_all / GOAL_S:.2f}{scaled}")  # fmt: skip
    return of_all <= GOAL_S


def main() -> int:
    """Load, make, print; 1 when the goal is missed."""
    with loaded_once(load, window_start(datetime.now().astimezone())) as (folder, now):
        return exit_code(met=measure(folder, now))


if __name__ == "__main__":
    sys.exit(main())
