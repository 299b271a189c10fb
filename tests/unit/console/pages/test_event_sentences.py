"""Each event of the audit has its sentence: who did what, to whom."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from mudra.audit.event import EventName
from mudra.audit.search import AuditRow
from mudra.console.pages.event_sentence import detail_json, event_sentence
from mudra.localization.language import Language, written_in
from mudra.localization.languages import Languages

AT = datetime(2026, 3, 1, tzinfo=UTC)


def row(event: str, outcome: str = "success", **detail: object) -> AuditRow:
    return AuditRow(1, AT, event, outcome, "user:1", "KAVERI-FIP", "", "", "", detail)


LANGUAGES = Languages()


@pytest.fixture(params=["en", "hi"])
def language(request: pytest.FixtureRequest) -> Iterator[Language]:
    found = LANGUAGES.find(request.param)
    assert found is not None
    with written_in(found):
        yield found


@pytest.mark.parametrize("event", EventName)
@pytest.mark.parametrize("outcome", ["success", "refused", "failed"])
def test_each_event_is_a_sentence_without_gaps(
    event: EventName, outcome: str, language: Language
) -> None:
    """Also that of an older version, whose detail lacks what its sentence names today."""
    said = event_sentence(row(event.value, outcome), "asha@kaveri.example", "", "Kaveri Bank")

    if language.tag == "en":
        assert ":" not in said.removeprefix("Refused: ").removeprefix("Failed: ")
    assert not set("?{%“") & set(said)
    assert not said.endswith(": ")
    assert said[0].isupper() or "@" in said.split()[0] or language.tag != "en"
    assert len(said.split()) > 2


def test_a_sentence_names_who_did_what_to_whom() -> None:
    reset = row("entity:secret:reset", version=2)
    scopes = row("operator:account:change", scopes=["health", "audit"])
    refused = row("registry:entry:approve", "refused", version=4)

    assert event_sentence(reset, "asha@k.example", "", "Kaveri Bank") == (
        "asha@k.example reset the secret of Kaveri Bank"
    )
    assert event_sentence(scopes, "ravi@n.example", "mira@n.example", "") == (
        "ravi@n.example changed the scopes of mira@n.example to health, audit"
    )
    assert event_sentence(refused, "ravi@n.example", "", "Kaveri Bank") == (
        "Refused: ravi@n.example approved version 4 of the entry of Kaveri Bank"
    )
    assert event_sentence(row("of:a:later"), "asha@k.example", "", "") == "of:a:later"


def test_the_detail_is_json_without_empty_fields() -> None:
    detail = {"ends": "", "text": "नमस्ते", "fipIds": [], "count": 0, "begins": None}

    assert detail_json(detail) == '{"text": "नमस्ते", "count": 0}'
    assert detail_json({"ends": ""}) == ""
