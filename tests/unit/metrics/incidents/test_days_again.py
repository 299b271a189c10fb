"""Days are judged again in steps: live windows come between, and nothing is stored before the last."""

from datetime import datetime, timedelta

import pytest
from tests.support.metrics.detection import START, Detection, is_down

from mudra.metrics.incidents.days_again import DaysAgain
from mudra.metrics.incidents.detection_service import MAX_AT_ONCE, Detected
from mudra.metrics.incidents.incident import Ending, Fip
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
NOW = START + 2 * DAY
BANK, OTHER = Fip("DOWN-BANK"), Fip("OTHER-BANK")
LATE = TimeRange(START + 6 * HOUR, START + 9 * HOUR)
SOON = timedelta(minutes=2)


@pytest.fixture
def detection() -> Detection:
    """Two days without any failure; then reports of an hour ago say what failed."""
    found = Detection()
    found.until(NOW)
    found.memory.failing = is_down("DOWN-BANK", LATE.start, LATE.end)
    found.memory.late = set(LATE.windows)
    found.memory.read.clear()
    return found


def steps(detection: Detection, days: DaysAgain, now: datetime) -> list[Detected]:
    found = [detection.step(now, days)]
    while found[-1].more:
        found.append(detection.step(now, days))
    return found


def test_days_are_judged_again_some_windows_at_a_time(detection: Detection) -> None:
    memory = detection.memory

    found = steps(detection, DaysAgain(), NOW + SOON)

    judged = (NOW - LATE.start) // WINDOW
    assert len(found) == -(-judged // MAX_AT_ONCE)
    assert [len(one.notifications) for one in found] == [0] * (len(found) - 1) + [1]
    assert memory.late == set()
    (incident,) = memory.incidents_of(BANK)
    assert (incident.began, incident.ending) == (LATE.start, Ending.RECOVERED)


def test_live_windows_come_between_the_steps(detection: Detection) -> None:
    memory, days = detection.memory, DaysAgain()
    first = detection.step(NOW + SOON, days)
    memory.reported_to = NOW + WINDOW

    live = detection.step(NOW + WINDOW + SOON, days)

    assert first.more
    assert live.more
    assert max(memory.journals) == NOW
    assert memory.late == set(LATE.windows)
    rest = steps(detection, days, NOW + WINDOW + SOON)
    assert len(rest) == -(-((NOW - LATE.start) // WINDOW) // MAX_AT_ONCE) - 1
    assert memory.late == set()


@pytest.mark.parametrize("at", [LATE.start, NOW - 2 * HOUR])
def test_a_report_that_comes_between_the_steps_is_judged_too(
    detection: Detection, at: datetime
) -> None:
    memory, days, changed = detection.memory, DaysAgain(), TimeRange(at, at + HOUR)
    detection.step(NOW + SOON, days)
    bank, other = (is_down(one.fip_id, changed.start, changed.end) for one in (BANK, OTHER))
    memory.failing = lambda *call: max(bank(*call), other(*call))
    memory.late_again = set(changed.windows)

    steps(detection, days, NOW + SOON)
    detection.at(NOW + SOON)

    (incident,) = memory.incidents_of(OTHER)
    assert incident.began == at
    assert memory.late == memory.late_again == set()


def test_windows_that_another_process_judged_meanwhile_begin_again(detection: Detection) -> None:
    memory, days = detection.memory, DaysAgain()
    detection.step(NOW + SOON, days)
    detection.at(NOW + SOON)
    memory.failing = is_down("OTHER-BANK", LATE.start, LATE.end)
    memory.late = set(LATE.windows[1:])

    steps(detection, days, NOW + SOON)

    (incident,) = memory.incidents_of(OTHER)
    assert incident.began == LATE.start + WINDOW


def test_a_run_that_failed_leaves_all_marks(detection: Detection) -> None:
    memory = detection.memory
    detection.step(NOW + SOON, DaysAgain())

    steps(detection, DaysAgain(), NOW + SOON)

    (incident,) = memory.incidents_of(BANK)
    assert incident.began == LATE.start
