"""The how-to about disputes and the one about what changed, followed by command."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from tests.support.members import Member, new_member
from tests.support.service import Service

TEXT = b"2026-01-31T10:20Z 200 /FI/Fetch\n"


def own(member: Member, *words: str) -> dict[str, object]:
    """What a command of the member's admin says."""
    found = json.loads(member.service.cli(*words, "--json").stdout)
    assert isinstance(found, dict)
    return found


def test_a_day_is_contested_answered_and_decided_by_command(
    service: Service, tmp_path: Path
) -> None:
    bank = new_member(service, "FIP")
    log, copy = tmp_path / "gateway.log", tmp_path / "copy.log"
    log.write_bytes(TEXT)
    day = (datetime.fromtimestamp(service.wall(), UTC) - timedelta(days=4)).date().isoformat()
    service.cli("login", bank.email, "--password-stdin", stdin=bank.password)

    raised = own(bank, "dispute", "raise", bank.entity_id, "--day", day, "--text", "Not ours.")
    which = raised["dispute"]["disputeId"]  # type: ignore[index]
    file = own(bank, "dispute", "attach", which, str(log))["evidenceId"]
    listed = service.cli("dispute", "list", bank.entity_id).stdout
    queue = json.loads(service.cli("dispute", "queue", "--entity", bank.entity_id, "--json").stdout)
    service.cli("dispute", "file", which, str(file), "--output", str(copy))
    for step in (["review"], ["ask", "--text", "Which gateway?"]):
        service.cli("dispute", "act", which, *step)
    answered = own(bank, "dispute", "inform", which, "--text", "The one in Mumbai.")
    accept = ["accept", "--text", "The path was down.", "--effect", "not_against_member"]
    service.cli("dispute", "act", which, *accept)
    shown = own(bank, "dispute", "show", which)
    reopened = service.cli("dispute", "act", which, "reopen", "--text", "A new log came.")
    withdrawn = own(bank, "dispute", "withdraw", which)
    timeline = service.cli("timeline", "own", bank.entity_id, "--csv").stdout

    assert [one["disputeId"] for one in queue] == [which]
    head, row = (line.split() for line in listed.splitlines())
    assert row[head.index("DAY")] == day
    assert copy.read_bytes() == TEXT
    assert answered["dispute"]["state"] == "under_review"  # type: ignore[index]
    assert [one["effect"] for one in shown["corrections"]] == ["not_against_member"]  # type: ignore[attr-defined]
    assert "under_review" in reopened.stdout
    assert withdrawn["dispute"]["state"] == "withdrawn"  # type: ignore[index]
    assert f"dispute,{bank.entity_id},dispute decided: accepted," in timeline


def test_a_step_of_the_member_is_refused_before_it_is_sent(service: Service) -> None:
    refused = service.cli("dispute", "act", str(uuid4()), "withdraw", check=False)
    steps = service.cli("dispute", "act", "--help").stdout

    assert refused.exit_code == 2
    said = " ".join(refused.stderr.replace("│", " ").split())
    assert "withdraw is no step of an operator: review, ask, answer, accept" in said
    assert "accept_partly" in steps
    assert not {"withdraw", "attach", "lapse", "overdue"} & {*re.findall(r"\w+", steps)}
