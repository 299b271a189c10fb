"""Twice the load of a national network for many minutes, then the same with kills -9 of every part.

    python -m bench.soak [MINUTES] [OF_THEM_WITH_KILLS]        or: make soak SOAK_MIN=30

20 AAs push both payloads of 2,000 FIPs with calls of a quarter of all types, 600 members get a
million tokens a day, 50 operators read the console, admins reset secrets; all of it twice as often.
Windows come sooner still in a short run, so that each AA pushes at least 4. A run of 40 minutes or
more begins with an hour that was reported and summed before (some minutes of work), and with its
sums for each hour of a day before, so that pages show as much at its start as at its end. At first,
in half of the time unless said otherwise, nothing is killed: memory, descriptors and latencies at
its start and end are compared, and no answer may be an error. Then a worker, PostgreSQL or the
supervisor is killed every few seconds, and an agent that delivers in fast time to an operator full
of faults. What was acknowledged is then compared with what is there: each push once, each reset.
The seed that decides what is killed when is printed; SOAK_SEED sets it.
"""

import asyncio
import contextlib
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import NamedTuple

import httpx2
import psycopg
from tests.support.people.console import reader
from tests.support.people.operators import active_operator
from tests.support.service import Service
from tests.support.until import until

from bench import history
from bench.entity_token import make_members
from bench.loaded_service import loaded_service
from bench.nation import QUARTER
from bench.people import make_people
from bench.sizes import argument, exit_code, sized
from bench.soak_load import (
    Actor,
    Admin,
    Agents,
    Journal,
    Pages,
    Pusher,
    Tokens,
    of_window,
    plausible_reports,
    pushes_lost_and_doubled,
    secret_versions,
)
from bench.support import (
    data_directory,
    database_kept_up,
    forks,
    peak_rss_mb,
    percentile,
    pss_mb,
    say,
    scratch,
)
from mudra.bootstrap.node.serve import open_store
from mudra.console.framework.navigation import OPERATOR_ITEMS, operator_path
from mudra.metrics.payload.catalogue import WINDOW, hour_start, window_start
from mudra.metrics.rollup.stale import DAY, HOUR
from mudra.settings.settings import Settings
from mudra.storage.database.embedded.server import embedded_server

AAS = sized(20, 2)
FIPS = sized(2000, 2)
WORKERS = sized(2, 1)
BUSY = sized(QUARTER, 1.0)
"""Share of FIPs and types with calls in a window, as in what the network takes on paper."""
MEMBERS = sized(600, 2)
ADMINS = sized(60, 2)
TOKENS_A_SECOND = 2 * 1_000_000 / 86_400
READERS = sized(50, 2)
PAGE_EVERY_S = sized(15.0, 1.0)
RESET_EVERY_S = sized(330.0, 60.0)
OLD_WINDOWS_S = 300.0
"""Of a run too short for windows of its own: twice in the 10 minutes of a window."""
LIVE_FROM_S = 2400.0
HEALED_S = 60.0
PAST_HOURS = 20
"""So many hours have sums over all AAs: the status is of 24, and would grow for a day. They have no
calls by window, so none may be a day old before the end: pushes would be held (decision 0047)."""
LOADING = timedelta(minutes=10)
"""So long the past of a run with windows of its own takes to be written and summed."""
WARM_AFTER = 0.3
"""The part of the time without kills after which memory is looked at, for a window, and again in
its last window: what reads and sums need comes and goes with the reports of a window."""
LOOKS = sized(40, 3)
"""In each of them: their medians are compared."""
MAX_RESETS = 4
"""Of an admin: a fifth one more is refused for the rest of the day."""
GAP_S = (0.5, 4.0) if sized(1, 0) else (0.1, 0.3)
DRAIN_S = 120


class Held(NamedTuple):
    """The memory and descriptors of the service's own processes."""

    pss_mb: float
    descriptors: int
    peak_mb: float
    """The most that was resident since the process began, shared pages counted whole."""


