"""AAs that push at the same second to a real service, and the CPU of one push before that."""

import asyncio
import os
import signal
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from tests.support.people.operators import new_operator
from tests.support.service import running_service

from bench.push import AAS, all_at_once, bodies, cpu_of_tree, postmaster, push_counted, trusted_aa
from bench.sizes import sized
from bench.support import jobs_pid
from mudra.storage.database.embedded.server import embedded_server

PUSHES = sized(40, 4)
ROUNDS = sized(3, 1)


@dataclass(frozen=True)
class Together:
    """CPU seconds of one push, how much longer it took, and the waits of all at once."""

    service_s: float
    database_s: float
    stretch: float
    waits_s: list[float]


def pushed_together(data_dir: Path) -> Together:
    """Measure one push after the other, then all AAs at the same second; the median of rounds."""
    with running_service(data_dir) as service, embedded_server(data_dir) as conninfo:
        assert conninfo
        noc = new_operator(service, "health")
        aas = [trusted_aa(service, noc) for _ in range(AAS)]
        one, payloads = aas[0], bodies(aas[0], range(ROUNDS, ROUNDS + PUSHES), wide=True)
        push_counted(one, payloads[0])
        still = (service.process.pid, jobs_pid(service.process.pid))
        for pid in still:  # the supervisor first: it would replace a process that pauses
            os.kill(pid, signal.SIGSTOP)
        server = postmaster(data_dir)
        before = cpu_of_tree(service.process.pid), cpu_of_tree(server)
        times = []
        for body in payloads[1:]:
            began = time.perf_counter()
            push_counted(one, body)
            times.append(time.perf_counter() - began)
        ours = (cpu_of_tree(service.process.pid) - before[0]) / len(times)
        theirs = (cpu_of_tree(server) - before[1]) / len(times)
        rounds = [
            asyncio.run(all_at_once(aas, [bodies(aa, range(n, n + 1), wide=True)[0] for aa in aas]))
            for n in range(ROUNDS)
        ]
        for pid in reversed(still):
            os.kill(pid, signal.SIGCONT)
    waits = sorted(rounds, key=max)[len(rounds) // 2]
    return Together(ours, theirs, statistics.median(times) / (ours + theirs), waits)
