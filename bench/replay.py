"""bench/replay: what reports that come a week late cost the jobs process, and what they correct.

    python -m bench.replay --aas 20 --fips 200 --days 7

Judges days of a simulated network through the detection service (storage is memory).
Then an hour of the first day comes again: a FIP that was down in it was not, another one was.
All windows since are judged again. Prints CPU and memory, and that the first incident is
withdrawn, the second appears, and no other is touched.
"""
# ruff: noqa: D102  # the ports that Memory implements describe their methods

import argparse
import asyncio
import resource
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from tests.storage.metrics.detection_memory import DetectionMemory

from bench.sizes import sized
from bench.truth_faults import Fault, FaultKind
from bench.truth_network import Network, Settings
from bench.watch import calls_of, evidence_at
from mudra.metrics.detection.days_again import DaysAgain
from mudra.metrics.detection.detection_service import DetectionService
from mudra.metrics.detection.heard import Heard
from mudra.metrics.detection.window_calls import parts_of, window_calls
from mudra.metrics.detection.window_reports import Received
from mudra.metrics.incidents.incident import Ending, Fip
from mudra.metrics.incidents.incident_change import Opened, Withdrawn
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.rollup.coverage import FOREVER, ReportingTimes, TimeRange
from mudra.metrics.sums.totals import Totals

FIRST = 144 * 20_000
"""The first window, and that of the evidence, as its number since 1970."""
LATE = 6
"""Windows that come again."""


def start_of(number: int) -> datetime:
    return datetime.fromtimestamp(number * 600, UTC)


class Memory(DetectionMemory):
    """The ports of detection in memory."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.aas = tuple(f"AA-{at:04}" for at in range(network.volume.shape[1]))
        self.fips = tuple(f"FIP-{at:04}" for at in range(network.volume.shape[2]))
        self.faults: tuple[Fault, ...] = ()
        self.reported_to = start_of(FIRST)
        self.reported: dict[datetime, Totals] = {}

    def report(self, number: int) -> None:
        """All AAs report the next window."""
        self.reported_to = self._draw(number) + WINDOW

    def report_again(self, number: int) -> None:
        """All AAs report a window again, differently."""
        self.late.add(self._draw(number))

    def _draw(self, number: int) -> datetime:
        window = start_of(number)
        drawn = evidence_at(self.network, number, self.faults)
        self.reported[window] = calls_of(drawn, self.aas, self.fips)
        return window

    async def heard(self, window: datetime) -> Heard:
        reported = self.reported[window]
        return Heard(window_calls(reported.ids, [parts_of(reported.cells)]))

    async def first_called(self, within: TimeRange) -> datetime | None:
        return min(self.reported.keys() & set(within.windows), default=None)

    async def received(self, within: TimeRange) -> list[Received]:
        return [
            Received(aa_id, Tag.REQUESTS, window, window + WINDOW + timedelta(minutes=1))
            for window in within.windows
            for aa_id in self.aas
            if start_of(FIRST) <= window < self.reported_to
        ]

    async def reporting_aas(self) -> Mapping[str, ReportingTimes]:
        times = ReportingTimes((TimeRange(start_of(FIRST), FOREVER),))
        return dict.fromkeys(self.aas, times)

    async def onboarded_fips(self) -> frozenset[str]:
        return frozenset(self.fips)


def judge(service: DetectionService, now: datetime) -> list[IncidentNotification]:
    """Every pass until nothing waits."""
    found: list[IncidentNotification] = []
    days, more = DaysAgain(), True
    while more:
        detected = asyncio.run(service.detect(now, days))
        found += detected.notifications
        more = detected.more
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--aas", type=int, default=sized(20, 3))
    parser.add_argument("--fips", type=int, default=sized(200, 8))
    parser.add_argument("--days", type=float, default=sized(7, 0.25))
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    network = Network(Settings(args.aas, args.fips, args.seed))
    memory: Any = Memory(network)
    numbers = count(1)
    service = DetectionService(memory, memory, memory, memory, lambda: f"{next(numbers)}")
    by_volume = network.volume.sum((0, 1)).argsort()
    wrong, unseen = int(by_volume[-2]), int(by_volume[-3])
    begin = FIRST + 24
    windows = int(args.days * 144)
    for number in range(FIRST, FIRST + windows):
        in_it = begin <= number < begin + LATE
        memory.faults = (down(wrong, begin),) if in_it else ()
        memory.report(number)
        if (number + 1) % LATE == 0 or number + 1 == FIRST + windows:
            judge(service, start_of(number + 1) + timedelta(minutes=2))
    print(f"{windows} windows judged, {len(memory.stored)} incidents")
    memory.faults = (down(unseen, begin),)
    for number in range(begin, begin + LATE):
        memory.report_again(number)
    used = time.process_time()
    found = judge(service, start_of(FIRST + windows) + timedelta(minutes=3))
    used = time.process_time() - used
    say(found, wrong, unseen, memory)
    again = FIRST + windows - begin
    print(f"judged again {again} windows, {LATE} of them drawn again: {used:.1f} s of CPU,"
          f" {1000 * used / again:.0f} ms a window; memory"
          f" {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")  # fmt: skip


def down(fip: int, begin: int) -> Fault:
    return Fault(FaultKind.FIP_DOWN, begin, begin + LATE, 0.9, -1, fip)


def say(found: list[IncidentNotification], wrong: int, unseen: int, memory: Memory) -> None:
    """Print whether the late reports corrected what they had to, and nothing else."""
    changes = {(type(one.change), one.incident.subject): one.incident.ending for one in found}
    withdrawn = changes.pop((Withdrawn, Fip(memory.fips[wrong])), None) is Ending.WITHDRAWN
    appeared = changes.pop((Opened, Fip(memory.fips[unseen])), None) is Ending.RECOVERED
    others = sum(kind in {Opened, Withdrawn} for kind, _ in changes)
    print(f"disproved: withdrawn {withdrawn}; proved: appeared {appeared}; "
          f"other incidents opened or withdrawn {others}")  # fmt: skip


if __name__ == "__main__":
    main()
