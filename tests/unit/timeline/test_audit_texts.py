"""Events of the audit as a timeline shows them."""

from datetime import UTC, datetime

import pytest

from mudra.audit.search import AuditRow
from mudra.timeline.audit_texts import happening_of


def row(event: str, **detail: str) -> AuditRow:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    return AuditRow(1, at, event, "done", "operator:root", "", "", "", "", detail)


@pytest.mark.parametrize(
    ("event", "detail", "text"),
    [
        ("keys:signing:activate", {"kid": "YA_DQ-_gs"}, "signing key YA_DQ-_gs began to sign"),
        ("dispute:case:decide", {"state": "accepted_partly"}, "dispute decided: accepted partly"),
    ],
)
def test_a_state_is_words_and_an_id_stays_as_it_is(
    event: str, detail: dict[str, str], text: str
) -> None:
    happening = happening_of(row(event, **detail))

    assert happening is not None
    assert happening.text == text
