"""The how-to about service levels: every command of it is run, in its order."""

import json
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.support.documents.blocks import blocks_of, filled_in
from tests.support.members import new_member
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.process import running_service
from tests.support.service import Service

MADE = ("REPORT_ID", "TARGET_ID")
"""What the commands of the page name by its ID."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service of its own on the eighth of a month, with a report of the month before and the fifth."""
    with running_service(tmp_path / "data", keeps_store=True) as started:
        today = report(started)
        fifth = (today.replace(day=1) + timedelta(days=31)).replace(day=5)
        started.advance(f"P{(fifth - today).days}D")
        report(started)
        started.advance("P3D")
        yield started


def report(service: Service) -> datetime:
    """Push the last window of an AA; give the time."""
    aa = pushing_aa(service)
    assert aa.push(aa.requests()).status_code == 200
    return datetime.fromtimestamp(service.wall(), UTC)


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
