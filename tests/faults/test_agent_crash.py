"""Quality G6: kill -9 at any moment of a real agent loses no closed window and doubles none."""

import asyncio
import os
import random
import signal
import socket
import sys
import time
from pathlib import Path

import httpx
from tests.support.fast_agent import FastClock
from tests.support.hostile_operator import PUSH, HostileOperator, listening

KILLS = int(os.environ.get("MUDRA_AGENT_KILLS", "20"))
SPEED = 600
ROOT = Path(__file__).parents[2]


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _configured(directory: Path, operator: str, port: int) -> Path:
    (directory / "secret").write_text("s3cret")
    path = directory / "agent.toml"
    path.write_text(
        f'aa_id = "AA-1"\ndirectory = "{directory}/spool"\n'
        f'[operator]\ntoken_url = "{operator}/iam"\npush_url = "{operator}{PUSH}"\n'
        f'[credentials]\nid.value = "AA-1"\nsecret.file = "{directory}/secret"\n'
        f'[http]\nlisten = ["127.0.0.1:{port}"]\n'
    )
    return path


class Sender:
    """The AA's application. What was not acknowledged may be counted or not; it sends none twice."""

    def __init__(self, address: str) -> None:
        self.address, self.sent, self.acknowledged = address, 0, 0

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


async def _started(config: Path, clock_anchor: float, address: str) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.support.fast_agent",
        str(config),
        str(clock_anchor),
        str(SPEED),
        cwd=ROOT,
    )
    async with httpx.AsyncClient() as http, asyncio.timeout(30):
        while True:
            try:
                await http.get(f"{address}/livez")
            except httpx.TransportError:
                await asyncio.sleep(0.02)
            else:
                return process


def test_kill_9_at_any_moment_loses_no_acknowledged_call_and_doubles_none(tmp_path: Path) -> None:
    async def story() -> None:
        seed = int(os.environ.get("MUDRA_SEED", random.randrange(10_000)))
        chance, operator = random.Random(seed), HostileOperator(seed, rate=0.1)
        anchor = time.time()
        operator.now = FastClock(anchor, SPEED).datetime
        async with listening(operator) as url:
            port = _free_port()
            address = f"http://127.0.0.1:{port}"
            config = _configured(tmp_path, url, port)
            sender, stop = Sender(address), asyncio.Event()
            process = await _started(config, anchor, address)
            sending = asyncio.create_task(sender.send_until(stop))
            for _ in range(KILLS):
                await asyncio.sleep(chance.uniform(0.02, 0.8))
                process.send_signal(signal.SIGKILL)
                await process.wait()
                process = await _started(config, anchor, address)
            stop.set()
            await sending
            async with httpx.AsyncClient() as http, asyncio.timeout(60):
                while True:
                    status = (await http.get(f"{address}/status")).json()
                    metrics = (await http.get(f"{address}/metrics")).text
                    if not status["backlogPayloads"] and "mudra_agent_open_windows 0.0" in metrics:
                        break
                    await asyncio.sleep(0.2)
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0

        counted = sum(
            block.counts[0]
            for (tag, _), checked in operator.stored.items()
            for fip in checked.report.fips
            for block in fip.metrics
            if tag.startswith("req")
        )
        told = f"{operator.describe()} sent={sender.sent} acknowledged={sender.acknowledged} counted={counted}"
        print(told)
        assert sender.acknowledged <= counted <= sender.sent, told
        assert not operator.replaced, told
        assert not operator.refused, told
        assert status["deadLetters"] == 0, told
        assert sender.acknowledged > 10 * KILLS, told

    asyncio.run(story())
