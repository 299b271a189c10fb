"""Detection stores each incident once, however long another one stays open."""

import asyncio
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from mudra.metrics.incidents.incident import (
    AaReporting,
    Ending,
    FipApi,
    Incident,
    Mark,
    Observation,
    StoredIncident,
)
from mudra.metrics.incidents.incident_change import Opened, Withdrawn
from mudra.metrics.incidents.incident_detection import DetectionService
from mudra.metrics.payload.catalogue import WINDOW

START = datetime(2026, 3, 4, tzinfo=UTC)
DOWN = FipApi("DOWN-BANK", "cns")
FLAPPING = FipApi("FLAPPING-BANK", "fif")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class Memory:
    """The ports of detection without a database: each test says what it observed."""

    def __init__(self):
        self.observed = defaultdict(dict)
        self.stored = {}
        self.aas = {}

    def observe(self, subject, window, mark):
        good = 100 if mark is Mark.GOOD else 40
        self.observed[subject][window] = Observation(window, mark, good, 100)

    def incidents_of(self, subject):
        found = [one.incident for one in self.stored.values() if one.incident.subject == subject]
        return sorted(found, key=lambda incident: incident.began)

    async def lock(self):
        pass

    async def within(self, within):
        return {
            subject: [one for at, one in seen.items() if within.start <= at < within.end]
            for subject, seen in self.observed.items()
        }

    async def received(self, _):
        return {}

    async def since(self, moment):
        found = [
            one
            for one in self.stored.values()
            if one.incident.ended is None or one.incident.ended >= moment
        ]
        return sorted(found, key=lambda one: one.incident.began)

    async def save(self, notifications, _):
        for one in notifications:
            if isinstance(one.change, Withdrawn):
                del self.stored[one.incident_id]
            else:
                self.stored[one.incident_id] = StoredIncident(one.incident_id, one.incident, None)

    async def ending_after(self, _):
        return []

    async def send(self, *_):
        pass

    async def reporting_aas(self):
        return self.aas


@pytest.fixture
def memory():
    return Memory()


@pytest.fixture
def detect(memory):
    ids = count(1)
    service = DetectionService(
        observations=memory,
        rollups=memory,
        members=memory,
        silences=memory,
        notifier=memory,
        new_id=lambda: f"incident-{next(ids)}",
    )
    return lambda now, *late: asyncio.run(service.detect(now, late))


def flaps_at(window):
    """Three bad windows at the end of every sixth hour."""
    since = (window - START) % (6 * HOUR)
    return 5 * HOUR <= since < 5 * HOUR + 3 * WINDOW


def observe_hour(memory, hour):
    for number in range(6):
        window = hour + number * WINDOW
        memory.observe(DOWN, window, Mark.BAD)
        memory.observe(FLAPPING, window, Mark.BAD if flaps_at(window) else Mark.GOOD)


def test_one_incident_open_for_30_days_copies_no_other(memory, detect):
    opened = Counter()

    for hour in range(30 * 24):
        observe_hour(memory, START + hour * HOUR)
        found = detect(START + (hour + 1) * HOUR)
        opened.update(one.incident.subject for one in found if isinstance(one.change, Opened))

    (down,) = memory.incidents_of(DOWN)
    flaps = memory.incidents_of(FLAPPING)
    assert opened == {DOWN: 1, FLAPPING: 30 * 4}
    assert len({one.began for one in flaps}) == len(flaps) == 30 * 4
    assert {(one.bad_windows, one.ending) for one in flaps} == {(3, Ending.RECOVERED)}
    assert (down.began, down.ending) == (START, Ending.OPEN)
    assert (down.bad_windows, down.judged) == (30 * 144, 30 * 14400)

    for number in range(3):
        memory.observe(DOWN, START + 30 * DAY + number * WINDOW, Mark.GOOD)
    detect(START + 30 * DAY + 3 * WINDOW)

    (down,) = memory.incidents_of(DOWN)
    assert (down.ending, down.ended) == (Ending.RECOVERED, START + 30 * DAY)
    assert detect(START + 30 * DAY + 3 * WINDOW) == ()


def test_the_same_content_detected_again_changes_nothing(memory, detect):
    for hour in range(3 * 24):
        observe_hour(memory, START + hour * HOUR)
    now = START + 3 * DAY

    detect(now, START)
    stored = dict(memory.stored)

    assert [detect(now + number * timedelta(seconds=20)) for number in range(3)] == [()] * 3
    assert memory.stored == stored


def test_a_report_up_to_seven_days_late_withdraws_and_reveals_incidents(memory, detect):
    now, quiet = START + 7 * DAY, START + 5 * HOUR
    for hour in range(7 * 24):
        for number in range(6):
            memory.observe(FLAPPING, START + hour * HOUR + number * WINDOW, Mark.GOOD)
    for number in range(3):
        memory.observe(FLAPPING, quiet + number * WINDOW, Mark.BAD)
    detect(now, quiet)
    assert [one.began for one in memory.incidents_of(FLAPPING)] == [quiet]

    for number in range(3):
        memory.observe(FLAPPING, quiet + number * WINDOW, Mark.GOOD)
        memory.observe(FLAPPING, quiet + 2 * DAY + number * WINDOW, Mark.BAD)
    detect(now, quiet, quiet + 2 * DAY)

    assert [one.began for one in memory.incidents_of(FLAPPING)] == [quiet + 2 * DAY]


def test_a_late_report_counts_in_an_incident_that_began_long_before_it(memory, detect):
    for hour in range(3 * 24):
        observe_hour(memory, START + hour * HOUR)
    late = START + 2 * DAY
    memory.observed[DOWN].pop(late)
    now = START + 3 * DAY
    detect(now, START)
    (before,) = memory.incidents_of(DOWN)

    memory.observe(DOWN, late, Mark.BAD)
    detect(now, late)

    (after,) = memory.incidents_of(DOWN)
    assert (before.bad_windows, after.bad_windows) == (3 * 144 - 1, 3 * 144)


def test_the_silences_of_an_aa_that_has_left_stay_in_the_record(memory, detect):
    subject, now = AaReporting("LEFT-AA"), START + 3 * DAY
    ended = Incident(subject, START, START + HOUR, START + 2 * HOUR, Ending.RECOVERED, 7, 0, 0)
    memory.stored["of-the-past"] = StoredIncident("of-the-past", ended, None)

    detect(now, START)

    assert memory.incidents_of(subject) == [ended]
