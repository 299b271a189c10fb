"""Quality G6: kill -9 at any moment of a real agent loses no closed window and doubles none."""

import asyncio
import os
import random
import signal
import time
from pathlib import Path

import httpx
from tests.support.agent.agent_process import SPEED, Sender, configured, free_port, started
from tests.support.agent.fast_agent import FastClock
from tests.support.agent.hostile_operator import HostileOperator, listening

KILLS = int(os.environ.get("MUDRA_AGENT_KILLS", "7"))
TOGETHER = 50
"""Of one agent: in its fast time seven days, after which a payload may be dropped, pass soon."""


def test_kill_9_at_any_moment_loses_no_acknowledged_call_and_doubles_none(tmp_path: Path) -> None:
    """G6: set MUDRA_AGENT_KILLS for more. 1,025 kills by 2026-11-22: none lost, none doubled."""
    for done in range(0, KILLS, TOGETHER):
        directory = tmp_path / str(done)
        directory.mkdir()
        kill_again_and_again(directory, min(TOGETHER, KILLS - done))


def kill_again_and_again(directory: Path, kills: int) -> None:
    """Kill an agent so many times; what it reported in the end must be what was acknowledged."""

    async def story() -> None:
        seed = int(os.environ.get("MUDRA_SEED", random.randrange(10_000)))
        chance, operator = random.Random(seed), HostileOperator(seed, rate=0.1)
        anchor = time.time()
        operator.now = FastClock(anchor, SPEED).datetime
        async with listening(operator) as url:
            port = free_port()
            address = f"http://127.0.0.1:{port}"
            config = configured(directory, url, port)
            sender, stop = Sender(address), asyncio.Event()
            process = await started(config, anchor, address)
            sending = asyncio.create_task(sender.send_until(stop))
            for _ in range(kills):
                await asyncio.sleep(chance.uniform(0.02, 0.8))
                process.send_signal(signal.SIGKILL)
                await process.wait()
                process = await started(config, anchor, address)
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
        summary = f"{kills} kills {operator.describe()} sent={sender.sent} acknowledged={sender.acknowledged} counted={counted}"
        print(summary)
        assert sender.acknowledged <= counted <= sender.sent, summary
        assert not operator.replaced, summary
        assert not operator.refused, summary
        assert status["deadLetters"] == 0, summary
        assert sender.acknowledged > 10 * kills, summary

    asyncio.run(story())
