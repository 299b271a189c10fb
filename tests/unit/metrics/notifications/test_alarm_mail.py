"""Who gets which alarm when: storms, quiet hours, severities; each incident once."""

from datetime import UTC, datetime, time, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.depth import examples
from tests.support.metrics.incidents import an_incident

from mudra.metrics.incidents.incident import AaReporting, Fip, Incident, Network, Path, Symptom
from mudra.metrics.notifications.alarm_mail import (
    HeldAlarm,
    History,
    Mailing,
    PersonalAlarm,
    Reader,
    StormRule,
    mailing_of,
)
from mudra.metrics.notifications.preferences import USUAL, AlarmPreferences, checked, quiet_end
from mudra.metrics.notifications.severity import Severity, severity_of
from mudra.shared.refusal import ValueRefused

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
RULE = StormRule(3, timedelta(minutes=10))
NIGHT = AlarmPreferences("Asia/Kolkata", time(22), time(7))
BEGIN = "begin"


class Inbox:
    """One reader, and what comes to them: the store of mails without a database."""

    def __init__(self, preferences: AlarmPreferences = USUAL) -> None:
        self.reader = Reader("u", "u@bank.example", preferences, frozenset({"BANK"}))
        self.held: dict[str, HeldAlarm] = {}
        self.known: set[str] = set()
        self.mails: list[tuple[datetime, bool, tuple[PersonalAlarm, ...]]] = []

    def passes(self, now: datetime, *new: PersonalAlarm) -> Mailing:
        """One pass of the watch."""
        lately = [one for one in self.mails if one[0] > now - RULE.within]
        history = History(
            frozenset(self.known),
            sum(len(alarms) for *_, alarms in lately),
            max((at for at, storm, _ in lately if storm), default=None),
        )
        touched = {one.incident_id for one in new}
        waiting = [one for key, one in self.held.items() if one.due <= now or key in touched]
        mailing = mailing_of(self.reader, new, waiting, history, now, RULE)
        self.mails += [(now, False, (one,)) for one in mailing.alone]
        self.mails += [(now, mailing.is_storm, mailing.digest)] if mailing.digest else []
        for one in (*mailing.alone, *mailing.digest):
            self.known.add(one.incident_id)
            self.held.pop(one.incident_id, None)
        for key in mailing.dropped:
            self.held.pop(key, None)
        self.held |= {one.alarm.incident_id: one for one in mailing.held}
        return mailing

    def read(self) -> list[tuple[str, str]]:
        return [(one.incident_id, one.text) for *_, alarms in self.mails for one in alarms]


def alarm(
    number: int | str, severity: Severity = Severity.MAJOR, text: str = BEGIN
) -> PersonalAlarm:
    return PersonalAlarm(
        str(number), "BANK", severity, f"cause {number}", text, text != BEGIN, text == "void"
    )


def test_a_few_come_one_by_one_and_a_storm_as_one_digest() -> None:
    few, storm = Inbox(), Inbox()

    few.passes(NOON, *map(alarm, range(RULE.alarms)))
    storm.passes(NOON, *map(alarm, range(RULE.alarms + 1)))

    assert [digest for _, digest, _ in few.mails] == [False] * RULE.alarms
    assert [(digest, len(alarms)) for _, digest, alarms in storm.mails] == [(True, 4)]


def test_fips_that_fall_at_once_are_one_digest_also_when_they_are_few() -> None:
    inbox = Inbox()
    first, second = (replace(alarm(number), at_once="3 FIPs at once") for number in range(2))

    inbox.passes(NOON, first, second)
    inbox.passes(NOON + MINUTE, replace(alarm(2), at_once="3 FIPs at once"))

    assert [(storm, len(alarms)) for _, storm, alarms in inbox.mails] == [(False, 2), (False, 1)]


