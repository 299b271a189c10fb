"""200 agents return at the same second, each with a backlog (quality G4).

    python -m bench.agent_return [WINDOWS] [AGENTS]

Real agents (their spools in memory, so that 200 disks are not measured as one) push to a real
service over HTTP. A backlog of 72 hours is 432 windows; by default each agent has fewer, and the
time for 432 follows from the CPU that a push costs service and database, since in a short run most
of the time is spent waiting as `Retry-After` says. What an answer took is what the service says
itself, and beside it what an agent saw, which shares the machine with all others.
Goals: p99 of the operator below 1 s, the whole backlog gone in under 30 minutes, nothing lost.
"""

import asyncio
import json
import os
import random
import sys
import tempfile
import time
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import msgspec
import psycopg

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.support.metrics_payloads import notification_metrics, request_metrics

from bench.entity_token import make_members
from bench.push import cpu_of_tree
from bench.support import RunningService
from mudra.agent.assembly import Agent, assemble
from mudra.agent.backoff import BETWEEN_STARTS
from mudra.agent.clock import SECOND, MachineClock
from mudra.agent.config import Config
from mudra.agent.payload import Payload
from mudra.agent.spool import Closing
from mudra.metrics.catalogue import WINDOW, Tag, window_start
from mudra.storage.embedded import embedded_server

WINDOWS, AGENTS, FIPS = 12, 200, 10
OUTAGE = 432
CORES = 2
LOOK_S = 0.25
MOST_S = 1_500
PUSH = "/metrics/perf/v1/push"
MEMORY = Path("/dev/shm")


class Watched(httpx.AsyncHTTPTransport):
    """Keeps how long each push took for the agent, by status."""

    def __init__(self, seen: list[tuple[int, float]]) -> None:
        super().__init__()
        self._seen = seen

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send it, with a look at the clock before and after."""
        started = time.perf_counter()
        answer = await super().handle_async_request(request)
        if request.url.path == PUSH:
            self._seen.append((answer.status_code, time.perf_counter() - started))
        return answer


def returning(
    home: Path, root: str, aa_id: str, secret: str, windows: int, seen: list[tuple[int, float]]
) -> Agent:
    """An agent with this many windows of both tags in its spool."""
    home.mkdir()
    (home / "secret").write_text(secret)
    told = {
        "aa_id": aa_id,
        "directory": str(home / "spool"),
        "operator": {"token_url": f"{root}/iam", "push_url": f"{root}{PUSH}"},
        "credentials": {"id": {"value": aa_id}, "secret": {"file": str(home / "secret")}},
    }
    agent = assemble(
        msgspec.convert(told, Config), MachineClock(), random.uniform, lambda _: None, Watched(seen)
    )
    last = window_start(datetime.now(UTC)) - 2 * WINDOW
    for place in range(windows):
        start = last - place * WINDOW
        at = int(start.timestamp() * 1000)
        made = [
            Payload(at, tag, txn_id, msgspec.json.encode(make(FIPS, aa_id, txn_id, start, place)))
            for tag, make in (
                (Tag.REQUESTS, request_metrics),
                (Tag.NOTIFICATIONS, notification_metrics),
            )
            for txn_id in [str(uuid.uuid4())]
        ]
        agent.keeper.spool.close_windows([Closing(at, made, at)], place + 1, b"")
    return agent


async def deliver(agent: Agent) -> None:
    """Push as a running agent does, until nothing waits."""
    sending: set[asyncio.Task[object]] = set()
    while agent.keeper.spool.backlog().records:
        waiting = await agent.pusher.next()
        if waiting is not None:
            task = asyncio.create_task(agent.pusher.send(waiting))
            sending.add(task)
            task.add_done_callback(sending.discard)
        await asyncio.sleep(LOOK_S)


async def all_return(agents: list[Agent]) -> float:
    """Seconds until every backlog is gone."""
    started = time.monotonic()
    async with asyncio.timeout(MOST_S):
        await asyncio.gather(*map(deliver, agents))
    took = time.monotonic() - started
    for agent in agents:
        await agent.pusher.http.aclose()
        agent.keeper.close()
    return took


def percentile(values: list[float], percent: int) -> float:
    """Nearest rank."""
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)] if values else 0.0


def own_times(log: Path) -> list[float]:
    """Seconds that the service says it took for each push it answered with 200."""
    told = (json.loads(line) for line in log.read_text().splitlines() if f'"{PUSH}"' in line)
    return [one["ms"] / 1000 for one in told if one["status"] == 200]


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
    windows = int(sys.argv[1]) if len(sys.argv) > 1 else WINDOWS
    number = int(sys.argv[2]) if len(sys.argv) > 2 else AGENTS
    memory = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(dir=memory) as homes:
        data_dir = Path(folder) / "data"
        secrets = make_members(data_dir, number, "AA")
        seen: list[tuple[int, float]] = []
        with RunningService(data_dir, "--workers", "2") as service:
            root = f"http://127.0.0.1:{service.port}"
            agents = [
                returning(Path(homes) / aa_id, root, aa_id, secret, windows, seen)
                for aa_id, secret in secrets.items()
            ]
            server = int(next(data_dir.rglob("postmaster.pid")).read_text().splitlines()[0])
            before = cpu_of_tree(service.pid) + cpu_of_tree(server)
            took = asyncio.run(all_return(agents))
            used = cpu_of_tree(service.pid) + cpu_of_tree(server) - before
        kept = stored(data_dir)
        payloads = 2 * windows * number
        taken = [seconds for status, seconds in seen if status == 200]
        own = own_times(data_dir.parent / "service.log")
    each = used / len(seen)
    # An agent alone starts two a second; two cores do so much and no more.
    whole = max(OUTAGE * 2 * BETWEEN_STARTS / SECOND, OUTAGE * 2 * number * each / CORES)
    print(f"agent_return: {number} agents, {windows} windows of both tags each, {FIPS} FIPs")
    print(f"  answers by status: {dict(Counter(status for status, _ in seen))}")
    print(f"  stored once each: {kept} of {payloads}, in {took:.0f} s")
    print(
        f"  p99 of a stored push: {percentile(own, 99):.3f} s by the service (goal 1), "
        f"{percentile(taken, 99):.3f} s seen by agents that share the machine; "
        f"load of the machine {os.getloadavg()[0]:.1f}"
    )
    print(
        f"  service and database: {each * 1000:.1f} ms of CPU for each push, refused ones included"
    )
    print(
        f"  {OUTAGE} windows each on {CORES} cores of its own: "
        f"{timedelta(seconds=round(whole))} (goal 0:30:00)"
    )


if __name__ == "__main__":
    main()
