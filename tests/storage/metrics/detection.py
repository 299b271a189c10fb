"""Detection over its memory: a small network of which a test says what failed, and who reported."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from tests.storage.metrics.detection_memory import DetectionMemory
from tests.support.metrics.random_blocks import Reported
from tests.support.metrics.totals import reported_by, totals_of

from mudra.metrics.detection.days_again import DaysAgain
from mudra.metrics.detection.detection_service import Detected, DetectionService
from mudra.metrics.detection.heard import CallsOfIncident, Heard
from mudra.metrics.detection.window_calls import parts_of, window_calls
from mudra.metrics.detection.window_reports import Received
from mudra.metrics.health.fip_state import FipStates, states_from_bytes
from mudra.metrics.incidents.incident import Subject
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.payload.report import RequestBlock
from mudra.metrics.rollup.coverage import FOREVER, ReportingTimes, TimeRange

START = datetime(2026, 3, 4, tzinfo=UTC)
AAS, FIPS = ("A-AA", "B-AA", "C-AA"), ("DOWN-BANK", "FLAPPING-BANK", "GOOD-BANK", "OTHER-BANK")
CALLS = 60
Failing = Callable[[datetime, str, str, str], float]


class Memory(DetectionMemory):
    """The ports of detection without a database: a test says what failed, and who reported."""

    def __init__(self, start: datetime) -> None:
        super().__init__()
        self.start = start
        self.failing: Failing = lambda *_: 0.0
        self.missing: set[tuple[str, datetime]] = set()
        self.damaged: set[tuple[str, datetime]] = set()
        """Reports that came, and cannot be read."""
        self.reporting: dict[str, ReportingTimes] = {}
        self.read: list[datetime] = []
        self.reporters: dict[datetime, set[str]] = {}
        """Whose reports of a window were last read."""
        self.reported_to = start
        self.calls_from: Callable[[datetime], int] = lambda _: CALLS
        self.comes_meanwhile: tuple[str, datetime] | None = None
        """A report that is stored after the first of the statements that read its window."""

    def incidents_of(self, subject: Subject) -> list[Any]:
        found = [one.incident for one in self.stored.values() if one.incident.subject == subject]
        return sorted(found, key=lambda incident: incident.began)

    async def heard(self, window: datetime) -> Heard:
        self.read.append(window)
        found = self._calls_of(window)
        self.reporters[window] = {one.aa_id for one in found}
        self._stored_meanwhile(TimeRange(window, window + WINDOW))
        lost = {aa_id for aa_id in AAS if (aa_id, window) in self.damaged}
        kept = [one for one in found if one.aa_id not in lost]
        totals = totals_of(kept)
        calls = window_calls(totals.ids, [parts_of(totals.cells)])
        return Heard(calls, frozenset((aa_id, Tag.REQUESTS) for aa_id in lost))

    def _calls_of(self, window: datetime) -> list[Reported]:
        return [
            _reported(*call, self.failing(*call), calls)
            for aa_id in AAS
            if self._came(aa_id, window)
            for calls in (self.calls_from(window) if aa_id == AAS[0] else CALLS,)
            for fip_id in FIPS
            for call in ((window, aa_id, fip_id, code) for code in ("cns", "fif", "adisc"))
        ]

    async def counted(self, calls: CallsOfIncident) -> tuple[int, int]:
        good = eligible = 0
        for window in calls.windows:
            for one in self._calls_of(window):
                here = calls.aa_id in {None, one.aa_id} and calls.fip_id in {None, one.fip_id}
                if here and one.block.type in calls.apis:
                    eligible += one.block.counts[0]
                    good += one.block.counts[1]
        return good, eligible

    async def first_called(self, within: TimeRange) -> datetime | None:
        came = (at for at in within.windows if any(self._came(aa_id, at) for aa_id in AAS))
        first = min(came, default=None)
        self._stored_meanwhile(within)
        return first

    async def received(self, within: TimeRange) -> list[Received]:
        found = [
            Received(aa_id, tag, window, window + WINDOW + timedelta(minutes=1))
            for window in within.windows
            for aa_id in AAS
            if self._came(aa_id, window)
            for tag in Tag
        ]
        self._stored_meanwhile(within)
        return found

    def _stored_meanwhile(self, within: TimeRange) -> None:
        if self.comes_meanwhile is not None and self.comes_meanwhile[1] in within.windows:
            self.missing.discard(self.comes_meanwhile)
            self.comes_meanwhile = None

    def _came(self, aa_id: str, window: datetime) -> bool:
        return self.start <= window < self.reported_to and (aa_id, window) not in self.missing

    async def first_received(self, since: datetime) -> datetime | None:
        windows = TimeRange(since, self.reported_to).windows
        return next((at for at in windows if any(self._came(aa, at) for aa in AAS)), None)

    async def never_reported(self, aa_ids: Collection[str]) -> frozenset[str]:
        return frozenset(aa_ids) - set(AAS)

    async def reporting_aas(self) -> Mapping[str, ReportingTimes]:
        always = ReportingTimes((TimeRange(self.start, FOREVER),))
        return {aa_id: self.reporting.get(aa_id, always) for aa_id in AAS}

    async def providers(self) -> Mapping[str, str]:
        return {}

    async def onboarded_fips(self) -> frozenset[str]:
        return frozenset(FIPS)


def _reported(
    window: datetime, aa_id: str, fip_id: str, code: str, failing: float, calls: int
) -> Reported:
    good = calls - round(calls * failing)
    counts = (calls, good, *[0] * 8, calls - good, *[0] * 4)
    return reported_by(aa_id, fip_id, RequestBlock(code, (250, 800, 1200, 2000), counts), window)


class Detection:
    """The service over its memory, with a clock that moves on as a test says."""

    def __init__(self, start: datetime = START) -> None:
        self._incidents = 0
        self.memory: Any = Memory(start)
        self.service = DetectionService(
            store=self.memory,
            members=self.memory,
            silences=self.memory,
            notifier=self.memory,
            new_id=self._new_id,
        )

    def copy(self) -> "Detection":
        """Another one that has judged the same so far; what it does next changes nothing here."""
        return deepcopy(self)

    def until(self, end: datetime) -> Sequence[IncidentNotification]:
        """Let all AAs report up to a time, and evaluate."""
        self.memory.reported_to = end
        return self.at(end + timedelta(minutes=2))

    def latest_states(self) -> FipStates:
        """The states of FIPs after the last window, as the feed shows them."""
        return states_from_bytes(self.memory.fip_rows[-1][2])

    def at(self, now: datetime) -> Sequence[IncidentNotification]:
        found: list[IncidentNotification] = []
        days, more = DaysAgain(), True
        while more:
            detected = self.step(now, days)
            found += detected.notifications
            more = detected.more
        return found

    def step(self, now: datetime, days: DaysAgain) -> Detected:
        """Judge in one transaction, which another may follow."""
        return asyncio.run(self.service.detect(now, days))

    def _new_id(self) -> str:
        self._incidents += 1
        return f"incident-{self._incidents}"


@cache
def _good(hours: int) -> Detection:
    found = _good(hours - 3).copy() if hours else Detection()
    found.until(START + timedelta(hours=hours))
    return found


def after_good(hours: int) -> Detection:
    """Another one after hours (by threes) in which all was good: they are judged once a process."""
    return _good(hours).copy()


def is_down(fip_id: str, since: datetime, until: datetime) -> Failing:
    """A FIP that most calls fail at, for all AAs."""
    return lambda window, _, fip, __: 0.9 if fip == fip_id and since <= window < until else 0.0
