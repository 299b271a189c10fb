"""Metrics that were restored alone are older than the incidents, which are judged by what is left."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from tests.support.metrics.detection import AAS, START, Detection, is_down

from mudra.metrics.incidents.incident import Ending, Fip
from mudra.metrics.incidents.incident_change import Reopened, Withdrawn
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
BANK = Fip("DOWN-BANK")
TIMES_OF_DAY = (0, 3, 77, 141)
"""Windows after midnight: places in an hour, and both sides of midnight."""


class Kept:
    """A backup of the metrics: what is stored with them. The incidents are in the other database."""

    def __init__(self, detection: Detection) -> None:
        memory = detection.memory
        self.detection = detection
        self.until = memory.reported_to
        self.journals = dict(memory.journals)
        self.fip_rows = [*memory.fip_rows]

    def restore(self, pushed_again: Sequence[datetime] = ()) -> None:
        """Lose all since, but for windows that agents push again."""
        memory = self.detection.memory
        memory.journals = dict(self.journals)
        memory.fip_rows = [*self.fip_rows]
        lost = TimeRange(self.until, memory.reported_to).windows
        memory.missing |= {(aa, at) for at in lost if at not in pushed_again for aa in AAS}


@pytest.fixture(params=TIMES_OF_DAY)
def start(request: pytest.FixtureRequest) -> datetime:
    """When the network begins."""
    return START + int(request.param) * WINDOW


def changes(found: Sequence[IncidentNotification]) -> list[type]:
    """What became of the incident of the bank."""
    return [type(one.change) for one in found if one.incident.subject == BANK]


def test_an_incident_of_lost_windows_is_withdrawn_when_they_are_judged_again(
    start: datetime,
) -> None:
    detection, backup_at = Detection(start), start + 2 * HOUR
    detection.until(backup_at)
    kept = Kept(detection)
    down = backup_at + HOUR / 2
    detection.memory.failing = is_down(BANK.fip_id, down, down + DAY)
    detection.until(down + HOUR)
    ((_, known),) = detection.memory.stored.items()
    kept.restore()

    found = detection.at(down + HOUR + timedelta(minutes=9))

    (incident,) = detection.memory.incidents_of(BANK)
    assert (known.incident.began, known.incident.ended) == (down, None)
    assert changes(found) == [Withdrawn]
    assert (incident.ending, incident.ended) == (Ending.WITHDRAWN, incident.last_bad + WINDOW)
    assert detection.until(down + 3 * HOUR)  # which fails still, and all report again
    (again,) = detection.memory.incidents_of(BANK)
    assert again.ending is Ending.OPEN


def test_what_lost_late_reports_had_shown_is_withdrawn_with_the_next_window(
    start: datetime,
) -> None:
    detection, backup_at = Detection(start), start + 3 * HOUR
    detection.until(backup_at)
    kept = Kept(detection)
    down = backup_at - 4 * WINDOW
    detection.memory.failing = is_down(BANK.fip_id, down, backup_at)
    detection.memory.late = {*TimeRange(down, backup_at).windows}
    detection.at(backup_at + timedelta(minutes=4))
    ((_, known),) = detection.memory.stored.items()
    detection.memory.failing = is_down("none", down, down)
    kept.restore()

    at_once = detection.at(backup_at + timedelta(minutes=5))
    found = detection.until(backup_at + WINDOW)

    (incident,) = detection.memory.incidents_of(BANK)
    assert (known.incident.began, known.incident.ended) == (down, None)
    assert (changes(at_once), changes(found)) == ([], [Withdrawn])
    assert incident.ending is Ending.WITHDRAWN


def test_an_incident_whose_reports_are_pushed_again_is_left_alone_until_they_are_judged(
    start: datetime,
) -> None:
    detection, backup_at = Detection(start), start + HOUR
    detection.until(backup_at)
    kept = Kept(detection)
    down = backup_at + 5 * HOUR  # more than one pass judges
    detection.memory.failing = is_down(BANK.fip_id, down, down + DAY)
    detection.until(down + HOUR)
    ((name, known),) = detection.memory.stored.items()
    kept.restore(TimeRange(down - HOUR, down + HOUR).windows)

    found = detection.at(down + HOUR + timedelta(minutes=3))

    (incident,) = detection.memory.incidents_of(BANK)
    assert not {Withdrawn, Reopened} & {*changes(found)}
    assert detection.memory.stored[name].incident == incident
    assert (incident.began, incident.ending) == (known.incident.began, Ending.OPEN)


def test_what_had_ended_before_the_backup_and_came_back_since_ends_as_it_had(
    start: datetime,
) -> None:
    detection = Detection(start)
    down, back = start + HOUR, start + 3 * HOUR
    first, second = (is_down(BANK.fip_id, at, at + HOUR / 2) for at in (down, back))
    detection.memory.failing = lambda *cell: first(*cell) or second(*cell)
    detection.until(back)
    kept = Kept(detection)
    ((name, before),) = detection.memory.stored.items()
    detection.until(back + HOUR / 2)
    assert detection.memory.stored[name].incident.ended is None
    kept.restore()

    detection.memory.missing |= {
        (aa, at) for at in TimeRange(back, back + 2 * DAY).windows for aa in AAS
    }
    detection.until(back + 2 * DAY + HOUR)

    assert before.incident.ending is Ending.RECOVERED
    assert detection.memory.stored[name].incident == before.incident


@pytest.fixture
def recovered(start: datetime) -> Kept:
    """An incident that was open at the backup and had ended an hour before all since was lost."""
    detection, backup_at = Detection(start), start + 3 * HOUR
    up = backup_at + HOUR / 2
    detection.memory.failing = is_down(BANK.fip_id, backup_at - HOUR, up)
    detection.until(backup_at)
    kept = Kept(detection)
    detection.until(up + 2 * HOUR)
    (known,) = detection.memory.incidents_of(BANK)
    assert (known.ended, known.ending) == (up, Ending.RECOVERED)
    kept.restore()
    return kept


def test_what_ended_in_lost_windows_stays_ended(recovered: Kept) -> None:
    detection, lost = recovered.detection, recovered.detection.memory.reported_to
    (known,) = detection.memory.incidents_of(BANK)

    at_once = detection.at(lost + timedelta(minutes=9))
    while_silent = detection.memory.incidents_of(BANK)
    found = detection.until(lost + 6 * HOUR)  # all report again, and nothing fails

    assert (changes(at_once), changes(found)) == ([], [])
    assert (while_silent, detection.memory.incidents_of(BANK)) == ([known], [known])


def test_what_ended_in_lost_windows_and_fails_again_is_open_again(recovered: Kept) -> None:
    detection, lost = recovered.detection, recovered.detection.memory.reported_to
    detection.at(lost + timedelta(minutes=9))
    detection.memory.failing = is_down(BANK.fip_id, lost + HOUR, lost + 2 * HOUR)

    found = detection.until(lost + 4 * HOUR)

    assert Withdrawn not in changes(found)
    *_, last = detection.memory.incidents_of(BANK)
    assert (last.ended, last.ending) == (lost + 2 * HOUR, Ending.RECOVERED)


def test_reports_that_are_pushed_again_say_how_it_ended(recovered: Kept) -> None:
    detection, lost = recovered.detection, recovered.detection.memory.reported_to
    back = TimeRange(recovered.until, lost).windows
    detection.memory.missing -= {(aa, at) for at in back for aa in AAS}
    detection.memory.failing = is_down(BANK.fip_id, recovered.until - HOUR, lost)

    detection.at(lost + timedelta(minutes=9))

    (incident,) = detection.memory.incidents_of(BANK)
    assert incident.ended is None