def held_by(pid: int) -> Held:
    """Returns the memory and descriptors of one process; nothing when it has just ended."""
    with contextlib.suppress(OSError, ValueError):
        return Held(pss_mb(pid), len(list(Path(f"/proc/{pid}/fd").iterdir())), peak_rss_mb(pid))
    return Held(0.0, 0, 0.0)


class Soak:
    """The service under load and what kills it."""

    def __init__(self, home: Path, seconds: float, killing_s: float, seed: int) -> None:
        self.data_dir = data_directory(str(home))
        self._seconds, self._dice = seconds, random.Random(seed)
        self.journal, self.kills = Journal(), Counter[str]()
        self._end = threading.Event()
        self._live = seconds >= LIVE_FROM_S
        aas = 2 * AAS if self._live else AAS
        settings = Settings(data_dir=self.data_dir)
        with database_kept_up(self.data_dir):
            members = make_members(self.data_dir, MEMBERS + aas, "AA")
            self._members = dict(list(members.items())[aas:])
            self._aas = list(members.items())[:aas]
            self._models = {
                aa: plausible_reports(FIPS, random.Random(aa), BUSY) for aa, _ in self._aas
            }
            with open_store(settings, create=False) as (conninfo, encryption):
                self._people = make_people(conninfo, encryption, settings, ADMINS)
                if self._live:
                    self._past(conninfo)
        self.pushers: list[Pusher] = []
        self.admins: list[Admin] = []
        self.held: list[list[Held]] = []
        """Of the start and of the end of the part without kills: of each process, the medians."""
        self.failed = 0
        """Errors of the part without kills."""
        self.began = 0.0
        self.steady_s = seconds - killing_s

    def _past(self, conninfo: str) -> None:
        """Write and sum the windows up to the one that the AAs push first; wait for its end."""
        until = window_start(datetime.now(UTC) + LOADING)
        last = until - WINDOW
        reports = [
            history.checked(of_window(model, aa, last), until + WINDOW)
            for aa, models in self._models.items()
            for model in models
        ]
        hour = hour_start(until) - HOUR
        asyncio.run(history.partitions(conninfo, hour - 2 * DAY, until))
        windows = history.windows_until(until, (until - hour) // WINDOW)
        say(f"{asyncio.run(history.put_windows(conninfo, reports, windows)):,} cells of windows")
        del reports
        say(f"{asyncio.run(history.make_sums(conninfo))} sums made")
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        first_push = until + WINDOW
        say(f"waiting until {first_push:%H:%M} UTC")
        time.sleep(max(0.0, (first_push - datetime.now(UTC)).total_seconds()))
        # Now the hour is over for long enough that it has sums over all AAs.
        asyncio.run(history.make_sums(conninfo))
        with psycopg.connect(conninfo, autocommit=True) as connection:
            for ago in range(1, PAST_HOURS):
                history.move_sums(connection, "hour", (hour, hour + HOUR), -ago * HOUR)
            history.keep_sums(connection, until)
            # What is done once an hour is done while the service warms up: it needs its memory.
            history.ask_for_sums(connection, hour)
            connection.execute("VACUUM ANALYZE")
        say(f"{PAST_HOURS} hours before have sums")

    def run(self) -> None:
        """Load, kill, end, and start once more for what still waits for its answer."""
        stack = contextlib.ExitStack()
        service = stack.enter_context(loaded_service(self.data_dir, WORKERS, 0))
        self._port = int(service.root.rpartition(":")[2])
        actors = self._actors(service)
        for actor in actors:
            actor.start()
        self.began = time.monotonic()
        self._steadily(service)
        self.journal.steady = False
        self.failed = report_steady(self)
        while time.monotonic() < self.began + self._seconds:
            time.sleep(self._dice.uniform(*GAP_S))
            if self._kill(service):
                stack.close()
                service = stack.enter_context(loaded_service(self.data_dir, WORKERS, self._port))
        self._end.set()
        deadline = time.monotonic() + DRAIN_S
        for actor in actors:
            actor.join(max(0.1, deadline - time.monotonic()))
            said = dict(self.journal.statuses)
            assert not actor.is_alive(), f"one still waits for an answer: {said}, {self.kills}"
        self.shown = {
            admin.entity_id: until(admin.shown, within_s=HEALED_S, every_s=0.5)
            for admin in self.admins
        }
        stack.close()

    def _actors(self, service: Service) -> list[Actor]:
        browser = reader(service)
        signed_in = browser.sign_in(active_operator(service))
        assert signed_in.status_code == httpx2.codes.SEE_OTHER, signed_in.text
        paths = [
            "/status",
            *(operator_path(item.word) for item in OPERATOR_ITEMS if not item.sandbox),
        ]
        root, journal, threads = service.root, self.journal, 8
        self.pushers = [
            Pusher(root, aa, secret, self._models[aa], journal) for aa, secret in self._aas
        ]
        self.admins = [Admin(root, one, email, journal) for one, email in self._people.items()]
        pushes = [
            Actor(one.push_latest, WINDOW.total_seconds(), self._end)
            if self._live
            else Actor(one.push, min(OLD_WINDOWS_S, self._seconds / 4), self._end)
            for one in self.pushers
        ]
        reset_s = max(RESET_EVERY_S, self._seconds / MAX_RESETS)
        cookies = httpx2.Cookies(browser.client.cookies)
        return [
            *pushes,
            *(Actor(one.reset, reset_s, self._end) for one in self.admins),
            *(
                Actor(
                    Tokens(root, self._members, journal).ask, threads / TOKENS_A_SECOND, self._end
                )
                for _ in range(threads)
            ),
            *(
                Actor(Pages(root, cookies, paths, journal).read, PAGE_EVERY_S, self._end)
                for _ in range(READERS)
            ),
        ]

    def _steadily(self, service: Service) -> None:
        """The part without kills: look at what is held once all is warm, and at the end."""
        length_s = min(WINDOW.total_seconds(), self.steady_s / 6)
        for start_s in (WARM_AFTER * self.steady_s, self.steady_s - length_s):
            looks = []
            for look in range(LOOKS):
                at = self.began + start_s + length_s * look / (LOOKS - 1)
                time.sleep(max(0.0, at - time.monotonic()))
                looks.append([held_by(pid) for pid in forks(service.process.pid)])
            self.held.append(
                [
                    Held(
                        median(h.pss_mb for h in of_one),
                        int(median(h.descriptors for h in of_one)),
                        max(h.peak_mb for h in of_one),
                    )
                    for of_one in zip(*looks, strict=True)
                ]
            )

    def _kill(self, service: Service) -> bool:
        """Kill something; True when it was all of the service."""
        kind = self._dice.choices(["worker", "PostgreSQL", "supervisor"], [6, 3, 1])[0]
        if sum(self.kills.values()) < 3:  # each kind, however short the run is
            kind = ["worker", "PostgreSQL", "supervisor"][sum(self.kills.values())]
        pid = service.process.pid
        with contextlib.suppress(OSError, IndexError, ValueError):
            if kind == "worker":
                pid = self._dice.choice(forks(pid))
            elif kind == "PostgreSQL":
                file = self.data_dir / "postgres" / "postmaster.pid"
                pid = int(file.read_text().split()[0])
            os.kill(pid, signal.SIGKILL)
            self.kills[kind] += 1
            if kind == "supervisor":
                service.process.wait(30)
                return True
        return False

    def lost_and_doubled(self) -> tuple[int, int, int]:
        """Compare with the database; gives acknowledged, lost and doubled pushes and resets."""
        with embedded_server(self.data_dir) as url, psycopg.connect(url) as connection:
            lost, doubled = pushes_lost_and_doubled(connection, self.pushers)
            versions = secret_versions(connection)
        for admin in self.admins:
            right = admin.unsure_since or not admin.acknowledged
            lost += not right and self.shown[admin.entity_id] != admin.acknowledged[-1]
            resets = versions[admin.entity_id] - 1
            lost += resets < len(admin.acknowledged)
            doubled += resets > len(admin.acknowledged) + admin.unsure
        done = sum(len(one.acknowledged) for one in self.pushers)
        done += sum(len(one.acknowledged) for one in self.admins)
        return done, lost, doubled


def main() -> int:
    """Run and print; 1 when something was lost or doubled, or an answer was an error in peace."""
    minutes = argument(1, 30.0, 0.04)
    seed = int(os.environ.get("SOAK_SEED", random.randrange(10_000)))
    killing = argument(2, minutes / 2, minutes / 2)
    print(f"seed {seed}: {minutes:g} minutes, {killing:g} of them with kills", flush=True)
    with scratch() as folder:
        soak = Soak(Path(folder), minutes * 60, killing * 60, seed)
        agents = Agents(Path(folder), killing * 60, seed)
        later = threading.Timer(soak.steady_s, agents.start)  # with the first kills
        later.start()
        soak.run()
        agents.join()
        done, lost, doubled = soak.lost_and_doubled()
    kills = soak.kills + Counter({"agent": sum(one.kills for one in agents.found)})
    print("kills -9: " + ", ".join(f"{number} {kind}" for kind, number in kills.items()))
    show_statuses(soak, "with kills", steady=False)
    for one in agents.found:
        lost += one.lost
        doubled += one.doubled
    calls = sum(one.acknowledged for one in agents.found)
    print(
        f"{done} pushes and resets and {calls} calls reported to the agent acknowledged,"
        f" lost {lost}, doubled {doubled}; errors while nothing was killed: {soak.failed}"
    )
    return exit_code(met=not (lost or doubled or soak.failed))


def report_steady(soak: Soak) -> int:
    """Print statuses, drift and latencies before the kills begin; gives the errors."""
    said = show_statuses(soak, "nothing killed", steady=True)
    for place, (first, last) in enumerate(zip(*soak.held, strict=True)):
        print(
            f"process {place}: memory (PSS) {first.pss_mb:.0f} MB, then {last.pss_mb:.0f} MB: drift"
            f" {100 * (last.pss_mb / first.pss_mb - 1):+.1f} %, at most {last.peak_mb:.0f} MB"
            f" resident; descriptors {first.descriptors}, then {last.descriptors}"
            " (of the part without kills, from its third tenth on)"
        )
    was, now = (sum(one.pss_mb for one in look) for look in soak.held)
    print(f"together: {was:.0f} MB, then {now:.0f} MB: drift {100 * (now / was - 1):+.1f} %")
    for kind in ("token", "page", "push"):
        parts = list(fifths(soak, kind))
        shown = [
            f"p50 {percentile(p, 0.5) * 1000:.0f} p99 {percentile(p, 0.99) * 1000:.0f} ms"
            for p in parts
        ]
        print(f"{kind}: first fifth {shown[0]}, last fifth {shown[1]}", flush=True)
    return sum(number for (_, what), number in said.items() if not what.startswith("2"))


def show_statuses(soak: Soak, name: str, *, steady: bool) -> Mapping[tuple[str, str], int]:
    """Print how often each call had each status; gives the numbers."""
    said = {
        (kind, what): number
        for (kind, when, what), number in list(soak.journal.statuses.items())
        if when == steady
    }
    parts = [f"{kind} {what}: {number}" for (kind, what), number in sorted(said.items())]
    print(f"{name}: {', '.join(parts)}", flush=True)
    return said


def fifths(soak: Soak, kind: str) -> Iterator[list[float]]:
    """Latencies of the first and the last fifth of the part without kills."""
    fifth = soak.steady_s / 5
    for start in (soak.began, soak.began + 4 * fifth):
        found = [
            s for of, at, s in soak.journal.latencies if of == kind and start <= at < start + fifth
        ]
        yield found or [0.0]


if __name__ == "__main__":
    raise SystemExit(main())
