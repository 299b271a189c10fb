"""Reports of most AAs, or of all but one, open what they show before the others are due."""

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace
from tests.storage.metrics.detection import AAS, START, Detection, is_down

from mudra.metrics.detection.window_reports import Before, WindowReports, are_silent
from mudra.metrics.incidents.incident import AaReporting, Ending, Fip, Path
from mudra.metrics.incidents.incident_change import Opened
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import ReportingTimes

HOUR, DAY, MINUTE = timedelta(hours=1), timedelta(days=1), timedelta(minutes=1)


@pytest.fixture
def detection() -> Detection:
    return Detection()


def silent_from(detection: Detection, aa_id: str, since: datetime) -> None:
    detection.memory.missing = {(aa_id, since + n * WINDOW) for n in range(30)}


def test_a_silent_agent_does_not_delay_what_the_reports_at_hand_show(detection: Detection) -> None:
    down = START + 3 * HOUR
    detection.until(down)
    detection.memory.failing = is_down("DOWN-BANK", down, down + DAY)
    silent_from(detection, AAS[0], down)

    first = detection.until(down + WINDOW)
    second = detection.until(down + 2 * WINDOW)
    again = detection.at(down + 2 * WINDOW + timedelta(minutes=5))

    assert not first
    (opened,) = second
    assert isinstance(opened.change, Opened)
    (incident,) = detection.memory.incidents_of(Fip("DOWN-BANK"))
    assert (incident.detected, incident.bad_windows) == (down + 2 * WINDOW + 2 * MINUTE, 2)
    assert not any(one.announcements for one in again)
    assert detection.memory.incidents_of(AaReporting(AAS[0])) == []
    detection.until(down + 6 * WINDOW)
    (later,) = detection.memory.incidents_of(Fip("DOWN-BANK"))
    assert (later.detected, later.began) == (incident.detected, down)
    assert [one.subject for one in detection.memory.incidents_of(AaReporting(AAS[0]))]


def test_what_the_late_report_disproves_is_withdrawn(detection: Detection) -> None:
    """Two of three AAs report failures that a replaced report takes back before it is due."""
    down = START + 3 * HOUR
    detection.until(down)
    detection.memory.failing = is_down("DOWN-BANK", down, down + DAY)
    silent_from(detection, AAS[0], down)
    detection.until(down + 2 * WINDOW)
    assert detection.memory.incidents_of(Fip("DOWN-BANK"))

    detection.memory.failing = lambda *_: 0.0
    detection.until(down + 5 * WINDOW)

    (incident,) = detection.memory.incidents_of(Fip("DOWN-BANK"))
    assert incident.ending is Ending.WITHDRAWN


def test_half_of_the_reports_open_nothing_before_the_others_are_due(detection: Detection) -> None:
    down = START + 3 * HOUR
    detection.until(down)
    detection.memory.failing = is_down("DOWN-BANK", down, down + DAY)
    late = {(aa, down + n * WINDOW) for aa in AAS[:2] for n in range(9)}
    detection.memory.missing = late

    detection.until(down + 2 * WINDOW)

    assert detection.memory.incidents_of(Fip("DOWN-BANK")) == []


def two_aas_of_which_one_is_silent(detection: Detection, since: datetime) -> None:
    """Without the third AA from the beginning."""
    detection.memory.reporting[AAS[2]] = ReportingTimes(())
    detection.memory.missing = {(AAS[2], START + n * WINDOW) for n in range(60)} | {
        (AAS[0], since + n * WINDOW) for n in range(30)
    }


def test_where_one_of_two_agents_is_silent_the_other_opens_it_in_doubt(
    detection: Detection,
) -> None:
    down = START + 3 * HOUR
    two_aas_of_which_one_is_silent(detection, down)
    detection.until(down)
    detection.memory.failing = is_down("DOWN-BANK", down, down + DAY)

    first = detection.until(down + WINDOW)
    (opened,) = detection.until(down + 2 * WINDOW)

    assert not first
    assert isinstance(opened.change, Opened)
    (incident,) = detection.memory.incidents_of(Fip("DOWN-BANK"))
    assert incident.detected == down + 2 * WINDOW + 2 * MINUTE
    assert incident.cause.ambiguous_with == (Path(AAS[1], "DOWN-BANK"),)
    detection.until(down + 6 * WINDOW)
    (later,) = detection.memory.incidents_of(Fip("DOWN-BANK"))
    assert (later.detected, later.began) == (incident.detected, down)


def test_a_doubt_waits_for_a_report_that_is_only_late(detection: Detection) -> None:
    down = START + 3 * HOUR
    two_aas_of_which_one_is_silent(detection, down + WINDOW)
    detection.memory.calls_from = lambda _: 0  # one AA alone calls: it stays a doubt
    detection.until(down)
    detection.memory.failing = is_down("DOWN-BANK", down, down + DAY)

    early = [detection.until(down + 2 * WINDOW), detection.at(down + 2 * WINDOW + 5 * MINUTE)]
    (opened,) = detection.at(down + 2 * WINDOW + 16 * MINUTE)

    assert not any(early)
    assert isinstance(opened.change, Opened)
    assert opened.change.incident.cause.ambiguous_with


@pytest.mark.parametrize("sent_before", [True, False])
def test_a_doubt_waits_for_notifications_that_are_late_as_for_requests(sent_before: bool) -> None:
    known, none = frozenset(AAS[:1]), frozenset[str]()
    here = WindowReports(START, known, {AAS[0]: START + WINDOW}, notifications=none)
    before = Before(known, known if sent_before else none)

    assert are_silent(here, none, before) is not sent_before
    assert are_silent(replace(here, notifications=known), none, before)
    assert not are_silent(replace(here, requests={}), none, Before(known, none))
