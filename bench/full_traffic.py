"""Pages over the last hour of a network in which every AA calls every FIP by every API.

    python -m bench.full_traffic [AAS] [FIPS]

An hour and a half of windows is written (one is generated, and moved), and summed
by the job's own code. Then each page is asked of a worker that has just started: first, to another
second at each ask, so that it is made each time (decision 0137), and as one that was made before;
next to a client that asks for something small of the same worker again and again, which shows how
long a page keeps its event loop; and the worker's memory at the end. Then every page of the
console, and the public ones, 64 times at once of two workers: how many failed, the slowest answer,
and the processor time for each. `KEEP=DIR` keeps what is loaded, and asks only, when it is there
already; `CROWD=1` asks for the second part alone.
"""

import asyncio
import math
import os
import random
import statistics
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

import httpx2
import psycopg
from tests.support.cheap_hashes import cheap_hashes
from tests.support.people.console import reader
from tests.support.people.operators import active_operator
from tests.support.process import running_service
from tests.support.service import PASSWORD, Service
from tools.demonstration import Page as Address
from tools.demonstration import member_pages, operator_pages, public_pages

from bench.history import checked, make_sums, partitions, put_windows, windows_until
from bench.kept_load import loaded_once, print_largest_tables
from bench.machine import slowness, speed_note
from bench.sizes import argument, exit_code, sized
from bench.support import (
    cpu_of_tree,
    cpu_seconds,
    data_directory,
    jobs_pid,
    peak_rss_mb,
    percentile,
    postmaster,
    pss_mb,
    rss_mb,
    say,
    worker_pids,
)
from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.bootstrap.node.free_memory import EVERY_S
from mudra.bootstrap.node.serve import open_store
from mudra.demo.activation import activate, hash_once
from mudra.demo.traffic import Traffic
from mudra.identity.memberships.onboard import NewMember, Onboarded, onboard_member
from mudra.identity.operators.person_rule import owner
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.payload.validation import CheckedReport
from mudra.settings.settings import Settings
from mudra.storage.database.embedded.server import embedded_server

AAS = int(argument(1, 30, 2))
FIPS = int(argument(2, 300, 3))
WINDOWS = 9
BUSIEST = 3000
ASKS = int(os.environ.get("ASKS", sized(20, 1)))
AT_ONCE = sized(64, 4)
FIRST_MS = 1000.0
AGAIN_MS = 200.0
WAIT_MS = 100.0
WORKER_MB = 150.0
_FAULTS = 500
_END = ":SECOND"
"""For the second at which a range ends: another one is another question, of the same rows."""
_SAID = ("is too busy", "did not answer in time", 'href="">Try again', "tries again every")


def aa_name(place: int) -> str:
    """The ID of an AA."""
    return f"AA-{place:02}"


def fip_name(place: int) -> str:
    """The ID of a FIP."""
    return f"BANK-{place:04}"


ADMINS = (aa_name(0), fip_name(1), "FIU-00")


async def onboard_all(dependencies: Dependencies) -> None:
    """Onboard all AAs and FIPs and one FIU; an admin of one of each kind may sign in."""
    with cheap_hashes():
        hashed = await hash_once(dependencies, PASSWORD)
    members = [(aa_name(place), "AA") for place in range(AAS)]
    members += [(fip_name(place), "FIP") for place in range(FIPS)] + [("FIU-00", "FIU")]
    for entity_id, kind in members:
        new = NewMember(entity_id, kind, entity_id, admin_of(entity_id), "Asha Rao")
        async with dependencies.transaction() as tx:
            done = await onboard_member(tx, new, owner(Caller("operator:bench")))
        assert isinstance(done, Onboarded), done
        if entity_id in ADMINS:
            await activate(dependencies, done.admin, hashed)
    await dependencies.invalidation.stop()
    await dependencies.close()


def admin_of(entity_id: str) -> str:
    """The address of a member's admin."""
    return f"{entity_id.lower()}@member.example"


def reports(window: datetime) -> Iterator[CheckedReport]:
    """Both payloads of each AA of one window."""
    traffic = Traffic([fip_name(place) for place in range(FIPS)], BUSIEST)
    dice = random.Random(1)
    for place in range(AAS):
        for make in (traffic.requests, traffic.notifications):
            made = make(aa_name(place), window, str(uuid.uuid4()), dice)
            yield checked(made, window + 2 * WINDOW)


