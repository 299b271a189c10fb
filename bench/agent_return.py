"""200 agents return at the same second, each with a backlog.

    python -m bench.agent_return [WINDOWS] [AGENTS]

Payloads made beforehand are pushed to a real service over HTTP, by the rules of an agent: at most
2 in flight, 2 starts a second, oldest first, and after a refusal nothing before `Retry-After` is
over. All agents are one light process here, since 200 whole ones on the same two cores would be
what is measured (that an agent keeps these rules: tests/faults/test_agent_delivery.py).

A backlog of 72 hours is 432 windows; by default each agent has fewer, the oldest of them, and the
time for 432 follows from the CPU that a push costs service and database, since in a short run most
of the time is spent waiting as `Retry-After` says. The CPU is counted on until all sums are made.
What an answer took is what the service reports of all answers, and next to it what an agent saw.
Goals: p99 of the operator below 1 s, the whole backlog gone in under 30 minutes, nothing lost.
"""

import asyncio
import json
import os
import random
import re
import time
import uuid
from collections import Counter, deque
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import msgspec
import psycopg
import uvloop
from tests.support.metrics.metrics_payloads import notification_metrics, request_metrics

from bench.entity_token import make_members
from bench.sizes import argument, sized
from bench.support import (
    RunningService,
    cpu_of_tree,
    cpu_seconds,
    data_directory,
    database_kept_up,
    percentile,
    scratch,
    worker_pids,
)
from mudra.agent.clock import SECOND
from mudra.agent.delivery.backoff import BETWEEN_STARTS, IN_FLIGHT
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.storage.database.embedded.server import embedded_server

FIPS = 10
OUTAGE = 432
CORES = 2
WORKERS = sized(2, 1)
MOST_S = 1_500
PUSH = "/metrics/perf/v1/push"
TOKEN = "/iam/v1/entity/token/generate"
_STATUS_AND_LENGTH: Final = re.compile(
    rb"HTTP/1.1 (\d+).*?\r\ncontent-length: *(\d+)", re.IGNORECASE | re.DOTALL
)
_RETRY_AFTER: Final = re.compile(rb"\r\nretry-after: *(\d+)", re.IGNORECASE)


class Line:
    """One keep-alive connection; opened again when the service has closed it."""

    def __init__(self, port: int, address: str) -> None:
        self._port, self._address = port, address
        self._open: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, path: str, kind: str, body: bytes, bearer: str) -> tuple[int, bytes, bytes]:
        """Give status, head and body of the answer."""
        sent = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: {kind}\r\n"
            f"Accept: application/json\r\nContent-Length: {len(body)}\r\n{bearer}\r\n"
        ).encode() + body
        for _ in range(2):
            try:
                return await self._exchange(sent)
            except (OSError, asyncio.IncompleteReadError):
                self.close()  # idle for too long: the same again is a duplicate at worst
        raise ConnectionError("the service closes every connection")

    async def _exchange(self, sent: bytes) -> tuple[int, bytes, bytes]:
        if self._open is None:
            self._open = await asyncio.open_connection(
                "127.0.0.1", self._port, local_addr=(self._address, 0)
            )
        reader, writer = self._open
        writer.write(sent)
        head = await reader.readuntil(b"\r\n\r\n")
        found = _STATUS_AND_LENGTH.match(head)
        assert found is not None, head
        return int(found[1]), head, await reader.readexactly(int(found[2]))

    def close(self) -> None:
        """Close it."""
        if self._open is not None:
            self._open[1].close()
            self._open = None


class Returning:
    """One AA's backlog, and the rules by which its agent sends it."""

    def __init__(self, number: int, aa_id: str, secret: str, windows: int) -> None:
        self._aa_id, self._secret = aa_id, secret
        self._address = f"127.0.{1 + number // 250}.{1 + number % 250}"
        first = window_start(datetime.now(UTC)) - (OUTAGE + 2) * WINDOW
        self._waiting = deque(
            msgspec.json.encode(
                make(FIPS, aa_id, str(uuid.uuid4()), first + place * WINDOW, place % 7)
            )
            for place in range(windows)
            for make in (request_metrics, notification_metrics)
        )
        self._bearer = ""
        self._paused_until = 0.0

    async def deliver(self, port: int, seen: list[tuple[int, float]]) -> None:
        """Push until nothing waits."""
        lines = [Line(port, self._address) for _ in range(IN_FLIGHT)]
        form = urlencode({"id": self._aa_id, "secret": self._secret}).encode()
        kind = "application/x-www-form-urlencoded"
        while True:
            status, head, answer = await lines[0].ask(TOKEN, kind, form, "")
            if status == 200:
                break
            await asyncio.sleep(asked_to_wait(head, answer))
        self._bearer = f"Authorization: Bearer {json.loads(answer)['accessToken']}\r\n"
        pace = asyncio.Lock()
        await asyncio.gather(*(self._sends(line, pace, seen) for line in lines))

    async def _sends(self, line: Line, pace: asyncio.Lock, seen: list[tuple[int, float]]) -> None:
        while self._waiting:
            async with pace:
                await asyncio.sleep(max(0.0, self._paused_until - time.monotonic()))
                if not self._waiting:
                    break
                if self._paused_until > time.monotonic():
                    continue  # the other push was sent away meanwhile
                body = self._waiting.popleft()
                self._paused_until = time.monotonic() + BETWEEN_STARTS / SECOND
            started = time.perf_counter()
            status, head, answer = await line.ask(PUSH, "application/json", body, self._bearer)
            seen.append((status, time.perf_counter() - started))
            if status != 200:
                self._waiting.appendleft(body)
                until = time.monotonic() + asked_to_wait(head, answer)
                self._paused_until = max(self._paused_until, until)
        line.close()


