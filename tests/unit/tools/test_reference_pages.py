"""Generated pages of the reference: complete, and their samples true; `make lint` compares them."""

import ast
import base64
import hashlib
import hmac
import json
import re
from pathlib import Path

from tests.support.documents.blocks import text_of
from tests.support.documents.webhook_reference import PAGE, check_message, events, samples
from tools.pages.audit_events import audit_events_page
from tools.pages.calls import calls_page
from tools.pages.emails import emails_page
from tools.pages.metrics import RULES, metrics_page
from tools.pages.webhooks import KEY, NOW, SCHEMAS

from mudra.audit.event import EventName
from mudra.disputes import dispute
from mudra.disputes.dispute import Step
from mudra.disputes.dispute_message import event_of
from mudra.levels import report_news
from mudra.levels.budgets import burn_message
from mudra.metrics.notifications.incident_notifications import Event
from mudra.metrics.notifications.personal_message import PERSONAL
from mudra.metrics.notifications.webhook import CHALLENGE, TEST
from mudra.metrics.subscriptions.webhook_subscription import StatusEvent
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

    names = re.findall(r"^\| `(mudra_\w+)` \|", page, re.MULTILINE)
    read = set(re.findall(r"(?<![\w:])mudra_\w+", RULES.read_text()))
    assert len(names) == len(set(names))
    assert {re.sub("_(bucket|sum|count)$", "", one) for one in read} <= set(names)
    row = r"^\| `mudra_\w+` \| [^|]+ \| ([^|]*) \| [^|]+; (?:sum|max|min|per node) \|"
    of_metrics = re.findall(row, page, re.MULTILINE)
    labels = {name for cell in of_metrics for name in re.findall(r"`(\w+)`", cell)}
    explained = set(re.findall(r"^\| `(\w+)` \|", page.partition("### Labels")[2], re.MULTILINE))
    assert len(labels) > 15
    assert labels <= explained
    assert {"mudra_agent_ready", "mudra_agent_last_delivery_timestamp_seconds"} <= set(names)


def test_every_event_of_the_code_is_in_the_reference_of_webhooks() -> None:
    steps = [Step(1, NOW, "", act, state, "") for act in dispute.Act for state in dispute.State]
    levels = {burn_message.EVENT, report_news.EVENT}

    named = {one.value for kind in (Event, StatusEvent) for one in kind}
    assert events() == named | levels | {TEST, PERSONAL, CHALLENGE} | {
        event_of(one) for one in steps
    }


def test_every_kind_of_message_of_the_code_has_its_schema_on_the_page() -> None:
    declared = {
        found.name
        for file in Path("src/mudra").rglob("*.py")
        for found in ast.walk(ast.parse(file.read_text()))
        if isinstance(found, ast.ClassDef) and fields_of(found) == ["type", "timestamp", "data"]
    }

    assert declared == {one.__name__ for one in SCHEMAS.values()} - {"ChallengeAnswer"}


def fields_of(declared: ast.ClassDef) -> list[str]:
    """The fields of a class, in their order."""
    return [
        one.target.id
        for one in declared.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    ]


def test_every_message_of_the_page_fits_its_schema_and_its_signature_its_body() -> None:
    for name, body in samples().items():
        check_message(body)
        assert f"\n## {name}\n" in text_of(PAGE) or f"\n### {name}\n" in text_of(PAGE)
    # Each kind of event is shown: of disputes and incidents one stands for all.
    assert {one.partition(".")[0] for one in events()} == {
        one.partition(".")[0] for one in samples()
    }
    message, at, signature = re.findall(r"^webhook-\w+: (.+)$", text_of(PAGE), re.MULTILINE)
    compact = json.dumps(samples()["incident.opened"], separators=(",", ":"), ensure_ascii=False)
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
