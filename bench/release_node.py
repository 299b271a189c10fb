"""Nodes of this release and of a copy of it, on one database, with an operator's settings."""

import contextlib
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
from tests.support.http_clients import NO_TLS
from tests.support.members import new_member
from tests.support.preloaded_program import ForkedProgram
from tests.support.service import Service

THIS = Path(__file__).parents[1]


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
    issuer: str, data_dir: Path, settings: Mapping[str, str], **numbers: int
) -> list[dict[str, Any]]:
    """Onboard members by the use cases of this release: ID, type, user token and secret of each."""
    environment = environment_of(THIS, {**settings, "MUDRA_DATA_DIR": str(data_dir)})
    none = cast("ForkedProgram", None)
    service = Service(none, issuer, data_dir, environment)
    made = []
    for entity_type, number in numbers.items():
        for _ in range(number):
            one = new_member(service, entity_type)
            user = one.user_token()
            secret = one.read({"Authorization": f"Bearer {user}"}).json()["secret"]
            made.append({"id": one.entity_id, "type": entity_type, "user": user, "secret": secret})
    return made
