"""AAs that push at the same second to a real service, and the CPU of one push before that.

Times are counted in CPU seconds of a process that never rests, next to the service: of a machine
that others use too, and differently from second to second, no process of the service can have more.
"""

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.support.metrics.metrics_push import PushingAa
from tests.support.people.operators import new_operator
from tests.support.process import running_service

from bench.push import AAS, all_at_once, bodies, push_counted, trusted_aa
from bench.sizes import SHORT, sized
from bench.support import cpu_of_tree, cpu_seconds, jobs_pid, postmaster, worker_pids
from mudra.storage.database.embedded.server import embedded_server

PUSHES = sized(10, 3)
ROUNDS = sized(3, 1)
FEW = sized(6, 2)
"""AAs of the last case."""
_SPIN = """
import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(100_000):
        pass
"""


@dataclass(frozen=True)
class Together:
    """CPU seconds of one push, how long it took alone, and the waits of all at once, by round."""

    name: str
    worker_s: float
    check_s: float
    """Of the process that checks payloads for the worker."""
    database_s: float
    alone_s: float
    rounds: list[list[float]]

    @property
    def waits_s(self) -> list[float]:
        """Return the waits of the round in which the last one is the median of the rounds."""
        return sorted(self.rounds, key=max)[len(self.rounds) // 2]


def pushed_together(data_dir: Path) -> list[Together]:
    """Measure the case to calibrate by, large payloads of all AAs, and two others."""
    with (
        running_service(data_dir, keeps_store=True) as service,
        embedded_server(data_dir) as conninfo,
    ):
        assert conninfo
        noc = new_operator(service, "health")
        aas = [trusted_aa(service, noc) for _ in range(AAS)]
        still = (service.process.pid, jobs_pid(service.process.pid))
        server = postmaster(data_dir)
        for pid in still:  # the supervisor first: it would replace a process that pauses
            os.kill(pid, signal.SIGSTOP)
        try:
            # Of the smallest size no time counts, and a whole core is not asked for.
            with nullcontext(time.monotonic) if SHORT else never_resting() as clock:
                used = partial(_used, service.process.pid, server)
                of = partial(_case, used=used, clock=clock)
                return [
                    of(aas, wide=True, since=0),
                    of(aas, wide=False, since=PUSHES + ROUNDS),
                    of(aas[:FEW], wide=True, since=2 * (PUSHES + ROUNDS)),
                ]
        finally:
            for pid in reversed(still):
                os.kill(pid, signal.SIGCONT)


@contextmanager
def never_resting() -> Iterator[Callable[[], float]]:
    """Give the CPU clock of a process that asks for a whole processor."""
    with subprocess.Popen([sys.executable, "-c", _SPIN]) as probe:
        try:
            yield partial(cpu_seconds, probe.pid)
        finally:
            probe.kill()


def _used(supervisor: int, server: int) -> tuple[float, float, float]:
    """CPU seconds so far of the worker, of the rest of the service, and of the database."""
    (worker,) = worker_pids(supervisor)
    own = cpu_seconds(worker)
    return own, cpu_of_tree(supervisor) - own, cpu_of_tree(server)


def _case(
    aas: list[PushingAa], *, wide: bool, since: int, used: Callable[[], tuple[float, float, float]],
    clock: Callable[[], float],
) -> Together:  # fmt: skip
    one, *payloads = bodies(aas[0], range(since + ROUNDS, since + ROUNDS + PUSHES), wide=wide)
    push_counted(aas[0], one)
    before = used()
    times = []
    for body in payloads:
        began = clock()
        push_counted(aas[0], body)
        times.append(clock() - began)
    worker, check, database = (
        (now - then) / len(times) for now, then in zip(used(), before, strict=True)
    )
    rounds = []
    for n in range(since, since + ROUNDS):
        each = [bodies(aa, range(n, n + 1), wide=wide)[0] for aa in aas]
        rounds.append(asyncio.run(all_at_once(aas, each, clock)))
    name = f"{len(aas)} AAs, {len(one) / 1000:.0f} KB each"
    return Together(name, worker, check, database, statistics.median(times), rounds)
