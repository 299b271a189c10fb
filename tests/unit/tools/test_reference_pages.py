"""Generated pages of the reference: complete, and their samples true; `make lint` compares them."""

import ast
import base64
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.support.documents.blocks import text_of
from tests.support.documents.webhook_reference import (
    PAGE,
    check_message,
    events,
    samples,
    schema,
)
from tools.pages.audit_events import audit_events_page
from tools.pages.calls import calls_pages
from tools.pages.client import client_page
from tools.pages.commands import commands_page
from tools.pages.emails import emails_page
from tools.pages.metrics import RULES, metrics_page
from tools.pages.webhooks import KEY, NOW, SCHEMAS

from mudra import client
from mudra.audit.event import EventName
from mudra.cli.output.output import Exit
from mudra.comparison.capacity import CapacityEvent
from mudra.disputes import dispute
from mudra.disputes.dispute import Step
from mudra.disputes.dispute_message import event_of
from mudra.levels import report_news
from mudra.levels.budgets import burn_message
from mudra.metrics.incidents.silence_service import MaintenanceEvent
from mudra.metrics.notifications.alarm_mailer import PERSONAL
from mudra.metrics.notifications.incident_notifications import Event
from mudra.metrics.notifications.webhook import CHALLENGE, TEST
from mudra.metrics.subscriptions.webhook_subscription import StatusEvent
from mudra.shared.mail.notice import NoticeKind


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


_KINDS = (Event, StatusEvent, MaintenanceEvent, CapacityEvent)


def test_every_event_of_the_code_is_in_the_reference_of_webhooks() -> None:
    steps = [Step(1, NOW, "", act, state, "") for act in dispute.Act for state in dispute.State]
    levels = {burn_message.EVENT, report_news.EVENT}

    named = {one.value for kind in _KINDS for one in kind}
    assert events() == named | levels | {TEST, PERSONAL, CHALLENGE} | {
        event_of(one) for one in steps
    }


def test_every_kind_of_message_of_the_code_has_its_schema() -> None:
    declared = {
        found.name
        for text in (file.read_text() for file in Path("src/mudra").rglob("*.py"))
        if " timestamp: " in text  # to parse every file takes a second and a half
        for found in ast.walk(ast.parse(text))
        if isinstance(found, ast.ClassDef) and fields_of(found) == ["type", "timestamp", "data"]
    }

    assert declared == {one.__name__ for one in SCHEMAS.values()}
    known = re.compile(schema()["properties"]["type"]["pattern"])
    assert [one for one in events() if not known.search(one)] == []


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


@cache
def calls() -> Mapping[str, str]:
    """The pages of calls, made once: it takes 0.6 s of CPU."""
    return calls_pages()


def test_the_calls_are_listed_with_what_they_take_and_answer() -> None:
    page = calls()["calls/tokens.md"]

    call = page.partition("\n### Replace the entity's secret\n")[2].partition("\n### ")[0]
    assert call.lstrip().startswith("`POST /iam/v1/entity/secret/reset` · User Access Token\n")
    assert "| `entityId` | JSON, needed, string | " in call
    assert (
        "| `secretExpiryDays` | JSON, integer | days that the new secret lives;"
        " a whole number from 1 to 180; default `180` |" in call
    )
    assert "| `expiresOn` | integer | end of the secret, in milliseconds since 1970 |" in call
    assert '"oldSecretValidity": 7' in call
    assert "| `username` | form, needed, string |" in page


def test_every_call_is_in_the_list_and_leads_to_its_place() -> None:
    pages = calls()
    rows = re.findall(
        r"^\| \[(.+)\]\((calls/.+\.md)#(.+)\) \| `(.+)` \| (.+) \|$",
        pages["calls.md"],
        re.MULTILINE,
    )

    for summary, file, anchor, call, token in rows:
        place = pages[file].partition(f"\n### {summary}\n")[2].partition("\n### ")[0]
        assert place.lstrip().startswith(f"`{call}` · "), summary
        assert anchor == re.sub(r"[^\w -]", "", summary).lower().replace(" ", "-")
        assert token
    written = sum(len(re.findall(r"^### ", page, re.MULTILINE)) for page in pages.values())
    objects = sum(page.partition("\n## Objects\n")[2].count("\n### ") for page in pages.values())
    areas = pages["calls.md"].partition("\n## All calls\n")[2].count("\n### ")
    common = pages["calls.md"].partition("\n## All calls\n")[0].count("\n### ")
    assert len(rows) == written - objects - areas - common > 150


def test_each_object_that_a_page_of_calls_names_is_on_it() -> None:
    for name, page in calls().items():
        named = set(re.findall(r"\[([A-Z]\w+)\]\(#(\w+)\)", page))
        assert all(title.lower() == anchor for title, anchor in named), name
        objects = page.partition("\n## Objects\n")[2]
        assert {title for title, _ in named} == set(
            re.findall(r"^### (\w+)$", objects, re.MULTILINE)
        )


def test_every_command_is_listed_and_described() -> None:
    page = commands_page()
    described = re.findall(r"^##+ (mudra(?: [a-z-]+)+)$", page, re.MULTILINE)
    top = page.partition("\n## What holds for all\n")[0]
    linked = set(re.findall(r"\(#(mudra-[a-z-]+)\)", top))

    usages = re.findall(r"^##+ (.+)\n\n```text\n(mudra [^\n]+)", page, re.MULTILINE)
    assert len(usages) > 150
    for name, usage in usages:
        assert usage.startswith(name)
        assert name.replace(" ", "-") in linked
    assert {name for name, _ in usages} <= set(described)


def test_every_exit_code_has_a_way_out() -> None:
    part = commands_page().partition("\n### Exit codes\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\d) \| (.+) \| (.+) \|$", part, re.MULTILINE)

    assert [int(code) for code, _, _ in rows] == [int(code) for code in Exit]


def test_every_error_of_the_library_says_what_to_do() -> None:
    page = client_page().partition("\n## Errors\n")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| (?:&nbsp;)*`(\w+)` \| .+ \| (.+) \|$", page, re.MULTILINE))

    errors = {name for name in client.__all__ if name[0].isupper() and name in rows}
    assert len(errors) == len(rows) > 20
    assert rows["TokenExpired"] == "as `TokenRefused`"
    assert "401" in rows["TokenRefused"]
    assert "429" in rows["TooManyProofs"]
