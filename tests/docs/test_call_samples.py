"""The samples of each call of token service, registry and push run as a reader copies them.

Each language has a member of its own, since some calls may be made once in five minutes.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from tests.support.depth import with_every_change
from tests.support.documents.blocks import Block, blocks_of
from tests.support.members import Member, new_member
from tests.support.metrics.metrics_payloads import as_value, request_metrics
from tests.support.programs import program
from tests.support.registry.registry_commands import payload
from tests.support.service import PASSWORD, Service
from tests.support.until import until
from tools.pages.registry_payload import example

from mudra.metrics.payload.catalogue import window_start

PAGES: Final = {
    "docs/reference/token-service.md": ("FIP", 13),
    "docs/reference/registry.md": ("FIU", 7),
    "docs/reference/metrics-push.md": ("AA", 2),
}
"""The type of the member that makes the calls, and how many there are."""
COMMANDS: Final[dict[str, tuple[str, list[str]]]] = {
    "sh": ("sample.sh", ["bash", "-euo", "pipefail", "sample.sh"]),
    "python": ("sample.py", []),
    "js": ("sample.mjs", ["node", "sample.mjs"]),
    "java": ("Sample.java", ["java", "Sample.java"]),
    "go": ("main.go", ["go", "run", "main.go"]),
}
PRINTED: Final = {
    "Generate a User Access Token": "Bearer",
    "Generate an Entity Access Token": "86400",
    "Get a token by OAuth 2.0": "86400",
    "Introspect a token": "true",
    "End the grace period": "0",
    "Lint an entry": "true",
    "Submit an entry": "submitted",
    "Push a window": "accepted",
    "Retire an entry": "retired",
}


OTHERWISE_SHOWN: Final = {"Revoke a token", "Fetch the list of revoked tokens"}
"""An empty answer, and one that other tests change: tests/docs/test_samples.py has it."""


def samples(page: str, kind: str) -> Iterator[Block]:
    """The samples of one language; of the kind `json` the whole answers below them."""
    blocks = blocks_of(page)
    of_all = {
        block.heading
        for block in blocks
        if {one.kind for one in blocks if one.heading == block.heading} >= COMMANDS.keys()
    }
    return (block for block in blocks if block.kind == kind and block.heading in of_all)


def assert_shown(shown: object, answered: object, place: str = "$") -> None:
    """Fail where an answer has other fields or types than the page shows, or other yes and no.

    Each element that the page shows is one that the answer has; texts and numbers are those of
    another member and day.
    """
    assert type(shown) is type(answered), (place, answered)
    if isinstance(shown, dict) and isinstance(answered, dict):
        assert list(shown) == list(answered), (place, answered)
        for name, value in shown.items():
            assert_shown(value, answered[name], f"{place}.{name}")
    elif isinstance(shown, list) and isinstance(answered, list):
        assert bool(shown) == bool(answered), (place, answered)
        for number, (one, other) in enumerate(zip(shown, answered, strict=False)):
            assert_shown(one, other, f"{place}[{number}]")
    elif isinstance(shown, bool):
        assert shown == answered, (place, answered)


class Reader:
    """A member's engineer with a shell, whose variables have the newest values."""

    def __init__(self, member: Member, folder: Path) -> None:
        self.member, self._folder = member, folder
        files = self._payloads()
        for name, body in files.items():
            (folder / name).write_text(json.dumps(body))

    def _payloads(self) -> dict[str, object]:
        service = self.member.service
        if self.member.entity_id.endswith("-FIU"):
            first = payload(self.member)
            later = json.loads(json.dumps(first)) | {
                "txnid": "6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90"
            }
            later["entityinfo"]["name"] = "Kaveri Finance"
            return {"entry.json": first, "update.json": later}
        start = window_start(service.advance("PT0S") - timedelta(hours=1))
        return {"window.json": as_value(request_metrics(aa_id=self.member.entity_id, start=start))}

    def run(self, block: Block) -> str:
        environment = self.environment()
        if block.kind == "python":
            return self._run_here(block, environment)
        done = self.run_apart(block, environment)
        assert done.returncode == 0, f"{block.heading}\n{block.body}\n{done.stdout}{done.stderr}"
        return done.stdout

    def environment(self) -> dict[str, str]:
        secret = self.member.secret()
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ROOT": self.member.service.root,
            "ADMIN_EMAIL": self.member.email,
            "ADMIN_PASSWORD": PASSWORD,
            "USER_TOKEN": self.member.bearer()["Authorization"].removeprefix("Bearer "),
            "ENTITY_ID": self.member.entity_id,
            "ENTITY_SECRET": secret,
            "ENTITY_TOKEN": self.member.entity_token(secret).json()["accessToken"],
            "ENTITY_TYPE": self.member.entity_id.rpartition("-")[2],
            "PEER_TYPE": "FIP",
            "PEER_ID": "KAVERI-FIP",
            # Go keeps what it compiled, else below a home; one for all tests of a run.
            "GOCACHE": str(self._folder.parent / "go-cache"),
        }

    def wait_for_use(self) -> None:
        """Wait for the use of the secret, which is written behind the answer."""
        client, address = self.member.client, f"entityId={self.member.entity_id}"

        def is_written() -> bool:
            use = client.get(f"/v1/entity/secret/use?{address}", headers=self.member.bearer())
            return "lastUsedAt" in use.json()["current"]

        until(is_written)

    def run_apart(
        self, block: Block, environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        file, command = COMMANDS[block.kind]
        (self._folder / file).write_text(block.body)
        return subprocess.run(
            command or [sys.executable, file],
            cwd=self._folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def _run_here(self, block: Block, environment: dict[str, str]) -> str:
        """Run a sample in Python in this process: to load its library takes longer than the call."""
        printed = io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.chdir(self._folder),
            contextlib.redirect_stdout(printed),
        ):
            for name, value in environment.items():
                patch.setenv(name, value)
            exec(compile(block.body, block.heading, "exec"), {})
        return printed.getvalue()


def follow_samples(page: str, kind: str, sandbox: Service, folder: Path) -> None:
    entity_type, calls = PAGES[page]
    reader = Reader(new_member(sandbox, entity_type), folder)
    approve: dict[str, Callable[[], object]] = {
        "Submit an entry": lambda: sandbox.cli(
            "registry", "approve", reader.member.entity_id, "--version", "1"
        ),
    }
    before: dict[str, Callable[[], object]] = {"See where the secret is used": reader.wait_for_use}
    printed = {}
    for block in samples(page, kind):
        before.get(block.heading, lambda: None)()
        printed[block.heading] = reader.run(block)
        approve.get(block.heading, lambda: None)()

    assert len(printed) == calls
    for heading, text in printed.items():
        assert PRINTED.get(heading, "").lower() in text.lower(), (heading, text)
        assert text.strip() or heading == "Revoke a token", heading
    shown = list(samples(page, "json"))
    assert {one.heading for one in shown} == printed.keys() - OTHERWISE_SHOWN
    for one in shown:
        assert_shown(json.loads(one.body), json.loads(printed[one.heading]), one.heading)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: Path(page).stem)
