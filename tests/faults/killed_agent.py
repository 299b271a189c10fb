"""A real agent in fast time that is killed again and again, and what its operator has in the end."""

import asyncio
import random
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import httpx2
from tests.support.agent.agent_process import SPEED, Sender, configured, free_port, started
from tests.support.agent.fast_agent import FastClock
from tests.support.agent.hostile_operator import HostileOperator, listening
from tests.support.until import PATIENCE_S


@dataclass(frozen=True)
class KilledAgent:
    """Calls that the AA's application sent, that were acknowledged, and that reached the operator."""

    kills: int
    sent: int
    acknowledged: int
    counted: int
    dead_letters: int
    operator: HostileOperator

    @property
    def lost(self) -> int:
        """Acknowledged calls that the operator does not have."""
        return max(0, self.acknowledged - self.counted)

    @property
    def doubled(self) -> int:
        """Calls that the operator has more often than they were sent."""
        return max(0, self.counted - self.sent)

    def describe(self) -> str:
        """All figures, for one who looks into a failure."""
        return (
            f"{self.kills} kills {self.operator.describe()} sent={self.sent}"
            f" acknowledged={self.acknowledged} counted={self.counted}"
        )


async def kill_again_and_again(
    directory: Path,
    kills: int,
    seed: int,
    enough: threading.Event | None = None,
    delivered_s: float = PATIENCE_S,
) -> KilledAgent:
    """Kill an agent so many times while calls are reported to it, and let it deliver in the end.

    With `enough` it is killed as soon as it has acknowledged something since the last kill, until
    that is set.
    """
    chance, operator = random.Random(seed), HostileOperator(seed, rate=0.1)
    anchor = time.time()
    operator.now = FastClock(anchor, SPEED).datetime
    async with listening(operator) as url:
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        config = configured(directory, url, port)
        sender, stop = Sender(address, pause_s=0.02 if enough else 0.0), asyncio.Event()
        process = await started(config, anchor, address)
        sending = asyncio.create_task(sender.send_until(stop))
        done = 0
        while done < kills and not (enough and enough.is_set()):
            if enough:
                await asyncio.wait_for(sender.acknowledges(), PATIENCE_S)
            await asyncio.sleep(chance.uniform(0.02, 0.2 if enough else 0.8))
            done += 1
            process.send_signal(signal.SIGKILL)
            await process.wait()
            process = await started(config, anchor, address)
        stop.set()
        await sending
        dead_letters = await _delivered(address, delivered_s)
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
    acknowledged, counted = sender.acknowledged, calls_stored(operator)
    return KilledAgent(done, sender.sent, acknowledged, counted, dead_letters, operator)


def calls_stored(operator: HostileOperator) -> int:
    """The calls in all request metrics that the operator has stored."""
    return sum(
        block.counts[0]
        for (tag, _), checked in operator.stored.items()
        for fip in checked.report.fips
        for block in fip.metrics
        if tag.startswith("req")
    )


async def _delivered(address: str, within_s: float) -> int:
    """Wait until nothing is left to deliver; gives the number of dead letters."""
    async with httpx2.AsyncClient(timeout=within_s) as http, asyncio.timeout(within_s):
        while True:
            # In this order: a window that closes between the two is in the backlog then.
            metrics = (await http.get(f"{address}/metrics")).text
            status = (await http.get(f"{address}/status")).json()
            if not status["backlogPayloads"] and "mudra_agent_open_windows 0.0" in metrics:
                return int(status["deadLetters"])
            await asyncio.sleep(0.2)
