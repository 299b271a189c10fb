"""Four questions about service levels, from the question to its end: by command, and by call.

By clicking they are walked in tests/browser/test_level_walks.py.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.support.alarm_network import as_entity
from tests.support.forked_command import run_mudra
from tests.support.members import Member
from tests.support.metrics.bad_month import INDIA, after_a_bad_month
from tests.support.metrics.health_network import HealthNetwork
from tests.support.process import running_service

pytestmark = pytest.mark.slow

METRICS = "/metrics/perf/v1"
LEVELS = f"{METRICS}/levels/reports"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HealthNetwork]:
    """Two banks had an outage last month; today is the second of the next one."""
    with running_service(tmp_path_factory.mktemp("walks") / "data", keeps_store=True) as running:
        yield after_a_bad_month(running, banks=2)


def last_day(network: HealthNetwork) -> datetime:
    assert network.reported_to is not None
    return network.reported_to.astimezone(INDIA)


def verified(proof: Path, network: HealthNetwork, where: Path) -> Any:
    """What the command says of a file, by the published keys and without the service."""
    keys = network.service.client().get(f"{network.service.issuer}/.well-known/jwks.json")
    (where / "jwks.json").write_text(keys.text)
    checked = run_mudra(
        *("report", "verify", str(proof), "--keys", str(where / "jwks.json"), "--json")
    )
    assert checked.returncode == 0, checked.stderr
    return json.loads(checked.stdout)


def tampered(proof: Path) -> Path:
    """The file with one number changed."""
    text = proof.read_text()
    counts = re.search(r'"counts":\[(\d+)', text)
    assert counts
    other = proof.with_name("other.json")
    other.write_text(text.replace(counts[0], f'"counts":[{int(counts[1]) + 1}', 1))
    return other


def test_the_four_are_walked_by_command(network: HealthNetwork, tmp_path: Path) -> None:
    service, bank = network.service, network.fips[0]
    month, day = f"{last_day(network):%Y-%m}", last_day(network).date().isoformat()
    service.cli("login", bank.email, "--password-stdin", stdin=bank.password)

    def run(*words: str) -> Any:
        return json.loads(service.cli(*words, "--json").stdout)

    # Announce maintenance: so early that it is left out.
    planned = run(
        *("maintenance", "announce", bank.entity_id),
        *("--in", "PT30H", "--for", "PT2H", "--reason", "new disks"),
    )
    assert planned["notice"]["inTime"] is True

    # Why was the month bad? From the report to the incident, and to what changed before it.
    (made,) = run("report", "make-own", bank.entity_id, "--month", month)
    first = made["reportId"]
    shown = service.cli("report", "show-own", bank.entity_id, first).stdout
    assert re.search(r"availability +fireq .* no ", shown)
    incident_id = next(line.split()[-1] for line in shown.splitlines() if line.startswith("own "))
    before = run("timeline", "before-own", bank.entity_id, incident_id)
    assert "secret" in json.dumps(before[0])

    # Contest the day: decided, and in the next version with its reason.
    text = "Our gateway answered all calls of this day."
    raised = run("dispute", "raise", bank.entity_id, "--day", day, "--text", text)
    which = raised["dispute"]["disputeId"]
    service.cli("dispute", "act", which, "accept", "--text", "The gateway's log shows it.")
    (second,) = run("report", "make-own", bank.entity_id, "--month", month)
    changed = service.cli("report", "show-own", bank.entity_id, second["reportId"]).stdout
    assert second["version"] == made["version"] + 1
    assert "because: now left_out: The gateway's log shows it." in changed

    # Prove it to the regulator: one file, checked offline.
    proof = tmp_path / "proof.json"
    service.cli(
        *("report", "download-own", bank.entity_id, second["reportId"], "--out", str(proof))
    )
    service.cli("logout")
    assert verified(proof, network, tmp_path)["valid"] is True
    keys = ("--keys", str(tmp_path / "jwks.json"))
    refused = run_mudra("report", "verify", str(tampered(proof)), *keys)
    assert refused.returncode == 1, refused.stdout


class Caller:
    """A program of a bank: its own token, and that of its admin."""

    def __init__(self, bank: Member) -> None:
        self.bank, self.own, self.person = bank, as_entity(bank), bank.bearer()

    def ask(self, path: str, sent: dict[str, Any] | None = None, **query: str) -> Any:
        return self._answer(f"{self.bank.service.root}{path}", self.own, sent, query)

    def as_admin(self, path: str, sent: dict[str, Any] | None = None, **query: str) -> Any:
        return self._answer(f"/v1/entity/{path}", self.person, sent, query)

    def _answer(
        self, url: str, headers: dict[str, str], sent: dict[str, Any] | None, query: dict[str, str]
    ) -> Any:
        client: httpx2.Client = self.bank.client
        answer = (
            client.get(url, params=query, headers=headers)
            if sent is None
            else client.post(url, json=sent, headers=headers)
        )
        assert answer.status_code == 200, answer.text
        return answer.json()


def test_the_four_are_walked_by_call(network: HealthNetwork, tmp_path: Path) -> None:
    bank = network.fips[1]
    caller = Caller(bank)
    month, day = f"{last_day(network):%Y-%m}", last_day(network).date().isoformat()

    # Announce maintenance.
    now = datetime.fromtimestamp(network.service.wall(), UTC)
    begins, ends = (now + timedelta(hours=one) for one in (30, 32))
    times = {"begins": begins.isoformat(), "ends": ends.isoformat()}
    planned = caller.ask(f"{METRICS}/maintenance", {**times, "reason": "new disks"})["silence"]
    assert planned["notice"]["inTime"] is True

    # Why was the month bad?
    made = caller.ask(LEVELS, {"month": month})["report"]
    report = caller.ask(f"{LEVELS}/{made['reportId']}")["report"]
    missed = {(one["measure"], one["api"]) for one in report["figures"] if one["met"] is False}
    assert ("availability", "fireq") in missed
    (outage,) = {one["reference"] for one in report["spans"] if one["fate"] == "own"}
    incidents = caller.ask(f"{METRICS}/incidents")["incidents"]
    (incident,) = (one for one in incidents if one["incidentId"] == outage)
    assert (incident["kind"], incident["entityId"]) == ("fip-api", bank.entity_id)
    before = caller.as_admin(f"incidents/{outage}/before", entityId=bank.entity_id)
    assert "secret" in json.dumps(before["candidates"][0])

    # Contest the day.
    said = {"entityId": bank.entity_id, "about": "day", "day": day, "text": "We answered all."}
    which = caller.as_admin("disputes", said)["dispute"]["disputeId"]
    decided = network.noc.post(
        f"/disputes/{which}/steps", act="accept", text="The gateway's log shows it."
    )
    assert decided.status_code == 200, decided.text
    second = caller.ask(LEVELS, {"month": month})["report"]
    reasons = caller.ask(f"{LEVELS}/{second['reportId']}")["report"]["reasons"]
    assert second["version"] == made["version"] + 1
    assert any("The gateway's log shows it." in one for one in reasons)

    # Prove it to the regulator.
    proof = tmp_path / "proof.json"
    proof.write_text(json.dumps(caller.ask(f"{LEVELS}/{second['reportId']}/proof")))
    assert verified(proof, network, tmp_path)["valid"] is True
