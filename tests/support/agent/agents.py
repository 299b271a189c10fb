"""Builders for agents in moved time, and the loop that drives them without queued."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import msgspec
from tests.support.agent.hostile_operator import PUSH, HostileOperator
from tests.support.manual_clock import SECOND, WINDOW, MovedClock
from tests.support.until import PATIENCE_S

from mudra.agent.counting.event import Call, Event
from mudra.agent.host.assembly import Agent, assemble
from mudra.agent.host.config import Config
from mudra.agent.host.intake_guard import IntakeGuard
from mudra.agent.host.run import ingest_app
from mudra.agent.spool.event_recorder import EventRecorder
from mudra.metrics.payload.catalogue import Tag


def config(directory: Path, **changes: object) -> Config:
    secret = directory / "secret"
    if not secret.exists():
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        secret.write_text("s3cret\n")
        secret.chmod(0o600)
    values: dict[str, object] = {
        "aa_id": "AA-1",
        "directory": str(directory / "spool"),
        "operator": {
            "token_url": "http://operator.test/iam",
            "push_url": f"http://operator.test{PUSH}",
        },
        "credentials": {"id": {"value": "AA-1"}, "secret": {"file": str(secret)}},
        "fips": {"fip-1.test": "FIP-1", "fip-2.test": "FIP-2"},
    }
    return msgspec.convert({**values, **changes}, Config)


def agent(
    directory: Path, clock: MovedClock, operator: HostileOperator, **changes: object
) -> Agent:
    operator.now = clock.datetime
    operator.pass_time = clock.pass_time
    return assemble(
        config(directory, **changes),
        clock,
        operator.random.uniform,
        lambda _: None,
        operator.transport,
    )


def call(
    clock: MovedClock,
    code: str = "adisc",
    fip: str = "FIP-1",
    took: int = 100,
    status: int = 200,
    **more: object,
) -> Call:
    inbound = bool(more.pop("inbound", False))
    return Call(inbound, fip, code, clock.now, clock.mono, took, status, **more)  # type: ignore[arg-type]


async def record(recorder: EventRecorder, *events: Event) -> bool:
    """Count these and bring them to the disk, as the running agent does."""
    taking = asyncio.ensure_future(recorder.record(events))
    await asyncio.sleep(0)
    await recorder.write_batch()
    return await taking


@contextlib.asynccontextmanager
async def writing(recorder: EventRecorder) -> AsyncIterator[None]:
    """Write the journal meanwhile, as the running agent does."""

    async def write() -> None:
        while True:
            await recorder.write_next()

    task = asyncio.create_task(write())
    try:
        async with asyncio.timeout(PATIENCE_S):
            yield
        assert not task.done(), "the writer ended"
    finally:
        task.cancel()


@contextlib.asynccontextmanager
async def asking(agent: Agent) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the agent's HTTP server, while its journal is written."""
    transport = httpx2.ASGITransport(ingest_app(agent, IntakeGuard()))  # type: ignore[arg-type]
    async with (
        writing(agent.recorder),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http,
    ):
        yield http


async def windows(agent: Agent, clock: MovedClock, number: int) -> None:
    """Let windows with one call and one notification each go by, without pushing."""
    for _ in range(number):
        await record(agent.recorder, call(clock), call(clock, "alnot", inbound=True))
        clock.pass_time(WINDOW)
        await agent.tick()
    clock.pass_time(31 * SECOND)
    await agent.tick()


async def push_for(agent: Agent, clock: MovedClock, seconds: int) -> None:
    """Push as the running agent does, for some seconds."""
    for _ in range(2 * seconds):
        await agent.push_once()
        clock.pass_time(SECOND // 2)


async def drain(agent: Agent, clock: MovedClock, *, at_most: int, step: int = 500) -> int:
    """Push until nothing waits; gives the moved milliseconds that it took."""
    began = clock.mono
    for _ in range(at_most):
        await agent.push_once()
        if not agent.recorder.spool.queued():
            return clock.mono - began
        clock.pass_time(step)
    raise AssertionError(f"{len(agent.recorder.spool.queued())} payloads still wait")


def counts(agent: Agent) -> dict[str, list[int]]:
    """Calls and 200s of each window of requests that waits for delivery."""
    found = {}
    for queued in agent.recorder.spool.queued():
        payload = msgspec.json.decode(agent.recorder.spool.body(queued) or b"")
        if queued.tag == Tag.REQUESTS:
            blocks = [block for fip in payload["fips"] for block in fip["metrics"]]
            found[payload["fromDateTime"][11:16]] = blocks[0]["counts"][:2] if blocks else [0, 0]
    return found
