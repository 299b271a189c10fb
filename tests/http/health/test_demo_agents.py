"""The demonstration network lives: real agents, fed over their HTTP source, push real windows."""

import json
import re
import stat
import tomllib
from datetime import datetime, timedelta

import httpx2
import pytest
from tests.support.documents.blocks import text_of
from tests.support.http_clients import NO_TLS
from tests.support.process import running_service

AAS = ("SAARTHI-AA", "SETUFLOW-AA")
PAST_THE_PUSH = "PT12M"
"""From any moment on: the window that runs is over, 30 s are past, and the offset of 60 s at most."""
"""A machine that runs other tests next to is slow; nothing here is a matter of speed."""


@pytest.fixture(scope="module")
def alive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alive") / "data"
    # With a past of less than two windows, which are not filled: no test here looks at it.
    with running_service(folder, "--demo", keeps_store=True, TEST_DEMO_DAYS="0.01") as service:
        yield service


def config(service, aa_id):
    return service.data_dir / "agents" / aa_id / "agent.toml"


def status(service, aa_id="SAARTHI-AA"):
    """What the running agent says of itself; empty while it does not answer."""
    try:
        listen = tomllib.loads(config(service, aa_id).read_text())["http"]["listen"]
        return httpx2.get(f"http://{listen[0]}/status", verify=NO_TLS).json()
    except (FileNotFoundError, httpx2.HTTPError):
        return {}


def shown(service, aa_id, since):
    """What the service keeps of this AA's pushes, asked for with the agent's own credentials."""
    secret = (config(service, aa_id).parent / "secret").read_text()
    token = httpx2.post(
        f"{service.issuer}/v1/entity/token/generate",
        data={"id": aa_id, "secret": secret},
        verify=NO_TLS,
    ).json()["accessToken"]
    answer = httpx2.get(
        f"{service.root}/metrics/perf/v1/receipts",
        params={"from": since},
        headers={"Authorization": f"Bearer {token}"},
        verify=NO_TLS,
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def all_reported(found):
    """Whether both payloads of a window are delivered, and none waits."""
    return found.get("delivered", 0) >= 2 and found.get("backlogPayloads") == 0


def let_calls_come(service):
    """Until each agent has counted some: a window in which nothing happened is not reported."""
    for aa_id in AAS:
        before = status(service, aa_id).get("events", 0)
        service.wait_until(
            lambda aa_id=aa_id, before=before: status(service, aa_id).get("events", 0) > before,
        )


def let_a_window_be_delivered(service):
    """Whatever was or was not pushed before: one more window, and nothing that waits."""
    let_calls_come(service)
    service.advance(PAST_THE_PUSH)
    service.wait_until(lambda: all_reported(status(service)))


@pytest.mark.slow
def test_calls_of_every_aa_reach_its_agent_over_http(alive):
    for aa_id in AAS:
        alive.wait_until(lambda aa_id=aa_id: status(alive, aa_id).get("events", 0) > 20)
        words = ("agent", "status", "--config", str(config(alive, aa_id)), "--json")
        done = alive.cli(*words, check=False)  # not ready before its first window is delivered
        found = json.loads(done.stdout)
        assert found["running"]
        assert "unreadable" not in found.get("notCounted", {})


def test_the_status_has_every_field_of_the_guide_also_with_nothing_to_say(alive):
    alive.wait_until(lambda: status(alive))
    guide = text_of("docs/how-to/run-an-agent.md").partition("## Every day")[2]
    rows = re.findall(r"^\| (`.*?`) \|", guide.partition("\n\n`/readyz`")[0], re.MULTILINE)
    documented = {name for cell in rows for name in re.findall(r"`(\w+)`", cell)}

    found = status(alive)

    assert len(documented) > 20
    assert documented - found.keys() == set()


def test_the_secret_lies_in_a_file_that_only_its_owner_reads(alive):
    for aa_id in AAS:
        alive.wait_until((config(alive, aa_id).parent / "secret").exists)
        shown = tomllib.loads(config(alive, aa_id).read_text())
        secret = config(alive, aa_id).parent / "secret"
        assert shown["credentials"]["secret"] == {"file": str(secret.resolve())}
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_a_window_of_events_ends_as_a_receipt_and_in_the_picture(alive):
    let_a_window_be_delivered(alive)

    found = status(alive)
    # An older window may be delivered after the last one, which has priority.
    since = datetime.fromisoformat(found["lastWindow"]) - timedelta(hours=2)
    known = shown(alive, "SAARTHI-AA", since.isoformat())["receipts"]
    assert found["lastReceipt"] in {one["receiptId"] for one in known}
    assert found["deadLetters"] == 0


@pytest.mark.slow
def test_time_that_is_jumped_over_was_lived_through(alive):
    let_a_window_be_delivered(alive)
    since = status(alive)["lastWindow"]
    let_calls_come(alive)

    alive.advance("PT6H")

    # One window of both tags may be missing for good: that of the jump, when no call was in it.
    alive.wait_until(
        lambda: sum(gap["windows"] for gap in shown(alive, "SAARTHI-AA", since)["gaps"]) <= 2,
    )
    let_calls_come(alive)
    before = status(alive)["delivered"]
    alive.advance(PAST_THE_PUSH)
    alive.wait_until(lambda: status(alive).get("delivered", 0) > before)
    alive.wait_until(lambda: status(alive).get("ready"))
