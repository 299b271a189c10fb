"""Days are judged again in steps: live windows come between; incidents are stored at the end."""

from datetime import datetime, timedelta
from typing import NamedTuple

import pytest
from tests.storage.metrics.detection import START, Detection, is_down

from mudra.metrics.detection.days_again import DaysAgain
from mudra.metrics.detection.detection_service import Detected
from mudra.metrics.incidents.incident import Ending, Fip
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange

MAX_AT_ONCE = 24

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
NOW, NEXT_DAY = START + 14 * HOUR, START + 2 * DAY
BANK, OTHER = Fip("DOWN-BANK"), Fip("OTHER-BANK")
LATE = TimeRange(START + 8 * HOUR, START + 11 * HOUR)
SOON = timedelta(minutes=2)


@pytest.fixture(scope="module")
def good_day() -> Detection:
    """Most of a day, without any failure."""
    found = Detection()
    found.until(NOW)
    return found


def with_late_reports(good: Detection) -> Detection:
    """The same, and then reports of many hours ago say what failed."""
    found = good.copy()
    found.memory.failing = is_down("DOWN-BANK", LATE.start, LATE.end)
    found.memory.late = set(LATE.windows)
    found.memory.read.clear()
    return found


@pytest.fixture(scope="module")
def reported(good_day: Detection) -> Detection:
    """The good day, of which reports came later."""
    return with_late_reports(good_day)


@pytest.fixture
def detection(reported: Detection) -> Detection:
    """The same for one test."""
    return reported.copy()


class Judged(NamedTuple):
    """What was reported once it was judged again, and what each step gave."""

    detection: Detection
    steps: list[Detected]


@pytest.fixture(scope="module")
def whole(reported: Detection) -> Judged:
    """Judged again without a stop."""
    found = reported.copy()
    return Judged(found, steps(found, DaysAgain(), NOW + SOON))


@pytest.fixture(scope="module")
def two_days(good_day: Detection) -> Judged:
    """The same when another good day had passed: of the first one few journals were left."""
    good = good_day.copy()
    good.until(NEXT_DAY)
    found = with_late_reports(good)
    return Judged(found, steps(found, DaysAgain(), NEXT_DAY + SOON))


def steps(detection: Detection, days: DaysAgain, now: datetime) -> list[Detected]:
    found = [detection.step(now, days)]
    while found[-1].more:
        found.append(detection.step(now, days))
    return found


@pytest.mark.slow
def test_days_are_judged_again_some_windows_at_a_time(two_days: Judged) -> None:
    memory, found = two_days.detection.memory, two_days.steps

    judged = (NEXT_DAY - LATE.start) // WINDOW
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


def test_windows_that_another_process_judged_meanwhile_begin_again(
    detection: Detection, whole: Judged
) -> None:
    days = DaysAgain()
    detection.step(NOW + SOON, days)
    detection = whole.detection.copy()  # what the other process left
    memory = detection.memory
    memory.failing = is_down("OTHER-BANK", LATE.start + WINDOW, LATE.end)
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


def test_a_run_after_one_that_was_stopped_comes_to_the_same(
    detection: Detection, whole: Judged
) -> None:
    memory, at_once = detection.memory, whole.detection.memory
    detection.step(NOW + SOON, DaysAgain())
    stopped = [*memory.read]
    memory.read.clear()

    detection.step(NOW + SOON, DaysAgain())
    again = [*memory.read]
    steps(detection, DaysAgain(), NOW + SOON)

    assert len(stopped) == MAX_AT_ONCE
    assert again == stopped
    assert memory.incidents_of(BANK) == at_once.incidents_of(BANK)
    assert memory.fip_rows == at_once.fip_rows


@pytest.mark.slow
def test_of_days_judged_again_few_journals_are_kept_from_before_the_last_one(
    two_days: Judged,
) -> None:
    judged = [at for at in sorted(two_days.detection.memory.journals) if at >= LATE.start]
    older = [at for at in judged if at < NEXT_DAY + SOON - DAY]
    assert [at.hour for at in older] == [11, 17, 23]
    assert len(judged) - len(older) == DAY // HOUR


@pytest.mark.slow
def test_a_late_report_between_two_kept_journals_changes_nothing_else(two_days: Judged) -> None:
    detection = two_days.detection.copy()
    memory = detection.memory
    stored = dict(memory.stored)
    assert len(stored) == 1
    memory.late = {LATE.start + 2 * HOUR}

    found = steps(detection, DaysAgain(), NEXT_DAY + SOON)

    assert [one for each in found for one in each.notifications] == []
    assert memory.stored == stored
    assert memory.late == set()


@pytest.mark.slow
def test_a_late_report_of_the_first_hours_lets_all_of_them_count() -> None:
    detection, now = Detection(), START + 30 * HOUR  # few journals are left of the first hours
    memory = detection.memory
    memory.failing = is_down("DOWN-BANK", START + HOUR / 2, START + DAY)
    detection.until(now)
    stored = dict(memory.stored)
    assert len(stored) == 1
    memory.late = {START + 3 * HOUR}

    steps(detection, DaysAgain(), now + SOON)

    assert memory.stored == stored
