"""Each command of the pages of calls is run as it is printed, by a caller who may make the call."""

import json
import os
import re
import subprocess
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from tests.support.documents.blocks import Block, blocks_of, text_of
from tests.support.members import Member
from tests.support.metrics.incidents import stored_row
from tests.support.metrics.metrics_payloads import as_value, request_metrics
from tests.support.process import running_service
from tests.support.service import Service
from tools.pages.registry_payload import example

from mudra.bootstrap.dependencies import Dependencies
from mudra.demo.network import DEMO_PASSWORD
from mudra.metrics.payload.catalogue import window_start
from mudra.storage.tables.metrics import metrics_incident

_NAMES: Final = "open registry people network-health member-metrics operators tokens"
PAGES: Final = tuple(f"docs/reference/calls/{name}.md" for name in _NAMES.split())
LIST: Final = "docs/reference/calls.md"
INCIDENT: Final = "6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90"
"""The incident of the samples."""
INVITED: Final = "ravi@kaveribank.example"
"""The user on whom operators act in the samples."""
PEOPLE: Final = {
    "FINSIGHT-FIU": "asha@finsight.example",
    "KAVERI-FIP": "lakshmi@kaveribank.example",
    "SAARTHI-AA": "meera@saarthi-aa.example",
}
IST: Final = ZoneInfo("Asia/Kolkata")
OPERATOR: Final = "vikram@network.example"
LAST: Final = (
    "Remove an admin",
    "Change an address",
    "Replace an admin",
    "Disable an account",
    "Suspend, restore, retire",
    "Retire an entry",
)
"""Calls after which others of their page and of the next ones find nothing any more."""
OTHERWISE: Final = {
    **dict.fromkeys(
        (
            "Confirm a change by the link in an email",
            "Decline an invitation by the link in its email",
            "Set a password by the link in an email",
        ),
        401,  # the link of the sample is no one's
    ),
    **dict.fromkeys(
        (
            "Admit an implausible report",
            "Refuse an implausible report",
            "Send an event of your own webhook again",
            "Send an event of an own webhook again",
            "Send an event of a webhook again",
            "Show the league table to members",
            "Show the latest probe of an entry",
            "Confirm an operator's new address",
            "Try a mail again",
        ),
        404,
    ),
    **dict.fromkeys(
        (
            "Submit an entry",
            "Reset a lost second factor",
            "Switch the binding to listed addresses",
            "Switch a member's binding to listed addresses",
        ),
        409,
    ),
    "Ask for a link to set a password": 202,
}
"""The answer where a new network has nothing of the kind, or the page says what else is needed."""
NOTHING_DONE: Final = {
    "End one of your own tokens",
    "End one of your own sessions",
    "End a user's tokens",
}
"""Calls that end nothing in a new network, where no one has one to end."""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A sandbox of its own: the calls end tokens, entries and members."""
    folder = tmp_path_factory.mktemp("calls")
    with running_service(folder / "data", "--demo", "--no-traffic", keeps_store=True) as service:
        yield service


class Reader:
    """Someone with a shell, who takes the IDs that answers name for the calls that need them."""

    def __init__(self, service: Service, folder: Path) -> None:
        self.service, self.folder = service, folder
        self._ids = {page: {"INCIDENT_ID": INCIDENT} for page in PAGES}
        members = {
            entity_id: Member(service, entity_id, email, DEMO_PASSWORD, service.client())
            for entity_id, email in {**PEOPLE, "": OPERATOR}.items()
        }
        self.secrets = {name: member.secret() for name, member in members.items() if name}
        self._report_and_go_to_the_next_month(members["SAARTHI-AA"])
        self.user_tokens = {name: member.user_token() for name, member in members.items()}
        self.entity_tokens = {
            name: members[name].entity_token(secret).json()["accessToken"]
            for name, secret in self.secrets.items()
        }
        now = service.advance("PT0S")
        self.begins = now + timedelta(days=1)
        window = a_window(now)
        (folder / "window.json").write_text(json.dumps(window))
        entry = example("FIP")
        entry["requester"]["id"] = entry["entityinfo"]["id"] = "KAVERI-FIP"
        (folder / "entry.json").write_text(json.dumps(entry))
        self._store_incident(now)

    def _report_and_go_to_the_next_month(self, aa: Member) -> None:
        """A report of levels is of a month that is over, in which an AA reported something."""
        now = self.service.advance("PT0S")
        token = aa.entity_token(self.secrets[aa.entity_id]).json()["accessToken"]
        answer = aa.client.post(
            f"{self.service.root}/metrics/perf/v1/push",
            json=a_window(now),
            headers={"Authorization": f"Bearer {token}"},
        )
        assert answer.status_code == 200, answer.text
        reported = (now - timedelta(hours=1)).astimezone(IST)
        later = (reported.replace(day=1) + timedelta(days=32)).replace(day=2)
        self.service.advance(f"P{(later - now).days}D")

    def _store_incident(self, now: datetime) -> None:
        row = stored_row(INCIDENT, "fip-api", "KAVERI-FIP", window_start(now) - timedelta(hours=3))

        async def store(dependencies: Dependencies) -> None:
            async with dependencies.database.transaction() as transaction:
                await transaction.connection.execute(sa.insert(metrics_incident), [row])

        self.service.in_store(store)

    def run(self, block: Block) -> tuple[int, str]:
        """Returns the status and the body of what a block is answered."""
        script = 'curl() { command curl -w "\\n%{http_code}" "$@"; }\n' + block.body
        done = subprocess.run(
            ["bash", "-uc", script],
            cwd=self.folder,
            env=self._environment(block),
            capture_output=True,
            text=True,
            check=False,
        )
        body, _, status = done.stdout.rpartition("\n")
        assert status.isdigit(), (block.heading, done.stdout, done.stderr)
        if body.startswith("{"):
            self._learn(json.loads(body), self._ids[block.document])
        return int(status), body

    def _environment(self, block: Block) -> dict[str, str]:
        user, caller = account_of(block)
        if block.heading == LAST[-1]:  # its member is suspended: only an operator may
            user = ""
        unknown = {name: str(uuid.uuid4()) for name in re.findall(r"\$([A-Z]+_ID)\b", block.body)}
        return {
            **unknown,
            "SESSION_ID": "0f1e2d3c4b5a6978",  # without a browser there is none
            **self._ids[block.document],
            "PATH": os.environ["PATH"],
            "ROOT": self.service.root,
            "USER_TOKEN": self.user_tokens[user],
            "ENTITY_ID": caller,
            "ENTITY_SECRET": self.secrets[caller],
            "ENTITY_TOKEN": self.entity_tokens[caller],
            "PASSWORD": DEMO_PASSWORD,
            "BEGINS": self.begins.isoformat(),
            "ENDS": (self.begins + timedelta(hours=2)).isoformat(),
        }

    def _learn(self, answer: Any, ids: dict[str, str]) -> None:
        parts = answer if isinstance(answer, list) else [answer]
        for one in [part for part in parts if isinstance(part, dict)]:
            of_other = one.get("email", INVITED) != INVITED
            for name, value in one.items():
                if name == "userId" and of_other:
                    continue
                if isinstance(value, str) and re.fullmatch("[a-z]+Id", name) and is_uuid(value):
                    ids.setdefault(f"{name[:-2].upper()}_ID", value)
                self._learn(value, ids)


def a_window(now: datetime) -> object:
    """A payload of an hour ago, under a transaction ID of its own."""
    start = window_start(now - timedelta(hours=1))
    return as_value(request_metrics(aa_id="SAARTHI-AA", start=start, txn_id=str(uuid.uuid4())))


def is_uuid(text: str) -> bool:
    return re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text) is not None


def account_of(block: Block) -> tuple[str, str]:
    """Whose tokens all commands of a page use, as its head says: of which person and entity.

    The head names the one part of a page that needs another.
    """
    text = text_of(block.document)
    [says] = re.findall(r"The account of the sandbox in all commands of this page: ([^\n]+)", text)
    part = re.findall(r"^## (.+)$", text.partition(f"\n### {block.heading}\n")[0], re.MULTILINE)[-1]
    other = re.search(rf"\[{part}\]\([^)]*\) need that of an FIU, such as ([A-Z-]+)", says)
    if other:
        return other[1], other[1]
    [entity] = re.findall("|".join(PEOPLE), says)[:1] or [""]
    return ("" if OPERATOR in says else entity), entity or "KAVERI-FIP"


def order(block: Block) -> tuple[int, int]:
    """Each page from its top to its end, but for what ends that of which other pages speak."""
    last = 1 + LAST.index(block.heading) if block.heading in LAST else 0
    return last, PAGES.index(block.document)


@pytest.fixture(scope="module")
def answers(
    network: Service, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[int, str]]:
    """The answer to each call, by its heading."""
    reader = Reader(network, tmp_path_factory.mktemp("reader"))
    blocks = [one for page in PAGES for one in blocks_of(page) if one.kind == "sh"]
    return {
        block.heading: reader.run(block)
        for block in sorted(blocks, key=order)
        if "/feed/events" not in block.body
    }


@pytest.mark.slow
def test_no_call_is_refused_as_its_page_prints_it(answers: dict[str, tuple[int, str]]) -> None:
    assert len(answers) > 150
    refused = {
        heading: answer
        for heading, answer in answers.items()
        if answer[0] != OTHERWISE.get(heading, 200)
    }
    assert refused == {}


def facts_of(answer: Any) -> dict[str, object]:
    """What a reader takes over from an example: lives, validities, and the state after an act."""
    if not isinstance(answer, dict):
        return {}
    named = {"expiresIn", "expires_in", "tokenType", "status", "standing", "dryRun", "ready"}
    found = {name: one for name, one in answer.items() if name in named}
    if "validUntil" in answer:
        found["valid for"] = answer["validUntil"] - answer["issuedAt"]
    return found


@pytest.mark.slow
def test_an_example_says_what_the_service_does(answers: dict[str, tuple[int, str]]) -> None:
    wrong = {}
    compared = 0
    for block in (one for page in PAGES for one in blocks_of(page) if one.kind == "json"):
        status, body = answers.get(block.heading, (0, ""))
        if status == HTTPStatus.OK and body and block.heading not in NOTHING_DONE:
            shown, real = facts_of(json.loads(block.body)), facts_of(json.loads(body))
            compared += len(shown)
            if shown != real:
                wrong[block.heading] = shown, real

    assert compared > 15
    assert wrong == {}


def test_the_stream_of_the_feed_begins_as_its_page_says(sandbox: Service) -> None:
    [block] = [
        one
        for one in blocks_of("docs/reference/calls/member-metrics.md")
        if one.kind == "sh" and "/feed/events" in one.body
    ]
    fiu = Member(sandbox, "FINSIGHT-FIU", PEOPLE["FINSIGHT-FIU"], DEMO_PASSWORD, sandbox.client())
    token = fiu.entity_token(fiu.secret()).json()["accessToken"]
    environment = {"PATH": os.environ["PATH"], "ROOT": sandbox.root, "ENTITY_TOKEN": token}
    command = ["bash", "-uc", f"exec {block.body}"]

    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        begun = [run.stdout.readline() for _ in range(3)]
        run.terminate()

    assert begun == ["retry: 30000\n", "event: ready\n", "data: {}\n"]


def test_the_whole_call_is_answered_as_it_is_shown(sandbox: Service) -> None:
    sent, shown = (one for one in blocks_of(LIST) if one.kind in {"sh", "text"})
    command = sent.body.replace("http://127.0.0.1:8080", sandbox.root)

    done = subprocess.run(["bash", "-euc", command], capture_output=True, text=True, check=True)

    head, _, body = done.stdout.replace("\r", "").partition("\n\n")
    shown_head, _, shown_body = shown.body.partition("\n\n")
    names = [line.partition(":")[0] for line in head.splitlines()]
    assert {line.partition(":")[0] for line in shown_head.splitlines()} <= set(names)
    assert json.loads(body).keys() == json.loads(shown_body).keys()


@pytest.mark.parametrize(
    ("path", "email"),
    [
        ("/operator/v1/health/silences", OPERATOR),
        ("/operator/v1/levels/targets", OPERATOR),
        ("/metrics/perf/v1/maintenance", PEOPLE["KAVERI-FIP"]),
    ],
)
def test_what_the_document_plans_is_accepted(path: str, email: str, sandbox: Service) -> None:
    """Of a running service the examples are dates to come, by its clock."""
    member = Member(sandbox, "KAVERI-FIP", email, DEMO_PASSWORD, sandbox.client())
    headers = member.bearer()
    if path.startswith("/metrics"):
        token = member.entity_token(member.secret()).json()["accessToken"]
        headers = {"Authorization": f"Bearer {token}"}
    document = member.client.get(f"{sandbox.root}/schema/openapi.json").json()
    example = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]

    answer = member.client.post(f"{sandbox.root}{path}", json=example["example"], headers=headers)

    assert answer.status_code == 200, answer.text
