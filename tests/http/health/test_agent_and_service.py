"""Quality G10 with the real service: secrets of agents are rotated while they push."""

import asyncio
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psycopg
import pytest
from tests.support.agent.agent_process import SPEED, Sender, configured, free_port, started
from tests.support.members import Member, new_member
from tests.support.metrics.stored_blocks import stored_blocks
from tests.support.process import running_service
from tests.support.service import Service
from tests.support.until import PATIENCE_S

from mudra.storage.database.embedded.server import embedded_server

BEHIND_MS = 24 * 3_600_000
"""The agents' time runs faster: from a day ago it does not come to windows of the future."""
PAUSE_S = 0.3


@dataclass
class Aa:
    """An AA with its agent, and where the agent has its secret from."""

    member: Member
    home: Path
    sender: Sender
    config: Path

    @property
    def secret(self) -> Path:
        return self.home / "secret"

    def bring(self, secret: str) -> None:
        """What the AA's people do with a new secret: no restart, nothing done at the agent."""
        fresh = self.home / "fresh"
        fresh.write_text(secret)
        fresh.replace(self.secret)

    async def status(self, http: httpx2.AsyncClient) -> dict[str, object]:
        status: dict[str, object] = (await http.get(f"{self.sender.address}/status")).json()
        return status

    async def until(
        self, http: httpx2.AsyncClient, holds: Callable[[dict[str, object]], bool]
    ) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                if holds(await self.status(http)):
                    return
                await asyncio.sleep(0.2)

    async def goes_on(self, http: httpx2.AsyncClient) -> None:
        """Until two more windows are delivered, both payloads of each."""
        before = number((await self.status(http))["delivered"])
        await self.until(http, lambda status: number(status["delivered"]) >= before + 4)


def number(value: object) -> int:
    assert isinstance(value, int)
    return value


async def end(aa: Aa, http: httpx2.AsyncClient) -> None:
    """Until every window is closed and delivered."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            metrics = (await http.get(f"{aa.sender.address}/metrics")).text
            status = await aa.status(http)
            if "mudra_agent_open_windows 0.0" in metrics and not status["backlogPayloads"]:
                break
            await asyncio.sleep(0.2)
    assert status["deadLetters"] == 0


def prepared(service: Service, directory: Path) -> dict[str, Aa]:
    """An AA for each place where a secret can come from."""
    aas = {}
    for kind, source in {
        "file": "",
        "command": 'secret.command = ["cat", "{home}/secret"]',
        "env": 'secret.env = "SECRET_OF_THE_TEST"',
    }.items():
        member, port, home = new_member(service, "AA"), free_port(), directory / kind
        home.mkdir()
        config = configured(
            home, service.root, port, member.entity_id, member.secret(), source.format(home=home)
        )
        sender = Sender(f"http://127.0.0.1:{port}", PAUSE_S)
        aas[kind] = Aa(member, home, sender, config)
    return aas


async def rotate(service: Service, aas: dict[str, Aa], http: httpx2.AsyncClient) -> None:
    """Rotate the secrets that come from a file or a command, as people do, in their grace."""
    everybody, rotated = aas.values(), [aas["file"], aas["command"]]
    await asyncio.gather(*(aa.goes_on(http) for aa in everybody))
    assert not any([(await aa.status(http)).get("warning") for aa in everybody])
    fresh = [aa.member.reset(oldSecretValidity=3).json()["secret"] for aa in rotated]

    service.advance("PT25H")  # every token has ended; the old secret is in its grace
    for aa in rotated:
        await aa.until(http, lambda status: bool(status.get("warning")))
    await asyncio.gather(*(aa.goes_on(http) for aa in rotated))
    for aa, secret in zip(rotated, fresh, strict=True):
        aa.bring(secret)
    service.advance("PT25H")
    for aa in rotated:
        await aa.until(http, lambda status: not status.get("warning"))
    service.advance("P2D")  # the grace is over
    await asyncio.gather(*(aa.goes_on(http) for aa in everybody))


@pytest.mark.slow
def test_a_rotation_under_way_loses_no_window_wherever_the_secret_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(service: Service, aas: dict[str, Aa]) -> None:
        anchor, stop = time.time(), asyncio.Event()
        begin = time.time_ns() // 1_000_000 - BEHIND_MS
        agents = await asyncio.gather(
            *(started(aa.config, anchor, aa.sender.address, SPEED, begin) for aa in aas.values())
        )
        sending = [asyncio.create_task(aa.sender.send_until(stop)) for aa in aas.values()]
        async with httpx2.AsyncClient() as http:
            await rotate(service, aas, http)
            stop.set()
            await asyncio.gather(*sending)
            await asyncio.gather(*(end(aa, http) for aa in aas.values()))
        for agent in agents:
            agent.send_signal(signal.SIGTERM)
            assert await agent.wait() == 0

    with running_service(tmp_path / "data") as service:
        aas = prepared(service, tmp_path)
        monkeypatch.setenv("SECRET_OF_THE_TEST", aas["env"].secret.read_text())
        aas["env"].secret.unlink()
        asyncio.run(story(service, aas))
        with embedded_server(tmp_path / "data") as conninfo, psycopg.connect(conninfo) as db:
            for aa in aas.values():
                counted_once(db, aa)


def counted_once(db: psycopg.Connection[tuple[int]], aa: Aa) -> None:
    """Each call acknowledged to the AA's application is counted once; each window with calls has both tags."""
    stored = [*stored_blocks(db, [aa.member.entity_id])]
    assert aa.sender.acknowledged == sum(one.calls for one in stored) == aa.sender.sent
    tags = db.execute(
        "SELECT count(DISTINCT tag) FROM metrics_receipt WHERE aa_id = %s AND window_at = ANY(%s)"
        " GROUP BY window_at",
        [aa.member.entity_id, sorted({one.at for one in stored})],
    ).fetchall()
    assert len(tags) >= 6
    assert set(tags) == {(2,)}
