"""Which changes raise an alarm, with and without silences."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace
from tests.support.metrics.incidents import an_incident

from mudra.metrics.incidents.incident import (
    AaCalls,
    AaReporting,
    Ending,
    Fip,
    FipApi,
    Network,
    Path,
    StoredIncident,
    Symptom,
)
from mudra.metrics.incidents.incident_change import (
    Closed,
    Moved,
    Opened,
    Reopened,
    Updated,
    withdrawn,
)
from mudra.metrics.incidents.silence import Silence, SilenceCommand, new_silence
from mudra.metrics.notifications.alarm import alarm_of
from mudra.metrics.notifications.incident_notifications import Event, incident_notifications
from mudra.shared.refusal import ValueRefused

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
OPEN = an_incident(FipApi("BANK", "cns"), NOW - HOUR, affected_aas=("AA",))
OVER = replace(OPEN, ended=NOW, ending=Ending.RECOVERED)
QUIET = Silence("s", "BANK", "cns", NOW - HOUR, NOW + HOUR, "work", "operator:x")


def notified(change, *, known=(), silences=()):
    changes = {"a": change} if change else {}
    (one,) = incident_notifications(changes, known, silences, NOW)
    return one.announcements[0].event if one.announcements else None, one.notified


def sent(one):
    """Returns the members that get each event."""
    return {part.event: set(part.readers) for part in one.announcements}


@pytest.mark.parametrize(
    ("change", "event"),
    [
        (Opened(OPEN), Event.OPENED),
        (Opened(OVER), None),
        (Closed(OPEN, OVER), Event.CLOSED),
        (Reopened(OVER, OPEN), Event.REOPENED),
        (withdrawn(OPEN, NOW), Event.WITHDRAWN),
        (Moved(replace(OPEN, subject=Path("AA", "BANK")), OPEN), Event.MOVED),
        (Updated(OPEN, replace(OPEN, bad_windows=4)), None),
    ],
    ids=lambda value: getattr(type(value), "__name__", ""),
)
def test_members_are_notified_of_beginning_and_end(change, event):
    known = [StoredIncident("a", OPEN, None, recipients=("BANK", "AA"))]

    assert notified(change, known=known) == (event, True)
    begins = isinstance(change, Opened | Reopened | Moved)
    assert notified(change, known=known, silences=[QUIET])[0] == (None if begins else event)


def test_the_end_of_an_incident_is_sent_only_if_its_beginning_was():
    known = [StoredIncident("a", OPEN, None, notified=False)]

    assert notified(Closed(OPEN, OVER), known=known) == (None, False)


def test_alerts_resume_when_a_silence_has_ended():
    known = [StoredIncident("a", OPEN, None, notified=False)]

    assert incident_notifications({}, known, [QUIET], NOW) == ()
    assert notified(None, known=known) == (Event.OPENED, True)


@pytest.mark.parametrize(
    ("silence", "covers"),
    [
        (QUIET, True),
        (replace(QUIET, entity_id=""), True),
        (replace(QUIET, type=""), True),
        (replace(QUIET, entity_id="OTHER"), False),
        (replace(QUIET, type="fif"), False),
        (replace(QUIET, begins=NOW + HOUR / 2), False),
        (replace(QUIET, ends=NOW), False),
    ],
)
def test_what_a_silence_covers(silence, covers):
    assert silence.covers(OPEN.subject, NOW) is covers


def test_a_silence_of_an_api_says_nothing_of_whether_an_aa_reports():
    assert not replace(QUIET, entity_id="").covers(AaReporting("AA"), NOW)
    assert replace(QUIET, entity_id="", type="").covers(AaReporting("AA"), NOW)


def test_a_silence_that_was_to_begin_in_the_past_begins_now():
    wanted = SilenceCommand("", "", NOW - HOUR, NOW + HOUR, " work ")

    made = new_silence(wanted, "s", "operator:x", NOW)

    assert not isinstance(made, ValueRefused)
    assert (made.begins, made.reason) == (NOW, "work")


@pytest.mark.parametrize(
    ("subject", "readers"),
    [
        (Fip("BANK"), ("BANK", "AA", "OTHER-AA")),
        (FipApi("BANK", "cns"), ("BANK", "AA", "OTHER-AA")),
        (AaCalls("AA"), ("AA",)),
        (AaReporting("AA"), ("AA",)),
        (Path("AA", "BANK"), ("AA", "BANK")),
        (Network(), ()),
    ],
)
def test_those_at_fault_and_those_affected_are_notified(subject, readers):
    incident = an_incident(subject, NOW - HOUR, affected_aas=("AA", "OTHER-AA"))

    (one,) = incident_notifications({"a": Opened(incident)}, (), (), NOW)

    assert (one.announcements[0].readers, one.recipients) == (readers, readers)


def test_a_move_opens_for_those_whom_it_concerns_now_and_ends_for_the_others():
    path = an_incident(Path("AA", "BANK"), NOW - HOUR)
    aas = ("THIRD-AA", "AA")
    fip = replace(path, subject=Fip("BANK"), cause=replace(path.cause, affected_aas=aas))
    at_path = StoredIncident("a", path, None, recipients=("AA", "BANK"))

    (wider,) = incident_notifications({"a": Moved(path, fip)}, [at_path], (), NOW)
    at_fip = StoredIncident("a", fip, None, recipients=wider.recipients)
    (narrower,) = incident_notifications({"a": Moved(fip, path)}, [at_fip], (), NOW)
    over = Closed(path, replace(path, ended=NOW, ending=Ending.RECOVERED))
    again = replace(at_path, recipients=narrower.recipients)
    (closed,) = incident_notifications({"a": over}, [again], (), NOW)

    assert sent(wider) == {Event.MOVED: {"AA", "BANK"}, Event.OPENED: {"THIRD-AA"}}
    assert wider.alarm.title.startswith("FIP BANK: ")
    assert "Reported before as Path between AA and BANK" in wider.alarm.text
    assert sent(narrower) == {Event.MOVED: {"AA", "BANK"}, Event.CLOSED: {"THIRD-AA"}}
    last = narrower.announcements[-1]
    assert last.alarm.title == "FIP BANK: over for you"
    assert "AA and BANK" not in last.alarm.text, "who is at fault now is not for the others"
    assert last.incident.subject == Fip("BANK")
    assert sent(closed) == {Event.CLOSED: {"AA", "BANK"}}


def test_fius_of_a_fip_get_its_incident_while_it_is_about_this_fip():
    path, aa = (an_incident(one, NOW - HOUR) for one in (Path("AA", "BANK"), AaCalls("AA")))
    known = StoredIncident("a", path, None, recipients=("AA", "BANK"))

    (away,) = incident_notifications({"a": Moved(path, aa)}, [known], (), NOW)
    known = StoredIncident("a", aa, None, recipients=away.recipients)
    (back,) = incident_notifications({"a": Moved(aa, path)}, [known], (), NOW)

    fius = [
        {part.event: part.fip_id for part in one.announcements if part.fip_id}
        for one in (away, back)
    ]
    assert fius == [{Event.CLOSED: "BANK"}, {Event.OPENED: "BANK"}]
    assert sent(away) == {Event.MOVED: {"AA"}, Event.CLOSED: {"BANK"}}
    assert [sum(part.to_network for part in one.announcements) for one in (away, back)] == [1, 1]


def test_an_aa_that_is_affected_later_gets_an_opening():
    grown = replace(OPEN, cause=replace(OPEN.cause, affected_aas=("AA", "LATE-AA")))
    known = [StoredIncident("a", OPEN, None, recipients=("BANK", "AA"))]

    (one,) = incident_notifications({"a": Updated(OPEN, grown)}, known, (), NOW)
    (quiet,) = incident_notifications({"a": Updated(OPEN, grown)}, known, [QUIET], NOW)

    assert sent(one) == {Event.OPENED: {"LATE-AA"}}
    assert set(one.recipients) == {"BANK", "AA", "LATE-AA"}
    assert (one.alarm, quiet.announcements, set(quiet.recipients)) == (None, (), {"BANK", "AA"})


def test_what_gets_worse_is_announced_to_people_alone():
    slow = replace(OPEN, cause=replace(OPEN.cause, symptoms=(Symptom.SLOW,)))
    known = [StoredIncident("a", slow, None, recipients=("BANK", "AA"))]

    (worse,) = incident_notifications({"a": Updated(slow, OPEN)}, known, (), NOW)
    known = [StoredIncident("a", OPEN, None, recipients=("BANK", "AA"))]
    (better,) = incident_notifications({"a": Updated(OPEN, slow)}, known, (), NOW)

    (people,) = worse.announcements
    assert (people.is_worse, people.to_network, set(people.readers)) == (True, True, {"BANK", "AA"})
    assert (worse.alarm, better.announcements) == (None, ())


def test_the_end_of_what_was_reported_is_sent_in_a_silence_too():
    known = [StoredIncident("a", OPEN, None, recipients=("BANK", "AA"))]

    (closed,) = incident_notifications({"a": Closed(OPEN, OVER)}, known, [QUIET], NOW)

    assert sent(closed) == {Event.CLOSED: {"BANK", "AA"}}


def test_who_heard_nothing_of_an_incident_gets_no_reopening_of_it():
    late = StoredIncident("a", OVER, None)

    (first,) = incident_notifications({"a": Reopened(OVER, OPEN)}, [late], (), NOW)
    heard = StoredIncident("a", OPEN, None, notified=False, recipients=("BANK", "AA"))
    (resumed,) = incident_notifications({}, [heard], (), NOW)

    assert sent(first) == {Event.OPENED: {"BANK", "AA"}}
    assert sent(resumed) == {Event.REOPENED: {"BANK", "AA"}}


@pytest.mark.parametrize(
    ("entity_id", "peer_id", "covers"),
    [
        ("AA", "", True),
        ("BANK", "", True),
        ("AA", "BANK", True),
        ("BANK", "AA", True),
        ("AA", "OTHER", False),
        ("OTHER", "", False),
    ],
)
def test_a_path_is_silenced_with_either_end_or_by_itself(entity_id, peer_id, covers):
    silence = replace(QUIET, entity_id=entity_id, peer_id=peer_id, type="")

    assert silence.covers(Path("AA", "BANK"), NOW) is covers
    if peer_id:
        assert not silence.covers(Fip("BANK"), NOW)
        assert not silence.covers(AaCalls("AA"), NOW)


def test_alarms_say_who_what_since_when_and_with_which_counts():
    alarm = alarm_of(Opened(OPEN))

    assert alarm.title == "FIP BANK, consent: 50 % of calls failing since 11:00 UTC"
    assert alarm.text.startswith("Bad since 01 Mar 2026, 11:00 UTC, in 2 windows of ten minutes.")
    assert "Latest, at 11:10: 50 of 100 calls failed; 1 would be usual." in alarm.text
    assert alarm_of(Closed(OPEN, OVER)).title == "FIP BANK, consent: recovered"
    assert alarm_of(Closed(OPEN, OVER)).text.endswith("Good again from 01 Mar 2026, 12:00 UTC.")


def test_an_alarm_names_members_and_writes_times_of_its_readers_zone():
    names = {"BANK": "Kaveri Bank", "AA": "Saarthi"}

    alarm = alarm_of(Opened(OPEN), ZoneInfo("Asia/Kolkata"), names)

    assert alarm.title == "Kaveri Bank, consent: 50 % of calls failing since 16:30 IST"
    assert alarm.text.startswith("Bad since 01 Mar 2026, 16:30 IST, in 2 windows")
    assert "BANK" not in f"{alarm.title} {alarm.text}"


def test_an_alarm_says_what_the_evidence_does_not_separate():
    unsure = an_incident(
        Fip("BANK"), NOW - HOUR, affected_aas=("AA",), ambiguous_with=(Path("AA", "BANK"),)
    )

    text = alarm_of(Opened(unsure)).text

    assert "fits FIP BANK or the path between AA and BANK equally well" in text
    assert "The calls of one AA alone show it." in text
