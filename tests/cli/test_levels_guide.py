"""The how-to about service levels: every command of it is run, in its order."""

import json
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.support.documents.blocks import blocks_of, filled_in
from tests.support.members import new_member
from tests.support.service import Service

MADE = ("REPORT_ID", "TARGET_ID")
"""What the commands of the page name by its ID."""


def test_the_commands_of_the_guide_are_answered(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bank = new_member(service, "FIP")
    now = datetime.fromtimestamp(service.wall(), UTC)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    filled = {
        "KAVERI-FIP": bank.entity_id,
        "2026-03-02T18:30:00Z": (today - timedelta(days=9)).isoformat(),
        "2026-03-09T18:30:00Z": (today - timedelta(days=2)).isoformat(),
        "2026-03 ": f"{now.replace(day=1) - timedelta(days=2):%Y-%m} ",
        "2026-04-01": now.date().isoformat(),
    }
    service.cli("login", bank.email, "--password-stdin", stdin=bank.password)
    blocks = [one for one in blocks_of("docs/how-to/service-levels.md") if one.kind == "sh"]
    lines = [line for one in blocks for line in one.body.splitlines()]
    assert len(lines) == 22

    made, said = "", []
    for line in lines:
        # A word ends with a space.
        words = shlex.split(
            filled_in(f"{line} ", filled | dict.fromkeys(MADE, made)), comments=True
        )
        if words[0] == "curl":
            Path("jwks.json").write_text(
                service.client().get(f"{service.issuer}/.well-known/jwks.json").text
            )
            continue
        form = [] if "--csv" in words or "download" in words[2] else ["--json"]
        done = service.cli(*words[1:], *form).stdout
        said.append(done)
        if words[2] in {"make", "make-own", "set-target"}:
            (one,) = json.loads(done)
            made = one.get("reportId") or one["targetId"]

    assert json.loads(said[-1])["valid"] is True
