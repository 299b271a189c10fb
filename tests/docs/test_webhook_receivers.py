"""The receivers of the reference of webhooks run as a reader copies them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from tests.support.documents.blocks import Block, blocks_of
from tests.support.documents.webhook_reference import PAGE, samples
from tests.support.members import new_member
from tests.support.programs import program
from tests.support.service import Service
from tests.support.webhook_sink import webhook_sink

from mudra.shared.secret_text import SecretText
from mudra.webhook.sign import signed_headers

KEY, NEXT, FOREIGN = (SecretText(f"whsec_{digit * 43}=") for digit in "AEI")
BODY = json.dumps(samples()["incident.opened"], separators=(",", ":"), ensure_ascii=False).encode()
COMMANDS = {
    "python": [sys.executable, "receiver.py"],
    "js": ["node", "receiver.mjs"],
    "java": ["java", "Receiver.java"],
    "go": ["go", "run", "main.go"],
}


def receivers(kind: str) -> Iterator[Block]:
    return (one for one in blocks_of(PAGE) if one.kind == kind)


@contextmanager
def receiver(kind: str, folder: Path) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """The receiver of the page in one language: its address, and the program.

    It has a session of its own, since `node` may be a program that starts another.
    """
    (block,) = receivers(kind)
    command = COMMANDS[kind]
    (folder / command[-1]).write_text(block.body)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    started = subprocess.Popen(
        command,
        cwd=folder,
        env={
            "PATH": path,
            "PORT": "0",
            "WEBHOOK_KEY": KEY.reveal(),
            "GOCACHE": str(folder.parent / "go-cache"),
        },
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert started.stdout is not None
        port = started.stdout.readline().removeprefix("listening on port ").strip()
        yield f"http://127.0.0.1:{port}", started
    finally:
        ended(started)


def ended(started: "subprocess.Popen[str]") -> str:
    """End a receiver: what it printed since it listens."""
    if started.poll() is None:
        os.killpg(started.pid, signal.SIGKILL)
    assert started.stdout is not None
    return "" if started.stdout.closed else started.communicate()[0]


@pytest.mark.parametrize(
    "kind",
    [
        "python",
        "js",
        pytest.param("java", marks=pytest.mark.slow),
        pytest.param("go", marks=pytest.mark.slow),
    ],
)
def test_a_receiver_takes_messages_once(kind: str, tmp_path: Path) -> None:
    if kind in {"java", "go"}:
        program(kind)
    now = datetime.now(UTC)
    late, early = now - timedelta(minutes=6), now + timedelta(minutes=6)
    with receiver(kind, tmp_path) as (address, running):

        def status(*keys: SecretText, message: str, at: datetime = now, body: bytes = BODY) -> int:
            headers = signed_headers(keys, message, at, BODY)
            return httpx2.post(address, content=body, headers=headers).status_code

        assert status(KEY, message="first") == 200
        assert status(KEY, message="first") == 200
        assert status(NEXT, KEY, message="of a rotation") == 200
        assert status(FOREIGN, message="of another") == 401
        assert status(KEY, message="changed", body=BODY.replace(b"fif", b"cns")) == 401
        assert status(KEY, message="late", at=late) == 401
        assert status(KEY, message="early", at=early) == 401
        assert httpx2.post(address, content=BODY).status_code == 401
        printed = ended(running)

    assert printed.splitlines() == ["incident.opened 2026-03-02T09:41:05Z"] * 2


def test_a_webhook_is_added_by_the_call_of_the_page(service: Service, tmp_path: Path) -> None:
    member = new_member(service)
    (block,) = (one for one in blocks_of(PAGE) if one.kind == "sh")
    token = member.entity_token(member.secret()).json()["accessToken"]
    with webhook_sink() as sink:
        done = subprocess.run(
            [
                "bash",
                "-euc",
                block.body.replace("https://alarms.kaveribank.example/mudra", sink.url),
            ],
            cwd=tmp_path,
            env={**os.environ, "ROOT": service.root, "ENTITY_TOKEN": token},
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 0, done.stdout + done.stderr
    added = json.loads(done.stdout)
    assert added["secret"].startswith("whsec_")
    assert added["webhook"]["webhookId"]
