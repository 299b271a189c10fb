"""The texts of alarms in another language: whole, whatever the incident and its change."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace
from tests.support.metrics.incidents import an_incident

from mudra.localization.language import Language, written_in
from mudra.localization.languages import Languages
from mudra.metrics.incidents.incident import (
    AaApi,
    AaCalls,
    AaReporting,
    Ending,
    Fip,
    FipApi,
    Incident,
    Network,
    Path,
    StoredIncident,
    Symptom,
)
from mudra.metrics.incidents.incident_change import Change, Closed, Moved, Opened, Reopened
from mudra.metrics.incidents.incident_change import withdrawn as withdraw
from mudra.metrics.notifications.alarm import alarm_of
from mudra.metrics.notifications.escalation import escalation_facts, unowned

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
SUBJECTS = [
    Fip("BANK"), FipApi("BANK", "fif,cnot-received"), AaCalls("ONE"), AaApi("ONE", "cns"),
    AaReporting("ONE"), Path("ONE", "BANK"), Network(),
]  # fmt: skip
OPEN = [
    *(an_incident(one, NOW - HOUR, affected_aas=("ONE",), ambiguous_with=(Network(),)) for one in SUBJECTS),
    *(an_incident(SUBJECTS[0], NOW - HOUR, symptoms=(one,), bad_windows=1) for one in Symptom),
    an_incident(SUBJECTS[0], NOW - HOUR, eligible=5000, succeeded=4999),
]  # fmt: skip
ENGLISH_WORDS = re.compile(r"[A-Za-z]{2,}(?: [A-Za-z]{2,})+")


@pytest.fixture(scope="module")
def hindi() -> Language:
    """Read once: its catalogue is a large file."""
    found = Languages().find("hi")
    assert found is not None
    return found


def changes(incident: Incident) -> list[Change]:
    over = [
        replace(incident, ended=NOW, ending=one)
        for one in (Ending.RECOVERED, Ending.NO_DATA, Ending.MERGED)
    ]
    moved = replace(incident, subject=Path("ONE", "BANK"))
    return [
        Opened(incident),
        Reopened(over[0], incident),
        Moved(incident, moved),
        withdraw(incident, NOW),
        *(Closed(incident, one) for one in over),
    ]


@pytest.mark.parametrize("incident", OPEN, ids=lambda one: f"{one.subject}")
def test_no_word_of_an_alarm_is_left_in_english(incident: Incident, hindi: Language) -> None:
    zone = ZoneInfo("Asia/Kolkata")
    for change in changes(incident):
        english = alarm_of(change, zone)
        with written_in(hindi):
            translated = alarm_of(change, zone)
        assert english is not None
        assert translated is not None
        for text in (translated.title, *translated.text.splitlines()):
            plain = re.sub(r"\b(?:AA|FIP|FI|ONE|BANK|IST|UTC)\b", "", text)
            assert ENGLISH_WORDS.findall(plain) == [], text
            assert re.search("[\u0900-\u097f]", text), text
        digits = re.compile(r"\d+")
        assert sorted(digits.findall(translated.text)) == sorted(digits.findall(english.text))


def test_an_escalation_is_whole_too(hindi: Language) -> None:
    stored = [StoredIncident(f"{n}", one, None) for n, one in enumerate(OPEN * 2)]
    with written_in(hindi):
        facts = escalation_facts(stored, NOW, UTC, "https://mudra.example/console")
    plain = re.sub(r"\b(?:AA|FIP|FI|ONE|BANK|UTC)\b", "", facts["incidents"])
    assert ENGLISH_WORDS.findall(plain) == []
    assert "और " in facts["incidents"].rpartition("|")[2]


def test_it_says_for_how_long_there_has_been_no_owner() -> None:
    """The detector may have been down: the escalation comes 59 minutes after it was opened."""
    old, young = (
        StoredIncident(
            "1",
            replace(an_incident(Fip("BANK"), NOW - HOUR), detected=NOW - timedelta(minutes=one)),
            None,
        )
        for one in (59, 31)
    )
    given_up = replace(old, acknowledged_at=NOW - timedelta(minutes=42))

    def minutes(*of: StoredIncident) -> str:
        return escalation_facts(of, NOW, UTC, "https://mudra.example/console")["minutes"]

    assert (minutes(old), minutes(old, young), minutes(given_up)) == ("59", "31", "42")
    assert unowned(old, NOW, UTC).title.startswith("No owner for 59 minutes: ")