def test_a_storm_over_many_passes_is_one_digest_in_each_ten_minutes() -> None:
    inbox = Inbox()

    for number in range(30):
        inbox.passes(NOON + number * MINUTE, alarm(number))
    for number in range(30, 41):
        inbox.passes(NOON + number * MINUTE)

    assert [digest for _, digest, _ in inbox.mails][:3] == [False] * 3
    digests = [at for at, digest, _ in inbox.mails if digest]
    assert all(later - earlier >= RULE.within for earlier, later in pairwise(digests))
    assert sorted(int(one) for one, _ in inbox.read()) == list(range(30))
    assert len(inbox.mails) <= 8


def test_in_quiet_hours_only_what_breaks_through_comes_and_the_rest_in_one_digest() -> None:
    inbox = Inbox(NIGHT)
    night = datetime(2026, 3, 1, 20, tzinfo=UTC)  # 01:30 in India

    inbox.passes(night, alarm(1), alarm(2), alarm(3, Severity.CRITICAL))
    inbox.passes(night + MINUTE, alarm(2, text="recovered"), alarm(4), alarm(5))
    inbox.passes(night + 2 * MINUTE, alarm(5, text="void"))
    at_night = inbox.read()
    inbox.passes(datetime(2026, 3, 2, 1, 29, tzinfo=UTC))
    inbox.passes(datetime(2026, 3, 2, 1, 30, tzinfo=UTC))

    assert at_night == [("3", BEGIN)]
    assert inbox.read()[1:] == [("1", BEGIN), ("2", "recovered"), ("4", BEGIN)]
    assert len(inbox.mails) == 2


def test_the_end_of_what_a_reader_was_not_sent_is_not_sent() -> None:
    inbox = Inbox(replace(USUAL, of_members=Severity.MAJOR))

    inbox.passes(NOON, alarm(1, Severity.MINOR))
    inbox.passes(NOON + MINUTE, alarm(1, text="recovered"), alarm(2, text="void"))

    assert inbox.mails == []


def test_the_end_is_sent_however_mild_the_incident_was_at_last() -> None:
    inbox = Inbox(replace(NIGHT, of_members=Severity.CRITICAL, breaks_quiet=None))

    inbox.passes(NOON, alarm(1, Severity.CRITICAL))
    inbox.passes(NOON + 6 * timedelta(hours=1), alarm(1, Severity.MINOR, text="recovered"))
    inbox.passes(NOON + 16 * timedelta(hours=1))

    assert inbox.read() == [("1", BEGIN), ("1", "recovered")]


def test_what_gets_worse_is_sent_to_those_who_had_not_heard_of_it() -> None:
    inbox = Inbox(replace(NIGHT, of_members=Severity.MAJOR))
    worse = replace(alarm(1, Severity.CRITICAL), is_worse=True)
    night = datetime(2026, 3, 1, 20, tzinfo=UTC)

    inbox.passes(night, alarm(1, Severity.MINOR), alarm(2))
    inbox.passes(night + MINUTE, worse)
    inbox.passes(night + 2 * MINUTE, worse)

    assert inbox.read() == [("1", BEGIN)]


def test_who_wants_none_or_has_no_right_any_more_gets_none() -> None:
    inbox = Inbox(NIGHT)
    night = datetime(2026, 3, 1, 20, tzinfo=UTC)
    inbox.passes(night, alarm(1))

    inbox.reader = replace(inbox.reader, entities=frozenset())
    inbox.passes(night + timedelta(hours=6))

    assert (inbox.mails, inbox.held) == ([], {})


EVENTS = st.lists(
    st.tuples(
        st.integers(0, 12),  # incident
        st.sampled_from([BEGIN, "recovered", "void"]),
        st.sampled_from(Severity),
        st.integers(0, 12),  # passes until the next, of three minutes
    ),
    max_size=25,
)


