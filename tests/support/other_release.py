"""Nodes of this release and of the one before, on one database, with an operator's settings."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from tests.support.preloaded_program import ForkedProgram
from tests.support.service import NO_TLS, Service, new_member

THIS = Path(__file__).parents[2]
BEFORE = "be0ee053042b9cccc6a36542ab373efe841e69b9"
"""The newest commit of version 1.0.0 in this history."""
_MEMBERS = """
import json, os, subprocess, sys
from pathlib import Path
from tests.support.service import Service, new_member
issuer, data_dir, numbers = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
service = Service(None, issuer, data_dir, dict(os.environ) | {"MUDRA_DATA_DIR": str(data_dir)})
made = []
for entity_type, number in numbers.items():
    for _ in range(number):
        one = new_member(service, entity_type)
        user = one.user_token()
        secret = one.read({"Authorization": f"Bearer {user}"}).json()["secret"]
        made.append({"id": one.entity_id, "type": entity_type, "user": user, "secret": secret})
print(json.dumps(made))
"""


def has_history() -> bool:
    """Whether this clone has the release before."""
    command = ["git", "cat-file", "-e", BEFORE]
    return subprocess.run(command, cwd=THIS, capture_output=True, check=False).returncode == 0


def release_before(folder: Path) -> Path:
    """Unpack the release before; skips where this clone has no history."""
    command = ["git", "archive", BEFORE, "src", "tests", "pyproject.toml"]
    done = subprocess.run(command, cwd=THIS, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this clone has not the history in which the release before is")
    folder.mkdir(exist_ok=True)
    # Not by tarfile: its filters are newer than Debian's Python 3.11.2.
    subprocess.run(["tar", "-x", "-C", str(folder)], input=done.stdout, check=True)
    return folder


def environment_of(tree: Path, more: Mapping[str, str]) -> dict[str, str]:
    """An environment in which Python imports the Mudra of a tree."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MUDRA_")}
    return own | {"PYTHONPATH": f"{tree / 'src'}:{tree}"} | dict(more)


@dataclass
class ReleaseNode:
    """A running node."""

    process: subprocess.Popen[str] | ForkedProgram
    port: int

    def wait_until_ready(self) -> None:
        """Return once it takes requests."""
        end = time.monotonic() + 180
        while not self._is_ready():
            assert self.process.poll() is None, "the node ended"
            assert time.monotonic() < end, "the node is not ready"
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        with contextlib.suppress(httpx2.TransportError):
            answer = httpx2.get(f"http://127.0.0.1:{self.port}/readyz", verify=NO_TLS, timeout=2)
            return answer.is_success
        return False

    def stop(self) -> int:
        """Stop it as an operator does."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def start(
    tree: Path, data_dir: Path, port: int, settings: Mapping[str, str], *, forked: bool = False
) -> ReleaseNode:
    """Start a node of a release and wait until it is ready.

    `forked` is for this release: from a process that has its code loaded.
    """
    program = "from mudra.bootstrap.command_line import app; app()"
    words = ["serve", "--port", str(port)]
    environment = environment_of(tree, {**settings, "MUDRA_DATA_DIR": str(data_dir)})
    process: subprocess.Popen[str] | ForkedProgram
    if forked:
        assert tree == THIS, "the loaded code is that of this release"
        process = ForkedProgram(words, environment)
    else:
        process = subprocess.Popen(
            [sys.executable, "-c", program, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
    assert process.stdout is not None
    threading.Thread(target=process.stdout.read, daemon=True).start()
    node = ReleaseNode(process, port)
    node.wait_until_ready()
    return node


@contextlib.contextmanager
def ended(nodes: list[ReleaseNode]) -> Iterator[None]:
    """Kill what still runs at the end of a block."""
    try:
        yield
    finally:
        for node in nodes:
            if node.process.poll() is None:
                node.process.kill()
                node.process.wait(30)


def members(
    tree: Path, issuer: str, data_dir: Path, settings: Mapping[str, str], **numbers: int
) -> list[dict[str, Any]]:
    """Onboard members by the use cases of a release: ID, type, user token and secret of each."""
    environment = environment_of(tree, settings)
    if tree == THIS:
        return _members_of_this(issuer, environment | {"MUDRA_DATA_DIR": str(data_dir)}, numbers)
    done = subprocess.run(
        [sys.executable, "-c", _MEMBERS, issuer, str(data_dir), json.dumps(numbers)],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(found, list)
    return found


def _members_of_this(
    issuer: str, environment: dict[str, str], numbers: Mapping[str, int]
) -> list[dict[str, Any]]:
    """The same in this process, which has the code of this release loaded."""
    none = cast("ForkedProgram", None)
    service = Service(none, issuer, Path(environment["MUDRA_DATA_DIR"]), environment)
    made = []
    for entity_type, number in numbers.items():
        for _ in range(number):
            one = new_member(service, entity_type)
            user = one.user_token()
            secret = one.read({"Authorization": f"Bearer {user}"}).json()["secret"]
            made.append({"id": one.entity_id, "type": entity_type, "user": user, "secret": secret})
    return made