def load(folder: Path, now: datetime) -> None:
    """Fill a data directory."""
    data_dir = data_directory(str(folder))
    settings = Settings(data_dir=data_dir)
    with open_store(settings, create=True) as opened:
        asyncio.run(onboard_all(build_dependencies(settings, *opened)))
        say("members onboarded")
    with embedded_server(data_dir) as conninfo:
        asyncio.run(partitions(conninfo, now - timedelta(days=1), now))
        model, windows = list(reports(now - WINDOW)), windows_until(now, WINDOWS)
        say(f"{asyncio.run(put_windows(conninfo, model, windows)):,} cells of windows")
        began = time.process_time()
        made = asyncio.run(make_sums(conninfo))
        print(f"{made} sums made in {time.process_time() - began:.1f} s of CPU")
        with psycopg.connect(conninfo, autocommit=True) as connection:
            print_largest_tables(connection)


class Page:
    """A page of a signed-in reader."""

    def __init__(self, name: str, path: str, client: httpx2.Client, root: str) -> None:
        self.name = name
        self._url, self._client = root + path, client
        self._until = 0

    def milliseconds(self, *, made: bool = True) -> float:
        """Returns the time to its last byte; infinite when it failed. `made` is for it alone."""
        self._until = (self._until + made) % 60
        began = time.perf_counter()
        if self.status() >= _FAULTS:
            return math.inf
        return (time.perf_counter() - began) * 1000

    def timed(self) -> tuple[int, float]:
        """The status, and the seconds to the last byte."""
        began = time.perf_counter()
        return self.status(), time.perf_counter() - began

    def status(self) -> int:
        """The status; 503 also where a page says behind its title that its figures failed."""
        answer = self._client.get(self._asked, timeout=60)
        said = any(words in answer.text for words in _SAID)
        return 503 if said else answer.status_code

    def says(self, *words: str) -> bool:
        """Returns whether the page has any of these words."""
        text = self._client.get(self._asked, timeout=60).text
        return any(one in text for one in words)

    @property
    def _asked(self) -> str:
        return self._url.replace(_END, f":{self._until:02}Z")


class Readers:
    """The readers of pages: a signed-in client by email, one without a session by an empty one."""

    def __init__(self, service: Service) -> None:
        self.root = service.root
        self.operator = active_operator(service)
        emails = [self.operator, *map(admin_of, ADMINS)]
        readers = {email: reader(service) for email in emails}
        for email, one in readers.items():
            assert one.sign_in(email, PASSWORD).status_code == 303
        self.clients = {"": service.client(), **{e: one.client for e, one in readers.items()}}

    def page(self, name: str, path: str, email: str) -> Page:
        """Return a page as this one sees it."""
        return Page(name, path, self.clients[email], self.root)


def hour_of(now: datetime) -> str:
    """The query of the last hour; its end is a few seconds later than that of its windows."""
    start = now - timedelta(hours=1)
    return f"from={start:%Y-%m-%dT%H:%M:%SZ}&to={now:%Y-%m-%dT%H:%M}{_END}"


_OPERATOR = "/console/operator/health"
_MEMBER = "/console/entity"
_FIP = f"{_OPERATOR}/fip/{fip_name(1)}"
HEALTH = (
    ("matrix", f"{_OPERATOR}?", None),
    ("matrix of one API", f"{_OPERATOR}?type=fif&", None),
    ("API", f"{_OPERATOR}/api/fif?", None),
    ("API over time", f"{_OPERATOR}/api/fif?over-time=part&", None),
    ("FIP", f"{_FIP}?", None),
    ("AA", f"{_OPERATOR}/aa/{aa_name(0)}?", None),
    ("health of an AA's admin", f"{_MEMBER}/{aa_name(0)}/health?", aa_name(0)),
    ("health of a FIU", f"{_MEMBER}/FIU-00/health?", "FIU-00"),
)
"""The pages whose time begins within an hour, and the member whose admin reads them."""


def page_of_health(readers: Readers, place: int, now: datetime) -> Page:
    """Return the page of `HEALTH` at this place, over the last hour."""
    name, path, member = HEALTH[place]
    who = admin_of(member) if member else readers.operator
    return readers.page(name, path + hour_of(now), who)


def every_page(readers: Readers, now: datetime) -> list[Page]:
    """All pages of the service; those of health over the last hour."""
    hour = hour_of(now)
    wanted: list[Address] = [
        *public_pages(fip_name(1)),
        *(page for one in ADMINS for page in member_pages(one, admin_of(one))),
        *operator_pages(readers.operator, aa_name(0), fip_name(1), ""),
    ]
    found = []
    for one in wanted:
        name, path, email = one.name, one.path, one.email
        timed = f"{path}?{hour}" if "/health" in path and "?" not in path else path
        who = email.partition("@")[0] if email and email != readers.operator else ""
        found.append(readers.page(f"{who} {name}".strip(), timed, email))
        if timed != path:
            found.append(
                readers.page(f"{who} {name}, over time".strip(), f"{timed}&over-time=part", email)
            )
    return found


