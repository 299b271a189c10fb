"""The how-to about a bad day, and the call of a dispute: each command of them is answered."""

import os
import shlex
import subprocess
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

from tests.support.documents.blocks import blocks_of, filled_in
from tests.support.members import new_member
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.service import Service


def said_by_shell(body: str, variables: Mapping[str, str]) -> str:
    """What a block prints."""
    done = subprocess.run(
        ["bash", "-c", body], env=dict(variables), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_each_command_of_the_guide_is_answered(service: Service) -> None:
    bank = new_member(service, "FIP")
    secret = bank.secret()
    today = datetime.fromtimestamp(service.wall(), UTC).replace(hour=18, minute=30, second=0)
    first, last = ((today - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ") for days in (5, 4))
    aa = pushing_aa(service)
    reported = aa.push(aa.requests(datetime.fromisoformat(first)))
    assert reported.status_code == 200, reported.text
    filled = {
        "KAVERI-FIP": bank.entity_id,
        "2026-11-26T18:30:00Z": first,
        "2026-11-26T00:00:00Z": first,
        "2026-11-27T18:30:00Z": last,
    }
    variables = {
        "PATH": os.environ["PATH"],
        "ROOT": service.root,
        "ENTITY_TOKEN": bank.entity_token(secret).json()["accessToken"],
        "USER_TOKEN": bank.bearer()["Authorization"].removeprefix("Bearer "),
        "DAY": last[:10],
    }
    service.cli("login", bank.email, "--password-stdin", stdin=bank.password)
    said = []
    for page in ("docs/how-to/read-a-bad-day.md", "docs/how-to/dispute-a-figure.md"):
        for block in blocks_of(page):
            body = filled_in(block.body, filled)
            if body.startswith("DAY="):
                day = said_by_shell(f"{body}printf %s $DAY", variables)
                assert date.fromisoformat(day) < datetime.now(UTC).date()
            elif body.startswith("curl"):
                said.append(said_by_shell(body, variables))
            elif page.endswith("bad-day.md"):
                lines = [line for line in body.splitlines() if "INCIDENT_ID" not in line]
                said += [service.cli(*shlex.split(line)[1:]).stdout for line in lines]
    service.cli("logout")

    assert len(said) == 6
    assert '"rows":' in said[1]
    assert '"incidents":' in said[2]
    assert '"about":"day"' in said[-1]
