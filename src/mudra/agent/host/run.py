"""Runs an agent until it is stopped: listeners, logs, windows, delivery.

Each part runs in a loop of its own; a error in one is logged and that loop goes
on, so that nothing but the end of the process stops the counting.
"""

import asyncio
import contextlib
import json
import logging
import random
import signal
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

import msgspec
import uvloop

from mudra.agent.clock import MachineClock
from mudra.agent.counting.payload import format_time
from mudra.agent.delivery.credentials import read_source
from mudra.agent.delivery.registered_credentials import RegisteredTokens
from mudra.agent.host.assembly import Agent, assemble
from mudra.agent.host.config import Config
from mudra.agent.host.entity_requests import EntityRequests
from mudra.agent.host.ingest_app import IngestApp
from mudra.agent.host.intake_guard import IntakeGuard
from mudra.agent.host.listener import STOP_SECONDS, listener, unix_socket
from mudra.agent.host.metrics import exposition
from mudra.agent.host.status import status_of
from mudra.agent.spool.payload_files import QueuedPayload
from mudra.client import SecretUnreadable
from mudra.shared.build_version import version
from mudra.shared.garbage import set_aside_what_is_loaded

TICK_SECONDS: Final = 1.0
LOG_SECONDS: Final = 0.25
PUSH_SECONDS: Final = 0.25

_LOG: Final = logging.getLogger("mudra.agent")


def run(config: Config) -> int:
    """Run until SIGTERM or SIGINT; return the exit code."""
    log_as_json()
    clock = MachineClock()
    uniform = random.SystemRandom().uniform
    try:
        token = intake_token(config)
        agent = assemble(config, clock, uniform, _LOG.warning)
    except SecretUnreadable as error:
        _LOG.error("%s", error)
        return 1
    except (sqlite3.Error, OSError) as error:
        _LOG.error(
            "the spool in %s cannot be opened: %s; run mudra agent check", config.directory, error
        )
        return 1
    with asyncio.Runner(loop_factory=_loop) as runner:
        return runner.run(run_agent(agent, token=token))


def intake_token(config: Config) -> bytes:
    """Return what programs must send with events, empty for none. Raises SecretUnreadable."""
    source = config.http.token
    return read_source("http.token", source).encode() if source.chosen else b""


async def run_agent(agent: Agent, stop: asyncio.Event | None = None, token: bytes = b"") -> int:
    """Run an assembled agent until `stop` or a signal; return the exit code."""
    stop = stop or asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    guard = IntakeGuard(agent.config.http.names, token)
    app = ingest_app(agent, guard)
    servers = [(listener(app, at, agent.clock), at) for at in agent.config.http.listen]
    tasks = [
        asyncio.create_task(_forever(agent.recorder.write_next, 0)),
        asyncio.create_task(_forever(agent.tick, TICK_SECONDS)),
        asyncio.create_task(_forever(_logs(agent), LOG_SECONDS)),
        asyncio.create_task(_push(agent)),
        *(asyncio.create_task(server.serve(unix_socket(at))) for server, at in servers),
    ]
    set_aside_what_is_loaded()
    _LOG.info("the agent of %s runs, version %s", agent.config.aa_id, version())
    stopping = asyncio.create_task(stop.wait())
    done, _ = await asyncio.wait([stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
    failed = [task for task in done if task is not stopping]
    for server, _ in servers:
        server.should_exit = True
    await asyncio.wait(tasks[4:], timeout=STOP_SECONDS)
    for task in (*tasks, stopping):
        task.cancel()
    await asyncio.gather(*tasks, stopping, return_exceptions=True)
    await agent.aclose()
    for task in failed:
        error = None if task.cancelled() else task.exception()
        _LOG.error("a part of the agent ended: %s; is an address of http.listen in use?", error)
    return 1 if failed else 0


def _logs(agent: Agent) -> Callable[[], Awaitable[None]]:
    async def read() -> None:
        more = True
        while more:
            more = await agent.read_logs()

    return read


async def _forever(action: Callable[[], Awaitable[object]], seconds: float) -> None:
    while True:
        with _log_errors():
            await action()
        await asyncio.sleep(seconds)


async def _push(agent: Agent) -> None:
    sending: set[asyncio.Task[None]] = set()
    while True:
        with _log_errors():
            queued = await agent.pusher.next()
            if queued is not None:
                task = asyncio.create_task(_send(agent, queued))
                sending.add(task)
                task.add_done_callback(sending.discard)
        await asyncio.sleep(PUSH_SECONDS)


async def _send(agent: Agent, queued: QueuedPayload) -> None:
    with _log_errors():
        await agent.pusher.send(queued)


@contextlib.contextmanager
def _log_errors() -> Iterator[None]:
    """Log any exception with its traceback, and go on."""
    try:
        yield
    except Exception:  # noqa: BLE001 - the last line of defence of an unattended loop
        _LOG.exception("unexpected; the agent goes on")


def ingest_app(agent: Agent, guard: IntakeGuard) -> IngestApp:
    """Build what an agent serves."""
    spool, recorder = agent.recorder.spool, agent.recorder

    async def status() -> bytes:
        facts = await recorder.on_disk(spool.facts)
        return msgspec.json.encode(status_of(agent, facts, spool.backlog()))

    return IngestApp(
        agent.context,
        recorder.record,
        version(),
        agent.health,
        status,
        exposition(agent),
        acknowledge_at_once=agent.config.http.acknowledge == "at-once",
        guard=guard,
        entity=_entity_requests(agent),
    )


def _entity_requests(agent: Agent) -> EntityRequests | None:
    if not isinstance(agent.tokens, RegisteredTokens):
        return None
    return EntityRequests(agent.config.aa_id, agent.tokens, agent.clock, agent.pusher.resume)


class JsonLines(logging.Formatter):
    """One event, one line, parsable; control characters escaped by JSON itself."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields = {
            "time": format_time(int(record.created * 1000)),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        if record.exc_info:
            fields["trace"] = self.formatException(record.exc_info)
        return json.dumps(fields)


def log_as_json() -> None:
    """Log to standard error, as systemd and containers want it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)


def _loop() -> asyncio.AbstractEventLoop:
    return uvloop.new_event_loop()