class Waiting:
    """Asks for something small again and again, and keeps how long each took, in milliseconds."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._ended = threading.Event()
        self.took: list[float] = []
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _ask(self) -> None:
        with httpx2.Client(timeout=60, verify=False) as client:  # plain HTTP
            while not self._ended.wait(0.005):
                began = time.perf_counter()
                client.get(f"{self._root}/livez")
                self.took.append((time.perf_counter() - began) * 1000)


def measured(folder: Path, now: datetime) -> bool:
    """Ask one worker for each page, and crowd two; of the smallest size one is enough for both."""
    data_dir = folder / "data"
    met = True
    if "CROWD" not in os.environ:
        slow = slowness()
        print(speed_note(slow))
        for place in range(len(HEALTH))[:: sized(1, 4)]:
            with serving(data_dir, 1) as service:
                met = asked(service, place, now, slow) and met
    with serving(data_dir, 2) as service:
        return crowd(service, Readers(service), now) and met


def serving(data_dir: Path, workers: int) -> AbstractContextManager[Service]:
    """A service over what is loaded."""
    return running_service(data_dir, "--workers", str(workers), keeps_store=True)


def asked(service: Service, place: int, now: datetime, slow: float) -> bool:
    """Ask a fresh worker for the page at `place`, and print; gives whether its goals were met."""
    readers = Readers(service)
    page = page_of_health(readers, place, now)
    first = page.milliseconds()
    took = sorted(page.milliseconds() for _ in range(ASKS))
    again = statistics.median(page.milliseconds(made=False) for _ in range(5))
    with Waiting(readers.root) as waiting:
        page.milliseconds()
        page.milliseconds()
    (worker,) = worker_pids(service.process.pid)
    at_once = pss_mb(worker)
    time.sleep(2 * EVERY_S)  # the worker gives free memory back in the meantime
    ratios = {
        "first": first / slow / FIRST_MS,
        "again": again / slow / AGAIN_MS,
        "longest wait of another": max(waiting.took) / slow / WAIT_MS,
        "worker's memory": pss_mb(worker) / WORKER_MB,
    }
    said = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    print(
        f"{page.name}: {said} of the goal; first {first:.0f} ms, made again: median"
        f" {statistics.median(took):.0f}, p95 {percentile(took, 0.95):.0f} ms; kept {again:.0f}"
        f" ms; wait {max(waiting.took):.0f} ms; {at_once:.0f} MB right after {ASKS + 1} questions",
        flush=True,
    )
    return all(ratio <= 1 for ratio in ratios.values())


def crowd(service: Service, readers: Readers, now: datetime) -> bool:
    """Ask for each page many times at once; gives whether every one was answered."""
    met = True
    workers = worker_pids(service.process.pid, 2)
    server = postmaster(service.data_dir)
    print(f"{'page':44}{AT_ONCE:>4} at once: 5xx  slowest s  CPU ms a page: workers, PostgreSQL")
    for page in every_page(readers, now)[:: sized(1, 24)]:
        before = sum(map(cpu_seconds, workers)), cpu_of_tree(server)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            answers = list(pool.map(lambda one: one.timed(), [page] * AT_ONCE))
        after = sum(map(cpu_seconds, workers)), cpu_of_tree(server)
        failed = sum(status >= _FAULTS for status, _ in answers)
        met = met and not failed
        own, its = ((b - a) / AT_ONCE * 1000 for a, b in zip(before, after, strict=True))
        slowest = max(seconds for _, seconds in answers)
        print(f"{page.name:44}{failed:17}{slowest:11.1f}{own:24.0f}{its:12.0f}", flush=True)
    jobs = jobs_pid(service.process.pid)
    print(
        f"jobs: {pss_mb(jobs):.0f} MB, at most {peak_rss_mb(jobs):.0f} MB resident, of which"
        f" {rss_mb(jobs) - pss_mb(jobs):.0f} MB are shared"
    )
    return met


def main() -> int:
    """Load, ask, print; 1 when a goal is missed."""
    with loaded_once(load, window_start(datetime.now(UTC))) as (folder, now):
        met = measured(folder, now)
    print(f"{AAS} AAs x {FIPS} FIPs: every goal met: {met}")
    return exit_code(met=met)


if __name__ == "__main__":
    sys.exit(main())
