"""A real agent process in fast time, and the AA's application that reports calls to it."""

import asyncio
import atexit
import contextlib
import os
import signal
import socket
import sys
from pathlib import Path

import httpx
from tests.support.agent.hostile_operator import PUSH
from tests.support.manual_clock import START

SPEED = 600
START_S = 120
"""A machine under load is slow."""
ROOT = Path(__file__).parents[3]


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
        async with httpx.AsyncClient(timeout=5) as http:
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
                except httpx.TransportError:
                    await asyncio.wait([asyncio.create_task(stop.wait())], timeout=0.05)
                    continue
                assert answer.headers.get("x-mudra-durable") != "no"
                self.acknowledged += 5
                self._more.set()
                await asyncio.sleep(self._pause_s)


async def started(
    config: Path, clock_anchor: float, address: str, speed: float = SPEED, start: int = START
) -> asyncio.subprocess.Process:
    """Start the agent; returns once it answers."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.support.agent.fast_agent",
        str(config),
        str(clock_anchor),
        str(speed),
        str(start),
        cwd=ROOT,
    )
    # Where a test fails before it ends its agent, the agent would run on for ever.
    atexit.register(_end, process.pid)
    async with httpx.AsyncClient() as http, asyncio.timeout(START_S):
        while True:
            try:
                await http.get(f"{address}/livez")
            except httpx.TransportError:
                await asyncio.sleep(0.02)
            else:
                return process


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        if os.waitpid(pid, os.WNOHANG) == (0, 0):  # ours still, so the number is no other's
            os.kill(pid, signal.SIGKILL)
