"""Quality F2, M2, G1: the power goes, and what was acknowledged is on the disk.

The disk is a file system of our own that loses what was not synced; a part of it survives by
chance, in any order.
"""

import asyncio
import contextlib
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psycopg
import pytest
from tests.faults.killed_agent import calls_stored
from tests.faults.power.disk import NEEDS_FUSE, PowerlessDisk
from tests.faults.test_metrics_kills import Pusher, assert_stored_once
from tests.support.agent.agent_process import SPEED, Sender, configured, free_port, started
from tests.support.agent.fast_agent import FastClock
from tests.support.agent.hostile_operator import HostileOperator, listening
from tests.support.database.template_database import prepare
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.process import running_service

from mudra.storage.database.embedded.cluster import CLUSTER
from mudra.storage.database.embedded.server import embedded_server

MANY = int(os.environ.get("MUDRA_POWER_LOSSES", "8"))
LOSSES = pytest.mark.parametrize("losses", [1, pytest.param(MANY, marks=pytest.mark.slow)])
pytestmark = NEEDS_FUSE


@contextlib.contextmanager
def disk(directory: Path) -> Iterator[PowerlessDisk]:
    seed = int(os.environ.get("MUDRA_SEED", random.randrange(10_000)))
    print(f"MUDRA_SEED={seed}")
    made = PowerlessDisk(directory / "power", seed)
    try:
        yield made
    finally:
        made.end()


@LOSSES
def test_an_agent_loses_no_acknowledged_call_with_the_power(tmp_path: Path, losses: int) -> None:
    with disk(tmp_path) as volatile:
        asyncio.run(_agent_story(volatile, losses))


async def _agent_story(volatile: PowerlessDisk, losses: int) -> None:
    anchor, operator = time.time(), HostileOperator(3, rate=0.1)
    operator.now = FastClock(anchor, SPEED).datetime
    async with listening(operator) as url:
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        config = configured(volatile.mount, url, port)
        os.sync()
        for name in ("secret", config.name):
            with (volatile.mount / name).open("rb") as file:
                os.fsync(file.fileno())
        sender, stop = Sender(address), asyncio.Event()
        process = await started(config, anchor, address)
        sending = asyncio.create_task(sender.send_until(stop))
        for _ in range(losses):
            await asyncio.sleep(random.uniform(0.3, 1.5))
            # Without power no program runs either: none may say that its disk failed.
            process.send_signal(signal.SIGSTOP)
            volatile.lose_power()
            process.send_signal(signal.SIGKILL)
            await process.wait()
            volatile.start_again()
            process = await started(config, anchor, address)
        stop.set()
        await sending
        status = await _delivered(address)
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
    counted = calls_stored(operator)
    summary = f"{losses} losses, sent={sender.sent} acknowledged={sender.acknowledged} counted={counted} {status}"
    print(summary)
    assert sender.acknowledged <= counted <= sender.sent, summary
    assert not operator.replaced, summary
    assert not operator.refused, summary
    assert sender.acknowledged > 10 * losses, summary


async def _delivered(address: str) -> str:
    async with httpx2.AsyncClient() as http, asyncio.timeout(60):
        while True:
            # In this order: a window that closes between the two is in the backlog then.
            metrics = (await http.get(f"{address}/metrics")).text
            status = (await http.get(f"{address}/status")).json()
            if not status["backlogPayloads"] and "mudra_agent_open_windows 0.0" in metrics:
                return str(status["deadLetters"])
            await asyncio.sleep(0.2)


@pytest.mark.slow
def test_the_service_keeps_what_it_acknowledged_when_the_power_goes(tmp_path: Path) -> None:
    with disk(tmp_path) as volatile:
        _service_story(volatile, MANY)


def _service_story(volatile: PowerlessDisk, losses: int) -> None:
    data_dir = volatile.mount / "data"
    for path in (
        volatile.folder / "files",
        volatile.mount,
        volatile.folder,
        volatile.folder.parent,
    ):
        path.chmod(0o755)
    volatile.end()
    prepare(volatile.folder / "files" / "data")
    _trust_the_disk(volatile.folder / "files" / "data")
    volatile.start_again()
    port, pushers = 0, []
    for _ in range(losses):
        with running_service(data_dir, port=port) as service:
            port = int(service.root.rpartition(":")[2])
            if not pushers:
                pushers = [Pusher(pushing_aa(service)) for _ in range(2)]
                for pusher in pushers:
                    del pusher.payloads[8 + 8 * losses :]
                    pusher.start()
            time.sleep(random.uniform(1, 3))
            cluster = _processes_of(data_dir)
            volatile.lose_power()
            service.process.kill()
            service.process.wait()
            for pid in cluster:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        volatile.start_again()
    with running_service(data_dir, port=port):
        for pusher in pushers:
            pusher.join(90)
            assert not pusher.is_alive()
    with embedded_server(data_dir) as conninfo, psycopg.connect(conninfo) as connection:
        for pusher in pushers:
            assert len(pusher.acknowledged) == len(pusher.payloads)
            assert_stored_once(connection, pusher)


def _trust_the_disk(data_dir: Path) -> None:
    """Undo what the tests' database leaves out: see template_database.py."""
    settings = data_dir / CLUSTER / "postgresql.auto.conf"
    kept = [
        line
        for line in settings.read_text().splitlines()
        if not line.startswith(("fsync", "full_page_writes"))
    ]
    settings.write_text("\n".join([*kept, ""]))


def _processes_of(data_dir: Path) -> list[int]:
    """PostgreSQL's own: the postmaster and its children."""
    (pid_file,) = data_dir.rglob("postmaster.pid")
    postmaster = int(pid_file.read_text().splitlines()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return [postmaster, *(int(child) for child in children)]
