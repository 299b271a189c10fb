"""Incidents open late, close late, and do not depend on what came when."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mudra.metrics.health.health import verdict_of_calls
from mudra.metrics.incidents.incident import (
    CALL_RULES,
    REPORTING_RULES,
    AaCalls,
    AaReporting,
    Ending,
    FipApi,
    Incident,
    Mark,
    Observation,
    incidents,
    observation,
    reporting_observations,
)
from mudra.metrics.incidents.incident_change import (
    Closed,
    Opened,
    Reopened,
    Updated,
    Withdrawn,
    alarm_of,
    changes,
)
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.payload.report import RequestBlock

START = datetime(2026, 3, 4, tzinfo=UTC)
SUBJECT = FipApi("BANK-001", "cns")
MARKS = {"g": Mark.GOOD, "b": Mark.BAD, "?": Mark.UNKNOWN}


def at(number: int) -> datetime:
    return START + number * WINDOW


def seen(letters: str, first: int = 0) -> list[Observation]:
    return [
        Observation(at(first + n), MARKS[letter], 50 if letter == "b" else 100, 100)
        for n, letter in enumerate(letters)
    ]


def found(letters: str, rules=CALL_RULES) -> tuple[Incident, ...]:
    return incidents(SUBJECT, seen(letters), at(len(letters)), rules)


def spans(letters: str) -> list[tuple[int, int | None]]:
    return [
        (
            (incident.began - START) // WINDOW,
            None if incident.ended is None else (incident.ended - START) // WINDOW,
        )
        for incident in found(letters)
    ]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("gggggg", []),
        ("gbgbgb", []),
        ("gbbggg", [(1, 3)]),
        ("gbb", [(1, None)]),
        ("gbbgg", [(1, None)]),
        ("gbbggbggg", [(1, 6)]),
        ("gb?bg?gg", [(1, 4)]),
        ("bbgggbbggg", [(0, 2), (5, 7)]),
        ("b??????b", []),
        ("b??????bb", [(7, None)]),
        ("", []),
        ("????", []),
    ],
)
def test_two_bad_windows_open_and_three_good_ones_close(letters, expected):
    assert spans(letters) == expected


def test_an_incident_adds_up_its_bad_windows_only():
    (incident,) = found("gbbgbggg")

    assert (incident.bad_windows, incident.succeeded, incident.judged) == (3, 150, 300)
    assert incident.last_bad == at(4)


def test_an_incident_without_any_word_for_a_day_is_closed_but_not_as_recovered():
    (incident,) = found("bb" + "?" * 146)

    assert (incident.ending, incident.ended) == (Ending.NO_DATA, at(1) + timedelta(hours=24))


def test_after_a_day_without_word_a_bad_row_is_a_new_incident():
    first, second = found("bb" + "?" * 150 + "bb")

    assert (first.ending, second.ending) == (Ending.NO_DATA, Ending.OPEN)
    assert second.began == at(152)


@given(st.text("gb?", max_size=40), st.randoms())
def test_the_order_of_arrival_does_not_matter(letters, dice):
    shuffled = seen(letters)
    dice.shuffle(shuffled)

    assert incidents(SUBJECT, shuffled, at(len(letters)), CALL_RULES) == found(letters)


@given(st.text("gb?", max_size=60))
def test_incidents_are_apart_and_hold_enough_bad_windows(letters):
    all_found = found(letters)

    for incident in all_found:
        assert incident.bad_windows >= CALL_RULES.open_after
        assert incident.began <= incident.last_bad
        assert incident.ended is None or incident.last_bad < incident.ended
    for earlier, later in pairwise(all_found):
        assert earlier.ended is not None
        assert earlier.ended < later.began


@given(st.text("gb?", max_size=40))
def test_telling_changes_step_by_step_ends_with_what_is_found_at_once(letters):
    stored: tuple[Incident, ...] = ()
    for length in range(len(letters) + 1):
        now_found = found(letters[:length])
        told = changes(stored, now_found)
        for change in told:
            assert isinstance(change, Opened | Updated | Closed)
        stored = now_found

    assert changes(stored, found(letters)) == ()


def test_a_late_window_may_reopen_withdraw_or_bring_to_light():
    closed = found("gbbggg")
    assert isinstance(changes(closed, found("gbbggb"))[0], Reopened)
    assert changes(found("gbb"), found("gbg")) == (Withdrawn(found("gbb")[0]),)
    (opened,) = changes((), closed)
    assert opened == Opened(closed[0])
    assert alarm_of(opened) is None


def test_alarms_say_who_what_since_when_and_with_which_counts():
    (opened,) = changes((), found("gbb"))
    (closed,) = changes(found("gbb"), found("gbbggg"))
    updated = changes(found("gbb"), found("gbbb"))

    words = alarm_of(opened)
    assert words is not None
    assert words.title == "FIP BANK-001, consent: bad, 50.0 % success"
    assert words.text.startswith(
        "2 windows of ten minutes bad since 2026-03-04 00:10 UTC: 100 of 200 calls succeeded"
    )
    over = alarm_of(closed)
    assert over is not None
    assert over.title == "FIP BANK-001, consent: recovered"
    assert over.text.endswith("Good again from 2026-03-04 00:30 UTC.")
    assert [alarm_of(change) for change in updated] == [None]


def test_an_incident_of_one_aa_and_a_withdrawn_one_have_words_too():
    (incident,) = incidents(AaCalls("a@aa"), seen("bb"), at(2), CALL_RULES)

    assert alarm_of(Opened(incident)).title == "AA a@aa, calls to FIPs: bad, 50.0 % success"
    assert alarm_of(Withdrawn(incident)).title.endswith("alarm withdrawn")
    assert alarm_of(Reopened(incident, incident)).title.endswith("still bad, 50.0 % success")


def test_an_aa_that_stops_reporting_is_an_incident_until_it_is_in_time_again():
    subject = AaReporting("a@aa")
    in_time, late = timedelta(minutes=12), timedelta(hours=3)
    received = {at(0): at(0) + in_time}
    received |= {at(n): at(n) + late for n in range(1, 6)}
    received |= {at(n): at(n) + in_time for n in range(6, 9)}
    expected = [at(n) for n in range(9)]

    silent = reporting_observations(
        expected, {w: r for w, r in received.items() if r <= at(5)}, at(5)
    )
    (open_one,) = incidents(subject, silent, at(5), REPORTING_RULES)
    caught_up = reporting_observations(expected, received, at(40))
    (closed_one,) = incidents(subject, caught_up, at(40), REPORTING_RULES)

    assert (open_one.began, open_one.ending) == (at(1), Ending.OPEN)
    assert (closed_one.began, closed_one.ended) == (at(1), at(6))
    assert alarm_of(Opened(open_one)).title == "AA a@aa, metrics: stopped reporting"
    assert "not reported in time since 2026-03-04 00:10 UTC" in alarm_of(Opened(open_one)).text


def test_a_window_that_may_still_come_in_time_says_nothing():
    end = at(0) + WINDOW

    assert reporting_observations([at(0)], {}, end + timedelta(minutes=14, seconds=59)) == []
    (missed,) = reporting_observations([at(0)], {}, end + timedelta(minutes=15))
    assert missed.mark is Mark.BAD


@pytest.mark.parametrize(
    ("total", "ok", "mark"), [(19, 0, Mark.UNKNOWN), (20, 0, Mark.BAD), (20, 20, Mark.GOOD)]
)
def test_a_window_with_too_few_calls_says_nothing(total, ok, mark):
    verdict = verdict_of_calls([RequestBlock("cns", (1, 2, 3, 4), (total, ok, *[0] * 13))])

    assert observation(START, verdict) == Observation(START, mark, ok, total)
