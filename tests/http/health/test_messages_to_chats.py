"""A webhook for a chat gets what there is in its format, and nothing that the chat would refuse."""

from datetime import UTC, datetime, timedelta

from tests.support.alarm_network import as_entity
from tests.support.members import new_member
from tests.support.service import Service
from tests.support.webhook_sink import webhook_sink

HOOKS = "/metrics/perf/v1/webhooks"


def test_a_dispute_is_posted_to_a_program_and_to_no_chat(service: Service) -> None:
    bank = new_member(service, "FIP")
    headers = as_entity(bank)
    day = (datetime.fromtimestamp(service.wall(), UTC) - timedelta(days=4)).date().isoformat()
    service.cli("login", bank.email, "--password-stdin", stdin=bank.password)
    with webhook_sink() as sink:
        made = {}
        for kind in ("standard", "slack", "teams"):
            hook = {"url": f"{sink.url}/{kind}", "format": kind}
            answer = bank.client.post(service.root + HOOKS, json=hook, headers=headers)
            made[kind] = answer.json()["webhook"]["webhookId"]

        service.cli("dispute", "raise", bank.entity_id, "--day", day, "--text", "Not ours.")
        service.cli(
            "dispute", "raise", bank.entity_id, "--day", day, "--text", "Ours.", "--comment"
        )
        for kind in ("slack", "teams"):  # what comes after it shows that nothing came before
            bank.client.post(f"{service.root}{HOOKS}/{made[kind]}/test", headers=headers)
        service.wait_until(lambda: len(sink.posted) == 4)

        got = {(one.path.rpartition("/")[2], one.data.get("type")) for one in sink.posted}
    service.cli("logout")

    assert got == {
        ("standard", "dispute.raised"),
        ("standard", "dispute.noted"),
        ("slack", None),
        ("teams", "message"),
    }
