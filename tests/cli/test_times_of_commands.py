"""Options that are an instant or a day: one reader reads them all."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.support.members import onboard
from tests.support.service import Service

INDIA = timezone(timedelta(hours=5, minutes=30))


def test_the_audit_is_listed_from_an_instant_in_any_form(service: Service) -> None:
    entity_id, _ = onboard(service)
    begin = datetime.fromtimestamp(service.wall(), UTC).replace(second=0) - timedelta(minutes=2)
    forms = (
        *(f"{begin:%Y-%m-%dT%H:%M:%S}Z", f"{begin:%Y-%m-%dT%H:%M}Z", f"{begin:%Y-%m-%dT%H:%M}"),
        *(f"{begin.astimezone(INDIA):%Y-%m-%dT%H:%M}+05:30", f"{begin:%Y-%m-%d}"),
    )

    found = [
        json.loads(
            service.cli("audit", "list", "--entity", entity_id, "--since", one, "--json").stdout
        )
        for one in forms
    ]
    none = service.cli(
        "audit", "list", "--entity", entity_id, "--until", f"{begin:%Y-%m-%dT%H:%M}Z", "--json"
    )

    assert all(found), forms
    assert found == [found[0]] * len(forms)
    assert json.loads(none.stdout) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("audit", "list", "--since", "noon"), "--since must be a day or a time, "),
        (("audit", "list", "--until", "2026-13-01"), "--until must be a day or a time, "),
        (("metrics", "remake", "--aa", "all", "--grain", "day", "--at", "2026-11-27T00:00:00"),
         "--at must be a time with its offset, "),
        (("database", "recovered", "--to", "2026-11-27"), "--to must be a time with its offset, "),
        (("metrics", "export", "--out", "x", "--from", "27.11.2026"), "--from must be a day, "),
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused_in_a_sentence(
    service: Service, words: tuple[str, ...], sentence: str
) -> None:
    refused = service.cli(*words, check=False)

    assert refused.exit_code == 2
    assert sentence in refused.stderr
    assert "%Y" not in refused.stderr
