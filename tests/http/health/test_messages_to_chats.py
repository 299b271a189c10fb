"""A webhook for a chat gets what there is in its format, and nothing that the chat would refuse."""

import json
from datetime import UTC, datetime, timedelta

from tests.support.members import new_member
from tests.support.people.operators import new_operator
from tests.support.service import Service
from tests.support.webhook_sink import webhook_sink

HOOKS = "/health/webhooks"
FORMATS = ("standard", "slack", "teams")


def test_a_dispute_is_posted_to_a_program_and_to_no_chat(service: Service) -> None:
    bank, noc = new_member(service, "FIP"), new_operator(service, "health")
    day = (datetime.fromtimestamp(service.wall(), UTC) - timedelta(days=4)).date().isoformat()
    raised = ["dispute", "raise", bank.entity_id, "--day", day, "--text", "Not ours."]
    service.cli("login", bank.email, "--password-stdin", stdin=bank.password)
    with webhook_sink() as sink:
        hooks = [
            noc.post(HOOKS, url=f"{sink.url}/{name}", entityId=bank.entity_id, format=name)
            for name in FORMATS
        ]

        which = json.loads(service.cli(*raised, "--json").stdout)["dispute"]["disputeId"]
        service.cli("dispute", "inform", which, "--text", "Our log has all of them.")
        service.cli(*raised, "--comment")
        for one in hooks:  # what is posted after them shows that they are not still on their way
            noc.post(f"{HOOKS}/{one.json()['webhook']['webhookId']}/test")
        service.wait_until(lambda: len(sink.posted) == len(FORMATS) + 3)

        got = sorted((one.path.rpartition("/")[2], one.data.get("type", "")) for one in sink.posted)
    service.cli("logout")

    events = ("dispute.inform", "dispute.noted", "dispute.raised", "webhook.test")
    assert got == [
        ("slack", ""),
        *(("standard", event) for event in events),
        ("teams", "message"),
    ]