@pytest.mark.parametrize("kind", with_every_change(["python"], ["sh", "python", "js"]))
def test_each_sample_of_a_call_works(
    page: str, kind: str, sandbox: Service, tmp_path: Path
) -> None:
    follow_samples(page, kind, sandbox, tmp_path)


@pytest.mark.parametrize(
    "kind",
    [
        "sh",
        "python",
        "js",
        pytest.param("java", marks=pytest.mark.slow),
        pytest.param("go", marks=pytest.mark.slow),
    ],
)
def test_a_sample_shows_why_it_was_refused(kind: str, sandbox: Service, tmp_path: Path) -> None:
    if kind in {"java", "go"}:
        program(kind)
    reader = Reader(new_member(sandbox, "FIP"), tmp_path)
    [block] = [
        one
        for one in samples("docs/reference/token-service.md", kind)
        if one.heading == "Generate an Entity Access Token"
    ]

    refused = reader.run_apart(block, reader.environment() | {"ENTITY_SECRET": "wrong"})

    assert refused.returncode != 0
    assert '"errorCode":"Unauthorized"' in refused.stdout + refused.stderr
    assert '"errorMsg":' in refused.stdout + refused.stderr


def test_each_sample_waits_longer_than_the_service_does_for_its_database() -> None:
    # A push is answered 503 after 15 seconds: who gives up before learns nothing.
    limits = {
        "sh": "--max-time 30",
        "python": "timeout=30,",
        "js": "AbortSignal.timeout(30_000)",
        "java": ".timeout(Duration.ofSeconds(30))",
        "go": "http.Client{Timeout: 30 * time.Second}",
    }
    for page, (_, calls) in PAGES.items():
        for kind, limit in limits.items():
            found = list(samples(page, kind))
            assert len(found) == calls
            assert not [one.heading for one in found if limit not in one.body], (page, kind)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: Path(page).stem)
@pytest.mark.parametrize("kind", ["java", "go"])
def test_each_compiled_sample_of_a_call_works(
    page: str, kind: str, sandbox: Service, tmp_path: Path
) -> None:
    program(kind)
    follow_samples(page, kind, sandbox, tmp_path)


@pytest.mark.parametrize("kind", ["FIP", "FIU", "AA"])
def test_the_payload_of_the_reference_passes(kind: str, sandbox: Service) -> None:
    member = new_member(sandbox, kind)
    body = example(kind)
    body["requester"]["id"] = body["entityinfo"]["id"] = member.entity_id

    answer = member.client.post(
        f"{sandbox.root}/cr/v2/lint/{kind}", json=body, headers=member.bearer()
    )

    assert answer.json().get("passes") is True, answer.text
