"""Generated pages of the reference: complete, and their samples true; `make lint` compares them."""

import base64
import hashlib
import hmac
import json
import re

import jsonschema_rs
from tools.pages.audit_events import audit_events_page
from tools.pages.calls import calls_page
from tools.pages.emails import emails_page
from tools.pages.metrics import RULES, metrics_page
from tools.pages.webhooks import KEY, webhooks_page

from mudra.audit.event import EventName
from mudra.metrics.notifications.incident_notifications import Event
from mudra.shared.notice import NoticeKind


def test_every_event_of_the_audit_is_listed_with_its_meaning() -> None:
    rows = re.findall(r"^\| `([a-z_:]+)` \| (.+?) \|", audit_events_page(), re.MULTILINE)

    found = {name: meaning for name, meaning in rows if ":" in name}
    assert found.keys() == {name.value for name in EventName}
    assert all(len(meaning) > 10 for meaning in found.values())


ALARMS = (NoticeKind.HEALTH_ALARM, NoticeKind.HEALTH_DIGEST, NoticeKind.HEALTH_ESCALATED)


def test_every_email_is_shown_as_it_is_written() -> None:
    page = emails_page()

    assert set(re.findall(r"^## (\w+)$", page, re.MULTILINE)) == {one.value for one in NoticeKind}
    assert "{{" not in page
    # An alarm begins with how bad it is: a telephone shows no more of it.
    subjects = re.findall(r"^Subject: (.+)$", page, re.MULTILINE)
    assert len(subjects) == len(NoticeKind)
    assert sum(one.startswith("[Critical] ") for one in subjects) == len(ALARMS)


def test_every_alert_reads_a_metric_of_the_page() -> None:
    page = metrics_page()

    names = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    read = set(re.findall(r"(?<![\w:])mudra_\w+", RULES.read_text()))
    assert len(names) == len(set(names))
    assert {re.sub("_(bucket|sum|count)$", "", one) for one in read} <= set(names)
    assert {"mudra_agent_ready", "mudra_agent_last_delivery_timestamp_seconds"} <= set(names)


def test_every_message_fits_its_schema_and_its_signature_its_body() -> None:
    page = webhooks_page()
    parts = dict(re.findall(r"^##+ (.+?)$(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL))
    blocks = {
        name: [json.loads(one) for one in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
        for name, text in parts.items()
    }
    kinds = {"of `incident.…`": [one.value for one in Event], "of `webhook.test`": ["webhook.test"]}
    kinds["of `alarms`"] = ["alarms"]

    for schema, names in kinds.items():
        (document,) = blocks[schema]
        for name in names:
            (body,) = blocks[name]
            assert body["type"] == name
            jsonschema_rs.validator_for(document).validate(body)
    message, at, signature = re.findall(r"^webhook-\w+: (.+)$", page, re.MULTILINE)
    compact = json.dumps(blocks["incident.opened"][0], separators=(",", ":"), ensure_ascii=False)
    key = base64.b64decode(KEY.removeprefix("whsec_"))
    signed = hmac.digest(key, f"{message}.{at}.{compact}".encode(), hashlib.sha256)
    assert signature == f"v1,{base64.b64encode(signed).decode()}"


def test_the_calls_are_listed_with_what_they_take_and_answer() -> None:
    page = calls_page()

    call = page.partition("### POST /iam/v1/entity/secret/reset\n")[2].partition("\n### ")[0]
    assert call.lstrip().startswith("Replace the secret: at most 5 times in 24 hours")
    assert "| `entityId` | JSON | string | yes | " in call
    assert (
        "| `secretExpiryDays` | JSON | integer |  | a whole number from 1 to 180; default `180` |"
        in call
    )
    assert "| `expiresOn` | integer | milliseconds since the epoch |" in call
    assert "| `username` | form | string | yes |" in page
    assert len(re.findall(r"^### GET /", page, re.MULTILINE)) > 40
    named = set(re.findall(r"\*([A-Z]\w+)\*", page))
    assert named <= set(re.findall(r"^### (\w+)$", page, re.MULTILINE))
