"""Detection stores each incident once, corrects it when reports change, and waits for reports."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from tests.support.metrics.detection_memory import DetectionMemory

from mudra.metrics.incidents.detection_service import DetectionService
from mudra.metrics.incidents.incident import Ending, Fip, FipApi, Path, Subject
from mudra.metrics.incidents.incident_change import Opened
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.incidents.window_calls import calls_from_bytes
from mudra.metrics.incidents.window_reports import CallSums, Received
from mudra.metrics.notifications.alarm import timeline_lines
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.rollup.coverage import TimeRange

START = datetime(2026, 3, 4, tzinfo=UTC)
AAS, FIPS = ("A-AA", "B-AA", "C-AA"), ("DOWN-BANK", "FLAPPING-BANK", "GOOD-BANK", "OTHER-BANK")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
CALLS = 60
Failing = Callable[[datetime, str, str, str], float]


class Memory(DetectionMemory):
    """The ports of detection without a database: a test says what failed, and who reported."""

    def __init__(self) -> None:
        super().__init__()
        self.failing: Failing = lambda *_: 0.0
        self.missing: set[tuple[str, datetime]] = set()
        self.read: list[TimeRange] = []
        self.reported_to = START
        self.calls_from: Callable[[datetime], int] = lambda _: CALLS
        self.comes_meanwhile: tuple[str, datetime] | None = None
        """A report that is stored after the first of the statements that read its window."""

    def incidents_of(self, subject: Subject) -> list[Any]:
        found = [one.incident for one in self.stored.values() if one.incident.subject == subject]
        return sorted(found, key=lambda incident: incident.began)

    async def calls(self, within: TimeRange) -> list[CallSums]:
        self.read.append(within)
        found = [
            _sums(
                *(window, aa_id, fip_id, code),
                self.failing(window, aa_id, fip_id, code),
                self.calls_from(window) if aa_id == AAS[0] else CALLS,
            )
            for window in within.windows
            for aa_id in AAS
            if self._came(aa_id, window)
            for fip_id in FIPS
            for code in ("cns", "fif", "adisc")
        ]
        self._stored_meanwhile(within)
        return found

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
        return START <= window < self.reported_to and (aa_id, window) not in self.missing

    async def never_reported(self, aa_ids: Collection[str]) -> frozenset[str]:
        raise NotImplementedError

    async def reporting_aas(self) -> Mapping[str, datetime]:
        return dict.fromkeys(AAS, START)

    async def onboarded_fips(self) -> frozenset[str]:
        return frozenset(FIPS)


def _sums(
    window: datetime, aa_id: str, fip_id: str, code: str, failing: float, calls: int
) -> CallSums:
    good = calls - round(calls * failing)
    times = (250, 800, 1200, 2000)
    return CallSums(window, aa_id, fip_id, "req", code, calls, good, 0, calls, times, None)


class Detection:
    """The service over its memory, with a clock that moves on as a test says."""

    def __init__(self) -> None:
        ids = count(1)
        self.memory: Any = Memory()
        self.service = DetectionService(
            store=self.memory,
            members=self.memory,
            silences=self.memory,
            notifier=self.memory,
            new_id=lambda: f"incident-{next(ids)}",
        )

    def until(self, end: datetime) -> Sequence[IncidentNotification]:
        """Let all AAs report up to a time, and evaluate."""
        self.memory.reported_to = end
        return self.at(end + timedelta(minutes=2))

    def at(self, now: datetime) -> Sequence[IncidentNotification]:
        found: list[IncidentNotification] = []
        more = True
        while more:
            detected = asyncio.run(self.service.detect(now))
            found += detected.notifications
            more = detected.more
        return found


@pytest.fixture
def detection() -> Detection:
    return Detection()


def flaps(window: datetime) -> bool:
    """Three bad windows at the end of every sixth hour."""
    since = (window - START) % (6 * HOUR)
    return 5 * HOUR <= since < 5 * HOUR + 3 * WINDOW


def is_down(fip_id: str, since: datetime, until: datetime) -> Failing:
    return lambda window, _, fip, __: 0.9 if fip == fip_id and since <= window < until else 0.0


def test_a_volume_that_an_operator_admitted_counts_in_the_verdict(detection: Detection) -> None:
    """The push has held what is implausible (decision 0047): what is here was let in."""
    grown = START + 3 * HOUR
    detection.memory.calls_from = lambda window: 20_000 if window >= grown else CALLS
    detection.memory.failing = lambda window, aa, fip, _: (
        0.9 if window >= grown and (aa, fip) == (AAS[0], "DOWN-BANK") else 0.0
    )

    detection.until(grown + HOUR)

    (incident,) = detection.memory.incidents_of(Path(AAS[0], "DOWN-BANK"))
    assert incident.began == grown


def test_one_incident_open_for_days_copies_no_other(detection: Detection) -> None:
    down, days = START + 3 * HOUR, 2
    detection.memory.failing = lambda window, aa, fip, code: (
        is_down("DOWN-BANK", down, START + 99 * DAY)(window, aa, fip, code)
        or (0.9 if fip == "FLAPPING-BANK" and flaps(window) else 0.0)
    )
    opened: Counter[Subject] = Counter()

    for half in range(1, days * 48 + 1):
        found = detection.until(START + half * HOUR / 2)
        opened.update(one.incident.subject for one in found if isinstance(one.change, Opened))

    bank, flapping = Fip("DOWN-BANK"), Fip("FLAPPING-BANK")
    (one,) = detection.memory.incidents_of(bank)
    others = detection.memory.incidents_of(flapping)
    assert opened == {bank: 1, flapping: days * 4}
    assert len(detection.memory.stored) == 1 + len(others) == 1 + days * 4
    assert (one.began, one.ending) == (down, Ending.OPEN)
    assert one.bad_windows == (START + days * DAY - down) // WINDOW
    assert {(each.bad_windows, each.ending) for each in others} == {(3, Ending.RECOVERED)}


def test_the_same_content_judged_again_changes_nothing(detection: Detection) -> None:
    down = START + 3 * HOUR
    detection.memory.failing = is_down("DOWN-BANK", down, down + HOUR)
    detection.until(START + 6 * HOUR)
    stored = dict(detection.memory.stored)

    detection.memory.late = {START + 4 * WINDOW, down}
    found = detection.at(START + 6 * HOUR + timedelta(minutes=3))

    assert list(found) == []
    assert detection.memory.stored == stored


def test_reports_of_days_ago_withdraw_and_reveal_incidents(detection: Detection) -> None:
    down = START + 3 * HOUR
    detection.memory.failing = is_down("DOWN-BANK", down, down + HOUR)
    detection.until(START + DAY)
    (first,) = detection.memory.incidents_of(Fip("DOWN-BANK"))
    assert first.ending is Ending.RECOVERED

    detection.memory.failing = is_down("GOOD-BANK", down, down + HOUR)
    detection.memory.late = {*TimeRange(down, down + HOUR).windows}
    detection.memory.read.clear()
    found = detection.at(START + DAY + timedelta(minutes=3))

    (gone,) = detection.memory.incidents_of(Fip("DOWN-BANK"))
    (revealed,) = detection.memory.incidents_of(Fip("GOOD-BANK"))
    assert (gone.ending, gone.detected) == (Ending.WITHDRAWN, first.detected)
    assert (revealed.began, revealed.ending) == (down, Ending.RECOVERED)
    assert revealed.detected > START + DAY
    assert [one for one in found if one.alarm is not None] == []  # all of it is over
    # Raw rows of a window are many times as costly as its packed calls.
    assert [one.start for one in detection.memory.read] == [*TimeRange(down, down + HOUR).windows]


def planned(entity_id: str, begins: datetime, ends: datetime) -> Silence:
    return Silence(entity_id, entity_id, "", begins, ends, "new disks", "test", maintenance=True)


@pytest.mark.parametrize("outlives", [False, True])
def test_only_what_outlives_a_planned_maintenance_is_an_incident(
    detection: Detection, outlives: bool
) -> None:
    begins, ends = START + 3 * HOUR, START + 5 * HOUR + timedelta(minutes=5)
    restored = START + (7 * HOUR if outlives else 5 * HOUR)
    detection.memory.failing = is_down("DOWN-BANK", begins, restored)
    detection.memory.silences = [planned("DOWN-BANK", begins, ends)]

    detection.until(ends)
    during = detection.memory.incidents_of(Fip("DOWN-BANK"))
    detection.until(START + 9 * HOUR)

    assert during == []
    found = detection.memory.incidents_of(Fip("DOWN-BANK"))
    assert [one.began for one in found] == ([START + 5 * HOUR + WINDOW] if outlives else [])
    assert len(detection.memory.stored) == len(found), "no one else is blamed"


def test_no_one_waits_for_an_agent_in_planned_maintenance_or_calls_it_silent(
    detection: Detection,
) -> None:
    begins, ends = START + 3 * HOUR, START + 5 * HOUR
    detection.memory.silences = [planned("C-AA", begins, ends)]
    detection.memory.missing = {("C-AA", at) for at in TimeRange(begins, ends).windows}

    detection.until(ends)
    judged_at_once = max(detection.memory.journals)
    detection.until(ends + 2 * HOUR)

    assert judged_at_once == ends - WINDOW
    assert detection.memory.stored == {}


def test_an_incident_that_late_reports_show_elsewhere_keeps_its_id(detection: Detection) -> None:
    down = START + 3 * HOUR
    detection.memory.failing = lambda window, aa, fip, _: (
        0.9 if (aa, fip) == ("A-AA", "DOWN-BANK") and window >= down else 0.0
    )
    detection.until(down + HOUR)
    ((known, stored),) = detection.memory.stored.items()
    assert stored.incident.subject == Path("A-AA", "DOWN-BANK")

    detection.memory.failing = is_down("DOWN-BANK", down, down + DAY)
    detection.memory.late = {*TimeRange(down, down + HOUR).windows}
    detection.at(down + HOUR + timedelta(minutes=3))

    ((same, stored),) = detection.memory.stored.items()
    assert same == known
    assert stored.incident.subject == Fip("DOWN-BANK")
    detection.until(down + 2 * HOUR)
    lines = timeline_lines(detection.memory.stored[known].incident)
    assert [text for _, text in lines] == [
        "opened as FIP DOWN-BANK",
        "late reports show that it was FIP DOWN-BANK, not the path between A-AA and DOWN-BANK",
    ]
    assert lines[1][0] >= down + HOUR, "when the late reports came"


def test_a_withdrawn_incident_that_reports_prove_after_all_says_both(detection: Detection) -> None:
    down = START + 3 * HOUR
    hour = [*TimeRange(down, down + HOUR).windows]
    for failing in (0.9, 0.0, 0.9):
        detection.memory.failing = is_down("DOWN-BANK", down, down + HOUR * (failing > 0))
        detection.memory.late = {*hour}
        detection.until(down + 3 * HOUR)

    (stored,) = detection.memory.stored.values()
    assert stored.incident.ending is Ending.RECOVERED
    lines = timeline_lines(stored.incident)
    assert [text for _, text in lines] == [
        "opened as FIP DOWN-BANK",
        "recovered",
        "withdrawn: late reports show that there was no incident",
        "late reports show that there was an incident after all",
    ]
    assert lines[2][0] >= down + 3 * HOUR, "when the late reports came"


def test_a_window_waits_for_the_last_report_until_its_time_is_over(detection: Detection) -> None:
    now = START + 3 * HOUR
    detection.until(now)
    detection.memory.reported_to = now + WINDOW
    detection.memory.missing = {("C-AA", now)}

    detection.at(now + WINDOW + timedelta(minutes=9))
    before = max(detection.memory.journals)
    detection.at(now + WINDOW + timedelta(minutes=15))

    assert (before, max(detection.memory.journals)) == (now - WINDOW, now)


def test_a_report_that_is_stored_while_its_window_is_read_is_judged_whole(
    detection: Detection,
) -> None:
    window = START + HOUR
    detection.until(window)
    report = ("B-AA", window)
    detection.memory.missing, detection.memory.comes_meanwhile = {report}, report

    detection.until(window + WINDOW)
    detection.until(window + WINDOW)

    assert calls_from_bytes(detection.memory.packed[window]).aas == AAS


def test_no_one_waits_for_an_agent_that_is_silent(detection: Detection) -> None:
    silent_from = START + 3 * HOUR
    detection.memory.missing = {("C-AA", silent_from + place * WINDOW) for place in range(6)}
    detection.until(silent_from + HOUR / 2)
    detection.at(silent_from + HOUR / 2 + timedelta(minutes=15))

    detection.until(silent_from + HOUR)

    assert max(detection.memory.journals) == silent_from + HOUR - WINDOW


def test_a_journal_of_another_version_starts_over_and_keeps_incidents(
    detection: Detection,
) -> None:
    down = START + 3 * HOUR
    detection.memory.failing = is_down("DOWN-BANK", down, down + DAY)
    detection.until(down + HOUR)
    ((known, _),) = detection.memory.stored.items()

    detection.memory.journals = dict.fromkeys(detection.memory.journals, b"\x90")
    detection.until(down + 2 * HOUR)

    ((same, stored),) = detection.memory.stored.items()
    assert same == known
    assert stored.incident.ended is None


def test_one_api_is_named_by_its_code_and_those_affected_are_notified(
    detection: Detection,
) -> None:
    down = START + 3 * HOUR
    detection.memory.failing = lambda window, _, fip, code: (
        0.9 if (fip, code) == ("DOWN-BANK", "cns") and window >= down else 0.0
    )

    detection.until(down + HOUR)

    (stored,) = detection.memory.stored.values()
    assert stored.incident.subject == FipApi("DOWN-BANK", "cns")
    assert set(stored.recipients) == {"DOWN-BANK", *AAS}


def test_a_late_report_of_the_first_hour_lets_all_of_it_count(detection: Detection) -> None:
    detection.memory.failing = is_down("DOWN-BANK", START + WINDOW, START + DAY)
    detection.until(START + 3 * WINDOW)
    (before,) = detection.memory.stored.values()

    detection.memory.late = {START + 2 * WINDOW}
    detection.at(START + 3 * WINDOW + timedelta(minutes=3))

    assert list(detection.memory.stored.values()) == [before]
