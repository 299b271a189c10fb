"""bench/ten_times: the operator's queues at 1, 10 and 100 times a national network, by simulation.

    python -m bench.ten_times

First 20 AAs push at the same second to a real service with one worker; the same is simulated with
the CPU of one push that was measured just before, and both are printed: what the simulation is
worth. So are two other cases. Times of these are CPU seconds of a process that never rests: they
are the same on a busy machine. Then the load of three networks goes through the queues of several
installations.

Simulated, event by event: AAs that push both payloads in offsets of their own, tokens of which
half are asked for in the first minute of an hour, pages, registry reads, the check of a payload in
a process of its own, the database, the sums of each AA and hour, the detection of each window, and
the packing of tokens; an outage of three hours whose payloads agents then send, two at a time. A
part works first come, first served, and is never slower for being busy. The costs are those that
`bench/size` and `bench/watch` printed on 2026-11-23 and 24,
but for the two that are assumed. Here all CPU of a push counts as that of its check.
"""

import heapq
import random
import statistics
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from bench.sizes import sized
from bench.support import scratch
from bench.together import Together, pushed_together

HOUR_S: Final = 3600.0
WINDOW_S: Final = 600.0
OUTAGE_S: Final = 3 * HOUR_S
STEADY_S: Final = sized(2.0, 0.6) * HOUR_S
HORIZON_S: Final = sized(12.0, 0.9) * HOUR_S
"""What is not caught up by then is said to grow, and what is asked for more than it can do."""
CHECK_S: Final = 0.0236e-3
"""Of a row that is pushed: 30.6 ms for 1,300 rows."""
STORE_S: Final = 0.0061e-3
SUM_S, SUM_STORE_S = 0.0765e-3, 0.0065e-3
"""Of a row: 199 and 17 ms for a window of 2,600 rows."""
TOKEN_S: Final = 0.32e-3
PACK_S, PACK_STORE_S = 0.09e-3, 0.03e-3
READ_S: Final = 0.3e-3
"""Of an unchanged listing of the registry; assumed, of the order of a token."""
PAGE_S, PAGE_STORE_S = 25e-3, 5e-3
"""Of a page; assumed."""
BLOCKS: Final = 5000
"""FIPs in a payload, at most."""
GROUP_S: Final = 0.01
"""Tokens come in groups of so much CPU, so that a hundred million a day can be simulated."""


@dataclass(frozen=True)
class Network:
    """The network that an operator has to serve."""

    name: str
    aas: int
    fips: int
    members: int
    tokens_a_day: float
    readers: int
    detection_s: float
    """CPU of one window."""
    rows_of_fip: float = 3.47
    """In both payloads of a window: a quarter of 14."""


@dataclass(frozen=True)
class Installation:
    """The machines and processes that serve it: processes and cores."""

    name: str
    workers: int = 2
    database: int = 2
    shards: int = 1
    """Processes that sum, each its AAs."""


NETWORKS: Final = (
    Network("1x", 20, 2_000, 600, 1e6, 50, 0.3),
    Network("10x", 60, 7_000, 6_000, 1e7, 100, 4.0),
    Network("100x", 200, 20_000, 60_000, 1e8, 200, 55.0),
)
INSTALLATIONS: Final = (
    Installation("one node, 2 workers"),
    Installation("4 nodes", workers=8),
    Installation("by AA, 4 shards", workers=8, database=8, shards=4),
    Installation("by AA, 16 shards", workers=32, database=32, shards=16),
)


@dataclass
class Part:
    """Some equal servers with one queue."""

    name: str
    servers: int
    busy: int = 0
    asked_s: float = 0.0
    """Of work that came, done or not."""
    queue: deque[tuple[float, Callable[[], None]]] = field(default_factory=deque)


@dataclass
class Line:
    """The clock of a simulation, and what happens when."""

    now: float = 0.0
    _next: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _numbers: "count[int]" = field(default_factory=count)

    def at(self, moment: float, act: Callable[[], None]) -> None:
        """Let something happen."""
        heapq.heappush(self._next, (moment, next(self._numbers), act))

    def run(self, until: float) -> None:
        """Let time pass."""
        while self._next and self._next[0][0] <= until:
            self.now, _, act = heapq.heappop(self._next)
            act()
        self.now = until

    def work(self, stages: Sequence[tuple[Part, float]], then: Callable[[], None]) -> None:
        """Go through parts, one after the other."""
        if not stages:
            then()
            return
        (part, seconds), *rest = stages
        part.asked_s += seconds
        self._serve(part, seconds, lambda: self.work(rest, then))

    def _serve(self, part: Part, seconds: float, then: Callable[[], None]) -> None:
        if part.busy == part.servers:
            part.queue.append((seconds, then))
            return
        part.busy += 1

        def done() -> None:
            part.busy -= 1
            if part.queue:
                self._serve(part, *part.queue.popleft())
            then()

        self.at(self.now + seconds, done)


