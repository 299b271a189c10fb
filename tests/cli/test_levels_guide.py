"""The how-to about service levels: every command of it is run, in its order."""

import json
import shlex
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.support.documents.blocks import Block, blocks_of, filled_in
from tests.support.members import new_member
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.process import running_service
from tests.support.service import Service

INDIA = ZoneInfo("Asia/Kolkata")
"""Whose months the reports are of: five hours and a half before those of UTC."""
PAGE = "docs/how-to/service-levels.md"
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
    return datetime.fromtimestamp(service.wall(), INDIA)


def set_by_reader(variables: Block) -> None:
    """The times of the page are a month that is over, and a week that is."""
    shown = 'printf "%s\\n" "$MONTH" "$FROM" "$TO"'
    done = subprocess.run(
        ["bash", "-euc", variables.body + shown], capture_output=True, text=True, check=True
    )
    month, *times = done.stdout.splitlines()
    start, end = map(datetime.fromisoformat, times)
    assert datetime.strptime(f"{month}-01Z", "%Y-%m-%d%z") < start < end < datetime.now(UTC)
    assert end - start == timedelta(days=7)


def test_the_commands_of_the_guide_are_answered(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bank = new_member(service, "FIP")
    now = datetime.fromtimestamp(service.wall(), UTC)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    filled = {
        "KAVERI-FIP": bank.entity_id,
        "$FROM": (today - timedelta(days=9)).isoformat(),
        "$TO": (today - timedelta(days=2)).isoformat(),
        "$MONTH": f"{now.astimezone(INDIA).replace(day=1) - timedelta(days=2):%Y-%m}",
    }
    service.cli("login", bank.email, "--password-stdin", stdin=bank.password)
    variables, *blocks = [one for one in blocks_of(PAGE) if one.kind == "sh"]
    lines = [line for one in blocks for line in one.body.splitlines()]
    assert len(lines) == 23

    set_by_reader(variables)
    made, said = "", []
    for line in lines:
        words = shlex.split(filled_in(line, filled | dict.fromkeys(MADE, made)), comments=True)
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
