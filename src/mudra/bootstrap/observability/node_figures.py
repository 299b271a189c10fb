"""Figures that a supervisor itself knows of its node: whether it serves, and what its processes take.

Shown from the supervisor's memory: it is so also where all workers have died.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

NO_WORKER: Final = "no-worker"
"""The cause where no worker serves, whatever the database says."""
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


class NodeFigures(Collector):
    """Counts the time without a worker, and reads /proc when it is asked."""

    def __init__(
        self, processes: Callable[[], Mapping[str, int]], readiness: Callable[[], tuple[bool, str]]
    ) -> None:
        """Take the IDs of the node's processes by name, and whether its jobs process is ready."""
        self._processes = processes
        self._readiness = readiness
        self._serving = 0
        self._unserved_s = 0.0

    def checked(self, serving: int, seconds: float) -> None:
        """Note how many workers serve, which was so for the last seconds."""
        self._serving = serving
        if not serving:
            self._unserved_s += seconds

    def collect(self) -> Iterator[Metric]:
        """Yields the metrics."""
        ready, cause = self._readiness() if self._serving else (False, NO_WORKER)
        state = GaugeMetricFamily(
            "mudra_ready",
            "1 while load balancers may send requests to this node, else 0; the cause is what keeps"
            " it from some or all of its work: no-worker, or as /readyz has it",
            labels=["cause"],
        )
        state.add_metric([cause], int(ready))
        yield state
        yield GaugeMetricFamily(
            "mudra_workers_serving", "Workers of this node that serve", self._serving
        )
        yield CounterMetricFamily(
            "mudra_unserved_seconds", "Seconds in which no worker of this node served",
            self._unserved_s,
        )  # fmt: skip
        yield from self._of_processes()

    def _of_processes(self) -> Iterator[Metric]:
        labels = ["process"]
        cpu = CounterMetricFamily(
            "mudra_process_cpu_seconds", "Time on a processor, user and system", labels=labels
        )
        memory = GaugeMetricFamily(
            "mudra_process_resident_memory_bytes",
            "Resident memory, of which processes of a node share a part",
            labels=labels,
        )
        files = GaugeMetricFamily(
            "mudra_process_open_fds", "Open files and connections", labels=labels
        )
        for name, pid in self._processes().items():
            with suppress(OSError):  # it has ended
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                open_files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
                cpu.add_metric([name], (int(fields[11]) + int(fields[12])) / _TICKS)
                memory.add_metric([name], int(fields[21]) * _PAGE)
                files.add_metric([name], open_files)
        yield from (cpu, memory, files)
