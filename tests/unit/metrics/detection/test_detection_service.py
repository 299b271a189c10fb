"""Detection stores each incident once, corrects it when reports change, and waits for reports."""

from collections import Counter
from datetime import datetime, timedelta

import pytest
from tests.storage.metrics.detection import AAS, CALLS, START, Detection, after_good, is_down
from tests.support.depth import with_every_change

from mudra.metrics.detection.days_again import DaysAgain
from mudra.metrics.health.health import Status
from mudra.metrics.incidents.incident import AaReporting, Ending, Fip, FipApi, Path, Subject
from mudra.metrics.incidents.incident_change import Opened
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.notifications.alarm import timeline_lines
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import FOREVER, ReportingTimes, TimeRange

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def detection() -> Detection:
    """After three good hours."""
    return after_good(3)


def flaps(window: datetime) -> bool:
    """Three bad windows at the end of every sixth hour."""
    since = (window - START) % (6 * HOUR)
    return 5 * HOUR <= since < 5 * HOUR + 3 * WINDOW


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


def test_windows_of_a_past_suspension_expect_no_report_when_they_are_judged_again() -> None:
    detection, suspended = after_good(6), AAS[2]
    memory = detection.memory
    ended, restored = START + 6 * HOUR, START + 14 * HOUR
    memory.missing = {(suspended, at) for at in TimeRange(ended, restored).windows}
    memory.reporting[suspended] = ReportingTimes((TimeRange(START, ended),))
    detection.until(restored)
    memory.reporting[suspended] = ReportingTimes(
        (TimeRange(START, ended), TimeRange(restored, FOREVER))
    )
    detection.until(restored + 2 * HOUR)
    assert memory.incidents_of(AaReporting(suspended)) == []

    memory.late = {ended + HOUR}  # a report of another AA
    detection.until(restored + 3 * HOUR)

    assert memory.incidents_of(AaReporting(suspended)) == []


def test_an_aa_that_is_suspended_stopped_reporting_before_no_more_than_that() -> None:
    detection, suspended = after_good(6), AAS[2]
    memory = detection.memory
    silent, ended = START + 6 * HOUR, START + 9 * HOUR
    memory.missing = {(suspended, at) for at in TimeRange(silent, START + DAY).windows}
    detection.until(ended)
    memory.reporting[suspended] = ReportingTimes((TimeRange(START, ended),))
    memory.late = {silent + HOUR}

    detection.until(ended + 2 * HOUR)

    (incident,) = memory.incidents_of(AaReporting(suspended))
    assert incident.began == silent
    assert incident.last_bad < ended


def test_live_windows_do_not_wait_until_days_are_judged_again() -> None:
    detection, down = after_good(12), START + 12 * HOUR
    memory = detection.memory
    memory.failing = is_down("DOWN-BANK", down, down + DAY)
    late = START + HOUR
    memory.late = {late}
    memory.reported_to = down + HOUR
    now = memory.reported_to + timedelta(minutes=2)

    live = detection.step(now, DaysAgain())

    assert [type(one.change) for one in live.notifications] == [Opened]
    assert live.more
    assert memory.late == {late}
    assert min(memory.read[-6:]) >= down

    again = detection.at(now)

    assert list(again) == []
    assert memory.late == set()
    (incident,) = memory.incidents_of(Fip("DOWN-BANK"))
    assert incident.began == down


def test_windows_of_the_last_hours_are_judged_again_first() -> None:
    detection, now = after_good(6), START + 6 * HOUR
    memory = detection.memory
    memory.late = {now - HOUR}
    memory.reported_to = now + HOUR

    judged = detection.step(memory.reported_to + timedelta(minutes=2), DaysAgain())

    assert not judged.more
    assert memory.late == set()


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_a_maintenance_that_was_ended_before_it_began_hides_nothing(detection: Detection) -> None:
    down = START + 3 * HOUR
    ended = down + timedelta(minutes=5)
    detection.memory.failing = is_down("DOWN-BANK", down, down + HOUR)
    detection.memory.silences = [planned("DOWN-BANK", ended, ended)]

    detection.until(START + 5 * HOUR)

    assert [one.began for one in detection.memory.incidents_of(Fip("DOWN-BANK"))] == [down]


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
    detection.memory.reported_to = now + WINDOW
    detection.memory.missing = {("C-AA", now)}

    detection.at(now + WINDOW + timedelta(minutes=9))
    before = max(detection.memory.journals)
    detection.at(now + WINDOW + timedelta(minutes=15))

    assert (before, max(detection.memory.journals)) == (now - WINDOW, now)


def test_the_rows_of_a_window_are_read_when_it_is_complete_and_ahead_only_on_news(
    detection: Detection,
) -> None:
    memory, now = detection.memory, START + 3 * HOUR
    memory.read.clear()
    memory.reported_to = now + 2 * WINDOW
    memory.missing = {("C-AA", now)}

    for minutes in range(1, 15):
        detection.at(now + WINDOW + timedelta(minutes=minutes))
    before = [*memory.read]
    detection.at(now + WINDOW + timedelta(minutes=15))

    # One was late, and then came the next ones: it looks for two minutes after each.
    assert before == [now] * 2 + [now, now + WINDOW] * 3
    assert memory.read[len(before) :] == [now, now + WINDOW]


def test_a_report_that_is_stored_while_its_window_is_read_is_judged_whole() -> None:
    detection, window = Detection(), START + HOUR
    detection.until(window)
    report = ("B-AA", window)
    detection.memory.missing, detection.memory.comes_meanwhile = {report}, report

    detection.until(window + WINDOW)
    detection.until(window + WINDOW)

    assert detection.memory.reporters[window] == {*AAS}


def test_the_only_report_of_a_window_that_is_stored_while_it_is_read_counts() -> None:
    detection, window = Detection(), START + HOUR
    memory = detection.memory
    detection.until(window)
    memory.reported_to = window + WINDOW
    memory.missing, memory.comes_meanwhile = {(aa, window) for aa in AAS}, ("B-AA", window)

    detection.at(window + WINDOW + timedelta(minutes=16))

    assert memory.reporters[window] == {"B-AA"}


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


def test_a_late_report_of_the_first_hour_lets_all_of_it_count() -> None:
    detection = Detection()
    detection.memory.failing = is_down("DOWN-BANK", START + WINDOW, START + DAY)
    detection.until(START + 3 * WINDOW)
    (before,) = detection.memory.stored.values()

    detection.memory.late = {START + 2 * WINDOW}
    detection.at(START + 3 * WINDOW + timedelta(minutes=3))

    assert list(detection.memory.stored.values()) == [before]


@pytest.mark.parametrize("minute", with_every_change([0], [0, 50]))
@pytest.mark.parametrize("late", with_every_change([7 * HOUR], [5 * HOUR + 2 * WINDOW, 7 * HOUR]))
def test_a_late_report_leaves_since_when_the_feed_says_a_fip_is_good(
    minute: int, late: timedelta
) -> None:
    """Also one of before the six hours of which states are kept."""
    start = START + timedelta(minutes=minute)
    detection, now = Detection(start), start + 8 * HOUR
    detection.until(now)
    before = detection.latest_states()
    detection.memory.late = {now - late}
    detection.at(now + timedelta(minutes=3))

    assert detection.latest_states() == before
    discovery = before.of("GOOD-BANK", "discovery")
    assert discovery.status is Status.GOOD
    assert discovery.since < (now - 7 * HOUR).timestamp()