def asked_to_wait(head: bytes, answer: bytes) -> float:
    """Seconds until the next try, as an agent waits."""
    shown = _RETRY_AFTER.search(head)
    assert shown is not None, head + answer
    return int(shown[1]) + random.random()


async def all_return(port: int, agents: list[Returning], seen: list[tuple[int, float]]) -> float:
    """Seconds until every backlog is gone."""
    started = time.monotonic()
    async with asyncio.timeout(MOST_S):
        await asyncio.gather(*(agent.deliver(port, seen) for agent in agents))
    return time.monotonic() - started


def own_times(log: Path) -> list[float]:
    """Seconds that the service says it took for each push, taken or sent away."""
    shown = (json.loads(line) for line in log.read_text().splitlines() if f'"{PUSH}"' in line)
    return [one["ms"] / 1000 for one in shown]


def sums_made(data_dir: Path) -> float:
    """Wait until nothing is stale any more; gives how many seconds that took."""
    started = time.monotonic()
    with embedded_server(data_dir) as conninfo, psycopg.connect(conninfo) as connection:
        connection.autocommit = True
        while connection.execute("SELECT 1 FROM metrics_stale LIMIT 1").fetchone():
            assert time.monotonic() - started < MOST_S
            time.sleep(0.5)
    return time.monotonic() - started


def _not_waited_for(_: Path) -> float:
    """Return at once: sums of late windows are made minutes later (rollup_delay)."""
    return 0.0


def stored(data_dir: Path) -> int:
    """Payloads that the service keeps, each once."""
    with embedded_server(data_dir) as conninfo, psycopg.connect(conninfo) as connection:
        row = connection.execute(
            "SELECT count(*), count(DISTINCT (aa_id, tag, window_at)) FROM metrics_receipt"
        ).fetchone()
    assert row is not None
    assert row[0] == row[1], "a payload was stored twice"
    return int(row[0])


def main() -> None:
    """Measure and print."""
    windows, number = int(argument(1, 12, 1)), int(argument(2, 200, 2))
    with scratch() as folder, ExitStack() as stack:
        data_dir = data_directory(folder)
        stack.enter_context(database_kept_up(data_dir))
        secrets = make_members(data_dir, number, "AA")
        seen: list[tuple[int, float]] = []
        agents = [
            Returning(place, aa_id, secret, windows)
            for place, (aa_id, secret) in enumerate(secrets.items())
        ]
        with RunningService(data_dir, "--workers", str(WORKERS)) as service:
            server = int(next(data_dir.rglob("postmaster.pid")).read_text().splitlines()[0])
            workers = worker_pids(service.pid, WORKERS)
            before = cpu_of_tree(service.pid) + cpu_of_tree(server)
            receiving_before = sum(map(cpu_seconds, workers)) + cpu_of_tree(server)
            own_before = time.process_time()
            took = uvloop.run(all_return(service.port, agents, seen))
            own = time.process_time() - own_before
            receiving = sum(map(cpu_seconds, workers)) + cpu_of_tree(server) - receiving_before
            later = sized(sums_made, _not_waited_for)(data_dir)
            used = cpu_of_tree(service.pid) + cpu_of_tree(server) - before
        kept = stored(data_dir)
        inside = own_times(data_dir.parent / "service.log")
    payloads = 2 * windows * number
    # Sums are made by the job next to it, and can be made when all is there: an acknowledged
    # payload is stored. The database's share in making them so far cannot be distinguished.
    each, with_sums = receiving / payloads, used / payloads
    print(f"agent_return: {number} agents, {windows} windows of both tags each, {FIPS} FIPs")
    print(f"  answers by status: {dict(Counter(status for status, _ in seen))}")
    print(
        f"  stored once each: {kept} of {payloads}, in {took:.0f} s; all sums {later:.0f} s later"
    )
    outside = [seconds for _, seconds in seen]
    print(
        f"  p99 of an answer: {percentile(inside, 0.99):.3f} s by the service (goal 1), "
        f"{percentile(outside, 0.99):.3f} s seen by agents on the same machine "
        f"({own / took:.2f} of a core); load {os.getloadavg()[0]:.1f}"
    )
    print(
        f"  CPU for each payload stored, answers of 503 included: workers and database "
        f"{each * 1000:.1f} ms, with the job that makes sums {with_sums * 1000:.1f} ms"
    )
    print(
        f"  {OUTAGE} windows each on {CORES} cores of its own: received in {_whole(each, number)} "
        f"(goal 0:30:00), with all sums {_whole(with_sums, number)}"
    )


def _whole(each: float, agents: int) -> timedelta:
    """The time that the backlog takes: an agent alone starts two a second, a core does so much."""
    work = OUTAGE * 2 * agents * each / CORES
    return timedelta(seconds=round(max(OUTAGE * 2 * BETWEEN_STARTS / SECOND, work)))


if __name__ == "__main__":
    main()
