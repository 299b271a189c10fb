"""One agent, put together: the only file of this room that knows all its parts."""

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final

import httpx

from mudra.agent.clock import HOUR, Clock
from mudra.agent.counting.counter import Counter
from mudra.agent.counting.event import Event
from mudra.agent.counting.fi_session_tracker import FiSessionTracker
from mudra.agent.counting.payload import Reporter
from mudra.agent.counting.window import WINDOW, Windows
from mudra.agent.delivery.backoff import Uniform, due_at
from mudra.agent.delivery.credentials import Tokens, read_credentials
from mudra.agent.delivery.pusher import Pusher
from mudra.agent.host.config import Config
from mudra.agent.host.ingest_app import Health
from mudra.agent.sources.access_log import LineReader
from mudra.agent.sources.log_file import LogFile
from mudra.agent.sources.route import Peers, SourceContext
from mudra.agent.spool.event_recorder import EventRecorder
from mudra.agent.spool.spool import Spool

VERSION: Final = version("mudra")
QUIET: Final = 3 * WINDOW
"""Without a delivery for so long the agent is not ready."""
HTTP_SECONDS: Final = 35
NOT_YET: Final = 0

Warn = Callable[[str], None]


@dataclass(slots=True)
class FollowedLog:
    """A log file and the reader of its lines."""

    name: str
    file: LogFile
    reader: LineReader
    at_end: bool = False

    @property
    def readable(self) -> int | None:
        """How far it is read, as wall time; None when to its end, or when it is not there."""
        return None if self.at_end or self.file.error else self.reader.latest


@dataclass(slots=True)
class Agent:
    """All parts of a running agent."""

    config: Config
    clock: Clock
    context: SourceContext
    recorder: EventRecorder
    tokens: Tokens
    pusher: Pusher
    logs: list[FollowedLog] = field(default_factory=list)
    started: int = 0

    async def read_logs(self) -> bool:
        """Read on in every log file, a bounded piece each; True when there was something."""
        some = False
        for log in self.logs:
            found = await asyncio.to_thread(log.file.read)
            log.at_end = found is None or found.at_end
            if found is None or not (found.lines or self._moved(log, found.place.offset)):
                continue
            events: list[Event] = [*log.reader.calls(found.lines)]
            await self.recorder.record(events, {log.name: found.place})
            some = True
        return some

    async def tick(self) -> list[int]:
        """Close what is due, as far as the logs are read."""
        behind = [log.readable for log in self.logs]
        return await self.recorder.tick(min((at for at in behind if at is not None), default=None))

    async def push_once(self) -> bool:
        """Send what is to be sent now; False when there is nothing."""
        queued = await self.pusher.next()
        if queued is None:
            return False
        await self.pusher.send(queued)
        return True

    def health(self) -> Health:
        """Red when nothing was delivered for three windows, and why."""
        now = self.clock.wall()
        reasons: list[str] = []
        since = max(self.pusher.metrics.last_delivery or NOT_YET, self.started)
        if now - since > QUIET:
            minutes = (now - since) // 60_000
            reasons.append(f"nothing has been delivered for {minutes} minutes")
            heard = max(self.recorder.last_event or NOT_YET, self.started)
            if now - heard > WINDOW:
                reasons.append(
                    f"no event has come from the AA's systems for {(now - heard) // 60_000} minutes"
                )
            if self.pusher.metrics.last_fault:
                reasons.append(self.pusher.metrics.last_fault)
        if self.recorder.disk_fault:
            reasons.append(f"the spool cannot be written: {self.recorder.disk_fault}")
        return Health(not reasons, tuple(reasons))

    async def aclose(self) -> None:
        """Write what is counted and let go of everything."""
        await self.recorder.save()
        for log in self.logs:
            log.file.close()
        await self.pusher.http.aclose()
        self.recorder.close()

    def _moved(self, log: FollowedLog, offset: int) -> bool:
        known = self.recorder.positions.get(log.name)
        return known is None or known.offset != offset


def assemble(
    config: Config,
    clock: Clock,
    uniform: Uniform,
    warn: Warn,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Agent:
    """An agent that has taken up where its last run ended. Raises sqlite3.Error, OSError."""
    directory = Path(config.directory)
    spool = Spool(directory)
    if spool.salvaged.kept_at is not None:
        warn(
            f"the spool was damaged: {spool.salvaged.rows} rows were saved, the damaged file is "
            f"kept at {spool.salvaged.kept_at}; check the disk"
        )
    sessions = FiSessionTracker(config.sessions.keep_hours * HOUR, config.sessions.most)
    reporter = Reporter(config.aa_id, f"mudra-{VERSION}")
    recorder = EventRecorder(
        spool,
        Counter(Windows(), sessions),
        clock,
        reporter,
        partial(due_at, aa_id=config.aa_id),
        warn,
    )
    recorder.recover()
    http = httpx.AsyncClient(
        transport=transport, timeout=httpx.Timeout(HTTP_SECONDS, connect=10), follow_redirects=False
    )
    read = partial(read_credentials, config.credentials.id, config.credentials.secret)
    tokens = Tokens(http, config.operator.token_url, read, clock, uniform, warn)
    pusher = Pusher(
        recorder,
        tokens,
        http,
        config.operator.push_url,
        directory,
        clock,
        uniform,
        warn,
        partial(_note, recorder),
        config.spool.most_megabytes << 20,
    )
    pusher.metrics.last_delivery = _whole(spool.fact("last_delivery"))
    by_host = {host.lower(): fip for host, fip in config.fips.items()}
    context = SourceContext(clock, peers=Peers(by_host))
    logs = [
        FollowedLog(
            log.path,
            LogFile(
                Path(log.path),
                recorder.positions.get(log.path),
                warn,
                from_start=log.start == "beginning",
            ),
            LineReader(log.names, context, inbound=log.direction == "from-fips"),
        )
        for log in config.log
    ]
    return Agent(config, clock, context, recorder, tokens, pusher, logs, clock.wall())


def _note(recorder: EventRecorder) -> str:
    """What the operator should know beside the payloads; empty when there is nothing."""
    try:
        facts = recorder.spool.facts()
    except sqlite3.Error:
        facts = {}
    told = {
        "dropped-full": _whole(facts.get("dropped_full")),
        "dropped-damaged": _whole(facts.get("dropped_damaged")),
        "dropped-unwritten": recorder.dropped_unwritten,
        "late-events": recorder.counter.metrics.late,
        "clock-jumps": recorder.jumps,
    }
    return ", ".join(f"{name}={number}" for name, number in told.items() if number)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None
