"""The cost of a service that no one uses, and of a reset while many processes listen.

    python -m bench.idle [SECONDS] [WORKERS ...]        SECONDS: 60, which has every minute's jobs

Goals: at rest at most 1 % of a core with 2 workers and 5 % with 24, the embedded PostgreSQL apart,
without connections and with some that are open; a reset below 60 ms in the median. A reset is
measured among idle workers, then while all of them issue tokens; next to it a transaction of one
row, committed to the same disk.
"""

import asyncio
import contextlib
import itertools
import socket
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx2
import psycopg
from msgspec import Struct

from bench.entity_token import make_members
from bench.people import PASSWORD, make_people
from bench.sizes import argument, exit_code, sized
from bench.support import (
    RunningService,
    cpu_seconds,
    data_directory,
    database_kept_up,
    forks,
    form_request,
    percentile,
    scratch,
)
from mudra.bootstrap.node.serve import open_store
from mudra.settings.settings import Settings

WORKERS: Final = sized((2, 24), (1,))
GOALS: Final = {2: 0.01, 24: 0.05}
"""Of a core."""
RESET_GOAL_S: Final = 0.06
RESETS: Final = int(sized(30, 2))
COMMITS: Final = int(sized(100, 10))
PAUSE_S: Final = 0.05
"""After a reset: what it makes other processes do belongs to it."""
SETTLE_S: Final = sized(15.0, 0.05)
"""Until processes that were asked for something at the start count as idle."""
AWAKE_EVERY_S: Final = 0.5
CONNECTIONS: Final = 4
"""For each worker: the kernel spreads connections by chance."""
KEPT_S: Final = 10.0
"""Of the 15 s after which the service closes connections on which nothing arrives."""


class Used(Struct, frozen=True):
    """The CPU time and memory that one process used so far."""

    cpu_s: float
    wakes: int


NOTHING: Final = Used(0.0, 0)


class Resets(Struct, frozen=True):
    """The seconds that some resets took."""

    took: list[float]
    """Seconds of each."""
    cpu_s: float
    """Of all processes, PostgreSQL's included, for one reset."""


def main() -> None:
    """Measure and print; 1 when a goal is missed."""
    seconds = argument(1, 60, 0.2)
    sizes = [int(word) for word in sys.argv[2:]] or WORKERS
    met = True
    for workers in sizes:
        with scratch() as folder:
            data_dir = data_directory(folder)
            with database_kept_up(data_dir):
                met &= measure(data_dir, workers, seconds)
    raise SystemExit(exit_code(met=met))


def measure(data_dir: Path, workers: int, seconds: float) -> bool:
    """Measure one service; gives whether it met its goals."""
    settings = Settings(data_dir=data_dir)
    members = make_members(data_dir, 1)
    with open_store(settings, create=False) as (conninfo, encryption):
        people = list(make_people(conninfo, encryption, settings, 2 * RESETS).items())
    variables = {"MUDRA_ENTITY_TOKEN_RATE": "100000+100000"}
    with (
        RunningService(data_dir, "--workers", str(workers), **variables) as service,
        open_store(settings, create=False) as (conninfo, _),
    ):
        time.sleep(SETTLE_S)
        server = server_pid(conninfo)
        core = at_rest(service.pid, server, workers, seconds, conninfo)
        with connected(service.port, CONNECTIONS * workers):
            time.sleep(sized(4.0, 0.05))
            kept = at_rest(service.pid, server, workers, min(seconds, KEPT_S), conninfo)
        idle = resets(service.port, people[:RESETS], service.pid, server)
        with awake(service.port, *next(iter(members.items())), CONNECTIONS * workers):
            busy = resets(service.port, people[RESETS:], service.pid, server)
        commit = statistics.median(commits(conninfo))
    goal = GOALS.get(workers, max(GOALS.values()))
    print(
        f"{workers} workers at rest: {core:.2%} of a core ÷ goal of {goal:.0%}: {core / goal:.2f}"
    )
    print(f"{workers} workers with open connections: {kept:.2%}")
    for name, done in (("idle", idle), ("issuing", busy)):
        took, median = done.took, statistics.median(done.took)
        print(
            f"{workers} workers {name}: reset median {median * 1000:.1f} ms, least"
            f" {min(took) * 1000:.1f}, p90 {percentile(took, 0.9) * 1000:.1f};"
            f" ÷ goal of 60 ms: {median / RESET_GOAL_S:.2f},"
            f" ÷ a bare commit ({commit * 1000:.1f} ms): {median / commit:.1f};"
            f" CPU of all processes {done.cpu_s * 1000:.0f} ms a reset",
            flush=True,
        )
    return max(core, kept) <= goal and statistics.median(idle.took) <= RESET_GOAL_S