class Operator:
    """An installation under the load of a network."""

    def __init__(self, network: Network, installation: Installation, seed: int = 1) -> None:
        self.network, self._dice, self.line = network, random.Random(seed), Line()
        self.workers = Part("workers", installation.workers)
        self.checks = Part("checks", installation.workers)
        self.database = Part("database", installation.database)
        self.jobs = [Part(f"jobs {n}", 1) for n in range(installation.shards)]
        self.waits: dict[str, list[float]] = {}
        self.rows = network.fips * network.rows_of_fip
        self.open = 0
        """Payloads that are not durable, and hours that are not summed."""

    def all_parts(self) -> list[Part]:
        """Each part once."""
        return [self.workers, self.checks, self.database, *self.jobs]

    def load(self, seconds: float) -> None:
        """Let the usual load come for so long."""
        line, network = self.line, self.network
        for aa in range(network.aas):
            offset = self._dice.uniform(0, WINDOW_S / 2)
            for window in range(int(seconds / WINDOW_S)):
                line.at(window * WINDOW_S + offset, self.push_window)
            for hour in range(int(seconds / HOUR_S)):
                line.at(hour * HOUR_S, partial(self.sum_hour, aa))
        for window in range(int(seconds / WINDOW_S)):
            line.at(window * WINDOW_S + WINDOW_S / 2, self._detect)
        group = max(1, int(GROUP_S / TOKEN_S)) if network.tokens_a_day > 2e6 else 1
        for moment in self._token_times(seconds, group):
            line.at(moment, lambda: self.token(group))
        for minute in range(1, int(seconds / 60)):
            line.at(minute * 60.0, self._pack)
        self._evenly(seconds, network.readers / 10, self._page)
        self._evenly(seconds, network.members / HOUR_S, self._read)

    def _evenly(self, seconds: float, rate: float, act: Callable[[], None]) -> None:
        for _ in range(int(seconds * rate)):
            self.line.at(self._dice.uniform(0, seconds), act)

    def _token_times(self, seconds: float, group: int) -> list[float]:
        of_hour = int(self.network.tokens_a_day / 24 / group)
        begins = [hour * HOUR_S for hour in range(max(1, int(seconds / HOUR_S)))]
        spans = (60.0, HOUR_S)
        return [
            begin + self._dice.uniform(0, spans[place % 2])
            for begin in begins
            for place in range(of_hour)
        ]

    def _noted(self, kind: str, stages: Sequence[tuple[Part, float]]) -> None:
        began, own = self.line.now, sum(seconds for _, seconds in stages)

        def done() -> None:
            self.waits.setdefault(kind, []).append(max(0.0, self.line.now - began - own))

        self.line.work(stages, done)

    def token(self, group: int = 1) -> None:
        """A group of tokens."""
        self._noted("token", [(self.workers, group * TOKEN_S)])

    def _page(self) -> None:
        self._noted("page", [(self.workers, PAGE_S), (self.database, PAGE_STORE_S)])

    def _read(self) -> None:
        self._noted("read", [(self.workers, READ_S)])

    def push_stages(self) -> list[list[tuple[Part, float]]]:
        """Returns the work that the payloads of one window of an AA need."""
        parts = 2 * -(-self.network.fips // BLOCKS)
        rows = self.rows / parts
        return [[(self.checks, rows * CHECK_S), (self.database, rows * STORE_S)]] * parts

    def push_window(self) -> None:
        """An AA pushes what it has of a window."""
        for stages in self.push_stages():
            self._noted("push", stages)

    def sum_hour(self, aa: int, then: Callable[[], None] = lambda: None) -> None:
        """An hour of an AA is summed."""
        rows = 6 * self.rows
        jobs = self.jobs[aa % len(self.jobs)]
        self.line.work([(jobs, rows * SUM_S), (self.database, rows * SUM_STORE_S)], then)

    def _detect(self) -> None:
        self.line.work([(self.jobs[0], self.network.detection_s)], lambda: None)

    def _pack(self) -> None:
        tokens = self.network.tokens_a_day / 1440
        stages = [(self.jobs[0], tokens * PACK_S), (self.database, tokens * PACK_STORE_S)]
        self.line.work(stages, lambda: None)

    def catch_up(self) -> None:
        """Let each agent send the payloads of an outage, two at a time, then sum their hours."""
        windows = int(OUTAGE_S / WINDOW_S)
        for aa in range(self.network.aas):
            payloads = deque(stages for _ in range(windows) for stages in self.push_stages())
            left = [len(payloads)]
            self.open += len(payloads) + int(OUTAGE_S / HOUR_S)
            for _ in range(2):
                begin = self._dice.uniform(0, 60)
                self.line.at(begin, partial(self._next, payloads, left, aa))

    def _next(self, payloads: deque[list[tuple[Part, float]]], left: list[int], aa: int) -> None:
        if not payloads:
            return

        def stored() -> None:
            self.open -= 1
            left[0] -= 1
            if not left[0]:
                for _ in range(int(OUTAGE_S / HOUR_S)):
                    self.sum_hour(aa, self._summed)
            self._next(payloads, left, aa)

        self.line.work(payloads.popleft(), stored)

    def _summed(self) -> None:
        self.open -= 1


@dataclass(frozen=True)
class Found:
    """The outcome of a network in an installation."""

    use: dict[str, float]
    p99_s: dict[str, float]
    backlog: int
    gone_s: float

    def line(self) -> str:
        """One line of the table."""
        use = " | ".join(f"{100 * self.use.get(part, 0):.0f} %" for part in PARTS)
        waits = " | ".join(shown(self.p99_s.get(kind, 0)) for kind in ("token", "push", "page"))
        grows = self.gone_s > HORIZON_S or max(self.use.values()) > 1
        gone = "grows" if grows else shown(self.gone_s)
        first = max(self.use, key=lambda part: self.use[part])
        return f"{use} | {waits} | {self.backlog:,} | {gone} | {first}"


PARTS: Final = ("workers", "checks", "database", "jobs")


def shown(seconds: float) -> str:
    """A time for people."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < WINDOW_S:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min"


def simulate(network: Network, installation: Installation) -> Found:
    """Let two hours of load come, then an outage's payloads on top of it."""
    steady = Operator(network, installation)
    steady.load(STEADY_S)
    steady.line.run(STEADY_S)
    use = usage(steady)
    p99 = {kind: quantile(waits, 0.99) for kind, waits in steady.waits.items()}
    after = Operator(replace(network, tokens_a_day=0, readers=0), installation)
    after.load(HORIZON_S)
    after.catch_up()
    backlog = sum(len(after.push_stages()) for _ in range(network.aas)) * int(OUTAGE_S / WINDOW_S)
    while after.open and after.line.now < HORIZON_S:
        after.line.run(after.line.now + 10)
    return Found(use, p99, backlog, after.line.now if not after.open else HORIZON_S + 1)


def usage(steady: Operator) -> dict[str, float]:
    """The part of its time that each part is asked to work; above 1 its queue grows."""
    used: dict[str, float] = {}
    for part in steady.all_parts():
        name = "jobs" if part.name.startswith("jobs") else part.name
        share = part.asked_s / (STEADY_S * part.servers)
        used[name] = max(used.get(name, 0), share)
    return used


def quantile(values: list[float], q: float) -> float:
    """The value below which so many are; 0 without any."""
    return sorted(values)[min(len(values) - 1, int(q * len(values)))] if values else 0.0


def compare(real: Together) -> None:
    """Print what was measured and what is simulated of AAs that push at the same second."""
    worker, check, store = Part("workers", 1), Part("checks", 1), Part("database", 2)
    line, ended = Line(), list[float]()
    for _ in real.waits_s:
        stages = [(worker, real.worker_s), (check, real.check_s), (store, real.database_s)]
        line.work(stages, lambda: ended.append(line.now))
    line.run(HOUR_S)
    print(
        f"{real.name}: CPU of the worker {1000 * real.worker_s:.1f} ms, of the check"
        f" {1000 * real.check_s:.1f} ms, of the database {1000 * real.database_s:.1f} ms;"
        f" alone durable after {1000 * real.alone_s:.1f} ms"
    )
    for name, waits in (("measured", real.waits_s), ("simulated", ended)):
        print(
            f"  at the same second, {name}: median {1000 * statistics.median(waits):.0f} ms,"
            f" last {1000 * max(waits):.0f} ms"
        )
    lasts = ", ".join(f"{1000 * max(waits):.0f}" for waits in real.rounds)
    print(f"  the last of each round: {lasts} ms")
    print(f"simulated ÷ measured, the last: {max(ended) / max(real.waits_s):.2f}", flush=True)


def main() -> None:
    """Compare with what is real, then print the table."""
    with scratch() as home:
        for real in pushed_together(Path(home) / "data"):
            compare(real)
    print(
        f"| network | installation | {' | '.join(PARTS)} | token p99 | push p99 | page p99"
        " | payloads after 3 h | gone after | fullest |"
    )
    few = replace(NETWORKS[0], members=6, tokens_a_day=1e4, readers=1)
    for network in sized(NETWORKS, (few,)):
        for rows, name in ((3.47, "quarter"), (14.0, "full"))[: sized(2, 1)]:
            for installation in INSTALLATIONS[: sized(4, 1)]:
                found = simulate(replace(network, rows_of_fip=rows), installation)
                print(
                    f"| {network.name}, {name} | {installation.name} | {found.line()} |", flush=True
                )


if __name__ == "__main__":
    main()
