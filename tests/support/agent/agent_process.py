"""A real agent process in fast time, and the AA's application that reports calls to it."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx2
from tests.support.agent.hostile_operator import PUSH
from tests.support.http_clients import NO_TLS
from tests.support.manual_clock import START
from tests.support.preloaded_program import ForkedProgram
from tests.support.until import PATIENCE_S

SPEED = 600
STDERR = 2
AGENT = "tests.support.agent.fast_agent"


def free_port() -> int:
    """A port that is free at this moment, on every address: some programs listen so."""
    with socket.socket() as free:
        free.bind(("0.0.0.0", 0))
        return int(free.getsockname()[1])


def configured(
    directory: Path,
    operator: str,
    port: int,
    aa_id: str = "AA-1",
    secret: str = "s3cret",
    source: str = "",
) -> Path:
    """An agent.toml for this operator and port; the secret is in a file unless `source` says otherwise."""
    (directory / "secret").write_text(secret)
    source = source or f'secret.file = "{directory}/secret"'
    path = directory / "agent.toml"
    path.write_text(
        f'aa_id = "{aa_id}"\ndirectory = "{directory}/spool"\n'
        f'[operator]\ntoken_url = "{operator}/iam"\npush_url = "{operator}{PUSH}"\n'
        f'[credentials]\nid.value = "{aa_id}"\n{source}\n'
        f'[http]\nlisten = ["127.0.0.1:{port}"]\n'
    )
    return path


class Sender:
    """The AA's application. What was not acknowledged may be counted or not; it sends none twice."""

    def __init__(self, address: str, pause_s: float = 0.0) -> None:
        self.address, self.sent, self.acknowledged = address, 0, 0
        self._pause_s = pause_s
        self._more = asyncio.Event()

    async def acknowledges(self) -> None:
        """Wait for the next acknowledged calls."""
        self._more.clear()
        await self._more.wait()

    async def send_until(self, stop: asyncio.Event) -> None:
        async with httpx2.AsyncClient(verify=NO_TLS) as http:
            while not stop.is_set():
                events = []
                for _ in range(5):
                    key = f"k-{self.sent}"
                    self.sent += 1
                    common = {
                        "route": "/Accounts/discover",
                        "peerId": "FIP-1",
                        "peerType": "FIP",
                        "txnCorId": key,
                    }
                    events += [
                        common | {"callType": "requestOut"},
                        common | {"callType": "responseIn", "httpStatus": 200},
                    ]
                try:
                    answer = await http.post(f"{self.address}/sna/v1/aa", json=events)
                except httpx2.TransportError:
                    await asyncio.wait([asyncio.create_task(stop.wait())], timeout=0.05)
                    continue
                assert answer.headers.get("x-mudra-durable") != "no"
                self.acknowledged += 5
                self._more.set()
                await asyncio.sleep(self._pause_s)


class AgentProcess:
    """A running agent; what tests use of `asyncio.subprocess.Process`."""

    def __init__(self, program: ForkedProgram | subprocess.Popen[bytes]) -> None:
        self._program = program
        self.pid = program.pid

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless it has ended."""
        self._program.send_signal(number)

    async def wait(self) -> int:
        """Wait for its end; gives the exit code, negative for a signal."""
        return await asyncio.to_thread(self._program.wait)


async def started(
    config: Path,
    clock_anchor: float,
    address: str,
    speed: float = SPEED,
    start: int = START,
    *,
    forked: bool = True,
) -> AgentProcess:
    """Start the agent; returns once it answers.

    It is forked from a process that has its code, unless its memory is measured: that of the
    other process would count as its own.
    """
    words = [str(config), str(clock_anchor), str(speed), str(start)]
    program = _forked(words) if forked else _alone(words)
    async with httpx2.AsyncClient(verify=NO_TLS) as http, asyncio.timeout(PATIENCE_S):
        while program.poll() is None:
            try:
                await http.get(f"{address}/livez")
            except httpx2.TransportError:
                await asyncio.sleep(0.02)
            else:
                break
    assert program.poll() is None, "the agent ended at its start"
    return AgentProcess(program)


def _forked(words: list[str]) -> ForkedProgram:
    program = ForkedProgram(words, dict(os.environ), module=AGENT, output=STDERR)
    program.stdout.close()
    return program


def _alone(words: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", AGENT, *words])
