"""Which changes raise an alarm, with and without silences."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from mudra.metrics.incidents.incident import AaReporting, Ending, FipApi, Incident, StoredIncident
from mudra.metrics.incidents.incident_change import Closed, Opened, Reopened, Updated, Withdrawn
from mudra.metrics.incidents.silence import Silence, SilenceCommand, SilenceRefused, new_silence
from mudra.metrics.notifications.incident_notifications import (
    Event,
    incident_notifications,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
OPEN = Incident(FipApi("BANK", "cns"), NOW - HOUR, NOW, None, Ending.OPEN, 3, 10, 300)
OVER = replace(OPEN, ended=NOW, ending=Ending.RECOVERED)
QUIET = Silence("s", "BANK", "cns", NOW - HOUR, NOW + HOUR, "work", "operator:x")


def notified(change, *, known=(), silences=()):
    (one,) = incident_notifications([change] if change else [], known, silences, NOW, lambda: "new")
    return one.event if one.alarm else None, one.notified


@pytest.mark.parametrize(
    ("change", "event"),
    [
        (Opened(OPEN), Event.OPENED),
        (Opened(OVER), None),
        (Closed(OPEN, OVER), Event.CLOSED),
        (Reopened(OVER, OPEN), Event.REOPENED),
        (Withdrawn(OPEN), Event.WITHDRAWN),
        (Updated(OPEN, replace(OPEN, bad_windows=4)), None),
    ],
    ids=lambda value: getattr(type(value), "__name__", ""),
)
def test_members_are_notified_of_beginning_and_end(change, event):
    known = [StoredIncident("a", one, None) for one in (OPEN, OVER)]

    assert notified(change, known=known) == (event, True)
    assert notified(change, known=known, silences=[QUIET])[0] is None


def test_the_end_of_an_incident_is_sent_only_if_its_beginning_was():
    known = [StoredIncident("a", OPEN, None, notified=False)]

    assert notified(Closed(OPEN, OVER), known=known) == (None, False)


def test_alerts_resume_when_a_silence_has_ended():
    known = [StoredIncident("a", OPEN, None, notified=False)]

    assert incident_notifications([], known, [QUIET], NOW, lambda: "new") == ()
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

    assert not isinstance(made, SilenceRefused)
    assert (made.begins, made.reason) == (NOW, "work")