@settings(max_examples=examples(8), deadline=None)
@given(EVENTS, st.sampled_from([USUAL, NIGHT]), st.integers(0, 23))
def test_what_began_reaches_its_reader_in_time_and_mails_stay_few(
    events: list[tuple[int, str, Severity, int]], preferences: AlarmPreferences, hour: int
) -> None:
    inbox, now = Inbox(preferences), NOON + timedelta(hours=hour)
    began: dict[str, datetime] = {}
    for number, text, severity, passes in events:
        one = alarm(number, severity, text)
        if text == BEGIN:
            began.setdefault(one.incident_id, now)
        elif text == "void" and one.incident_id not in inbox.known:
            began.pop(one.incident_id, None)
        inbox.passes(now, one)
        for _ in range(passes):
            now += 3 * MINUTE
            inbox.passes(now)
    for _ in range(150):
        now += 10 * MINUTE
        inbox.passes(now)

    assert began.keys() <= {incident for incident, _ in inbox.read()}
    assert inbox.held == {}
    for at, _, alarms in inbox.mails:
        lately = [one for one in inbox.mails if at - RULE.within < one[0] <= at]
        assert len(lately) <= RULE.alarms + 1
        if quiet_end(preferences, at):
            assert all(one.severity is Severity.CRITICAL for one in alarms)


@pytest.mark.parametrize(
    ("zone", "now", "end"),
    [
        ("Asia/Kolkata", "2026-03-01T16:30", "2026-03-02T01:30"),
        ("Asia/Kolkata", "2026-03-01T16:29", None),
        ("Asia/Kolkata", "2026-03-02T01:30", None),
        ("UTC", "2026-03-02T06:59", "2026-03-02T07:00"),
        ("Europe/Berlin", "2026-03-28T23:00", "2026-03-29T05:00"),  # an hour is left out
        ("Europe/Berlin", "2026-10-24T22:00", "2026-10-25T06:00"),  # an hour comes twice
    ],
)
def test_quiet_hours_are_those_of_the_wall_clock(zone: str, now: str, end: str | None) -> None:
    at = datetime.fromisoformat(now).replace(tzinfo=UTC)

    found = quiet_end(replace(NIGHT, time_zone=zone), at)

    assert (found.isoformat()[:16] if found else None) == end


@settings(max_examples=examples(10), deadline=None)
@given(
    st.integers(0, 730 * 24 * 60),
    st.times(),
    st.times(),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"]),
)
def test_quiet_hours_end_within_a_day(minutes: int, begins: time, ends: time, zone: str) -> None:
    now = NOON + minutes * MINUTE
    preferences = AlarmPreferences(zone, begins, ends)

    end = quiet_end(preferences, now)

    assert end is None or now < end <= now + timedelta(hours=25)


@pytest.mark.parametrize(
    ("preferences", "field"),
    [
        (AlarmPreferences("Mars/Olympus"), "timeZone"),
        (AlarmPreferences("../../etc/passwd"), "timeZone"),
        (AlarmPreferences("UTC", time(22)), "quietUntil"),
        (AlarmPreferences("UTC", None, time(7)), "quietFrom"),
        (AlarmPreferences("UTC", time(7), time(7)), "quietUntil"),
    ],
)
def test_wrong_preferences_name_their_field(preferences: AlarmPreferences, field: str) -> None:
    refused = checked(preferences)

    assert isinstance(refused, ValueRefused)
    assert refused.field == field


BANK = Fip("BANK")


@pytest.mark.parametrize(
    ("incident", "severity"),
    [
        (an_incident(BANK, NOON, succeeded=0), Severity.CRITICAL),
        (an_incident(BANK, NOON, succeeded=150), Severity.MAJOR),
        (an_incident(Path("AA", "BANK"), NOON, succeeded=0), Severity.MAJOR),
        (an_incident(BANK, NOON, succeeded=0, symptoms=(Symptom.SLOW,)), Severity.MINOR),
        (an_incident(AaReporting("AA"), NOON, symptoms=(Symptom.MISSING,)), Severity.MINOR),
        (an_incident(Network(), NOON, succeeded=150), Severity.CRITICAL),
        (an_incident(Network(), NOON, succeeded=190), Severity.MAJOR),
        (an_incident(BANK, NOON, eligible=4, succeeded=0), Severity.MAJOR),
        (an_incident(BANK, NOON, eligible=90, succeeded=0), Severity.MAJOR),
        (an_incident(Path("AA", "BANK"), NOON, eligible=9_000, succeeded=0), Severity.CRITICAL),
    ],
)
def test_severity_follows_the_last_bad_window(incident: Incident, severity: Severity) -> None:
    assert severity_of(incident) is severity