def at_rest(supervisor: int, server: int, workers: int, seconds: float, conninfo: str) -> float:
    """Watch for so long; gives the share of a core that our own processes took."""
    before = used_by(supervisor, server)
    started = time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - started
    after = {pid: one for pid, one in used_by(supervisor, server).items() if pid in before}
    of_server = set(tree(server)) & after.keys()
    own = after.keys() - of_server
    of_workers = set(forks(supervisor)[-workers:])
    parts = {
        "supervisor": {supervisor},
        "workers": of_workers,
        "jobs and others": own - of_workers - {supervisor},
        "PostgreSQL": of_server,
    }
    for name, pids in parts.items():
        cpu = sum(after[pid].cpu_s - before[pid].cpu_s for pid in pids)
        wakes = sum(after[pid].wakes - before[pid].wakes for pid in pids)
        print(
            f"  {name}: {len(pids)} processes, {cpu / took:.2%} of a core,"
            f" {wakes / took:.1f} wake-ups a second"
        )
    with psycopg.connect(conninfo) as connection:
        row = connection.execute(
            "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'"
        ).fetchone()
    print(f"  connections: {row and row[0]}", flush=True)
    return sum(after[pid].cpu_s - before[pid].cpu_s for pid in own) / took


def resets(port: int, people: list[tuple[str, str]], *roots: int) -> Resets:
    """Reset the secret of each, all of whom have signed in before."""
    took, bearers = [], {}
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}/iam/v1", timeout=60) as client:
        for entity, email in people:
            form = {"username": email, "password": PASSWORD}
            login = client.post("/user/token/generate", data=form).raise_for_status()
            bearers[entity] = {"Authorization": f"Bearer {login.json()['accessToken']}"}
        before = used_by(*roots)
        for entity, bearer in bearers.items():
            order = {"entityId": entity, "secretExpiryDays": 90, "oldSecretValidity": 0}
            started = time.monotonic()
            client.post("/entity/secret/reset", json=order, headers=bearer).raise_for_status()
            took.append(time.monotonic() - started)
            time.sleep(PAUSE_S)
        after = used_by(*roots)
        # A server's process may begin or end meanwhile; those that did both are few.
        spent = (one.cpu_s - before.get(pid, NOTHING).cpu_s for pid, one in after.items())
        return Resets(took, sum(spent) / len(took))


@contextlib.contextmanager
def connected(port: int, connections: int) -> Iterator[None]:
    """Keep connections open meanwhile, on each of which one request was answered."""
    with contextlib.ExitStack() as stack:
        for _ in range(connections):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port), 20))
            client.sendall(b"GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            assert client.recv(4096).startswith(b"HTTP/1.1 200")
        yield


@contextlib.contextmanager
def awake(port: int, entity: str, secret: str, connections: int) -> Iterator[None]:
    """Ask for a token on each of many connections, twice a second, meanwhile."""
    request = form_request("/iam/v1/entity/token/generate", id=entity, secret=secret)
    end = threading.Event()

    async def ask(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.sleep(AWAKE_EVERY_S * number / connections)
        while not end.is_set():
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            await reader.readexactly(int(length))
            await asyncio.sleep(AWAKE_EVERY_S)
        writer.close()

    async def ask_all() -> None:
        await asyncio.gather(*map(ask, range(connections)))

    thread = threading.Thread(target=asyncio.run, args=(ask_all(),))
    thread.start()
    time.sleep(sized(3.0, 0.05))
    try:
        yield
    finally:
        end.set()
        thread.join()


def commits(conninfo: str) -> Iterator[float]:
    """Give the seconds of a transaction that writes one row, again and again."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        for _ in range(COMMITS):
            started = time.monotonic()
            connection.execute("UPDATE service_fact SET value = value WHERE name = 'base-url'")
            yield time.monotonic() - started


def server_pid(conninfo: str) -> int:
    """Return the process of PostgreSQL that starts all others of it."""
    with psycopg.connect(conninfo) as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert row is not None
        status = Path(f"/proc/{row[0]}/status").read_text()
    return int(status.partition("PPid:")[2].split()[0])


def tree(pid: int) -> list[int]:
    """Return a process and all that it started, and so on."""
    return [pid, *itertools.chain.from_iterable(map(tree, children(pid)))]


def children(pid: int) -> list[int]:
    """Return the processes that one started."""
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, task.read_text().split())
    return found


def used_by(*roots: int) -> dict[int, Used]:
    """Return what processes and all that they started used so far."""
    found = {}
    for pid in itertools.chain.from_iterable(map(tree, roots)):
        with contextlib.suppress(OSError):
            found[pid] = used(pid)
    return found


def used(pid: int) -> Used:
    """Return what all threads of a process used so far."""
    wakes = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        for line in (task / "status").read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches"):
                wakes += int(line.split()[1])
    return Used(cpu_seconds(pid), wakes)


if __name__ == "__main__":
    main()
