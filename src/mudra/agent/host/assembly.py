"""Builds one agent: the only file that knows all its parts."""

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import httpx2

from mudra.agent.clock import HOUR, MINUTE, Clock
from mudra.agent.counting.counter import Counter
from mudra.agent.counting.event import Event, LogPosition
from mudra.agent.counting.fi_session_tracker import FiSessionTracker
from mudra.agent.counting.payload import Reporter
from mudra.agent.counting.window import WINDOW, Windows
from mudra.agent.delivery.backoff import Uniform
from mudra.agent.delivery.credentials import Tokens, read_source, token_source
from mudra.agent.delivery.dpop_key_file import dpop_key
from mudra.agent.delivery.pusher import Pusher
from mudra.agent.delivery.registered_credentials import RegisteredCredentials, RegisteredTokens
from mudra.agent.host.config import Config, LogSettings
from mudra.agent.host.ingest_app import Health
from mudra.agent.sources.left_out import Reason, SourceMetrics
from mudra.agent.sources.logs.access_log import LineReader
from mudra.agent.sources.logs.log_file import Lines, LogFile
from mudra.agent.sources.route import Peers, SourceContext
from mudra.agent.spool.event_recorder import EventRecorder
from mudra.agent.spool.spool import Fact, Spool
from mudra.metrics.payload.catalogue import Tag
from mudra.shared.build_version import version

MAX_SILENCE: Final = 3 * WINDOW
"""Without a delivery for longer than this the agent is not ready."""
HTTP_SECONDS: Final = 35

Warn = Callable[[str], None]


@dataclass(slots=True)
class FollowedLog:
    """A log file and the reader of its lines."""

    name: str
    tag: Tag
    """The payload that its calls are in."""
    file: LogFile
    reader: LineReader
    context: SourceContext
    """Its reader's own: it reads off the event loop."""
    at_end: bool = False
    read_to: int = 0
    """Wall time up to which it is read."""
    position: LogPosition | None = None
    noted_gaps: int = 0
    noted_too_long: int = 0

    @property
    def readable(self) -> int | None:
        """Wall time up to which it is read; None when it is read to its end, or is missing."""
        return None if self.at_end or self.file.error else self.read_to

    def next_calls(self) -> tuple[Lines, list[Event]] | None:
        """Read the next lines and return their calls; None when there is nothing to record."""
        was_leaving, known = self.file.is_leaving, self.position
        found = self.file.read()
        self.at_end = found is None or found.at_end
        if found is None:
            return None
        calls = self.reader.calls(found.lines)
        if was_leaving or self.file.is_leaving:
            # The next file has lines of the same time as the last ones of a rotated file.
            self.reader.latest = self.read_to
        self.read_to = self.reader.latest
        self.position = found.position
        is_same = known is not None and known.offset == found.position.offset
        return None if not found.lines and is_same else (found, [*calls])

    def taken_metrics(self) -> SourceMetrics:
        """Return what was left out since the last call."""
        taken, self.context.metrics = self.context.metrics, SourceMetrics()
        gaps, too_long = self.file.gaps - self.noted_gaps, self.file.too_long - self.noted_too_long
        self.noted_gaps, self.noted_too_long = self.file.gaps, self.file.too_long
        for number, reason in ((gaps, Reason.LOG_GAP), (too_long, Reason.TOO_LONG)):
            for _ in range(number):
                taken.leave_out(reason, self.name)
        return taken


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
    """Monotonic time, as all of `health`: the clock may be set meanwhile."""

    async def read_logs(self) -> bool:
        """Read the next piece of every log file; return whether there was something to read."""
        found_some = False
        for log in self.logs:
            found = await asyncio.to_thread(log.next_calls)
            self.context.metrics.add(log.taken_metrics())
            if found is not None:
                lines, events = found
                await self.recorder.record(events, {log.name: lines.position})
                found_some = True
        return found_some

    async def tick(self) -> list[int]:
        """Close due windows, as far as the logs are read; return those that closed."""
        behind = [log.readable for log in self.logs]
        readable = min((at for at in behind if at is not None), default=None)
        unreadable = {log.tag for log in self.logs if log.file.error}
        return await self.recorder.tick(readable, unreadable)

    async def push_once(self) -> bool:
        """Send the next payload; return False when none is due."""
        queued = await self.pusher.next()
        if queued is None:
            return False
        await self.pusher.send(queued)
        return True

    def health(self) -> Health:
        """Return whether the agent works; it does not after three windows without a delivery."""
        undelivered = self._passed_since(self.pusher.metrics.delivered_at)
        reasons: list[str] = []
        if undelivered > MAX_SILENCE:
            reasons.append(f"nothing has been delivered for {undelivered // MINUTE} minutes")
            without_event = self._passed_since(self.recorder.event_at)
            if without_event > WINDOW:
                minutes = without_event // MINUTE
                reasons.append(f"no event has come from the AA's systems for {minutes} minutes")
            if self.pusher.metrics.last_error:
                reasons.append(self.pusher.metrics.last_error)
        if self.recorder.disk_error:
            reasons.append(f"the spool cannot be written: {self.recorder.disk_error}")
        return Health(not reasons, tuple(reasons))

    async def aclose(self) -> None:
        """Write what is counted and close all files and connections."""
        await self.recorder.save()
        for log in self.logs:
            log.file.close()
        await self.pusher.http.aclose()
        self.recorder.close()

    def _passed_since(self, moment: int | None) -> int:
        """Return milliseconds since this monotonic time of this run, or without one its start."""
        return self.clock.monotonic() - (self.started if moment is None else moment)


def assemble(
    config: Config,
    clock: Clock,
    uniform: Uniform,
    warn: Warn,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> Agent:
    """Build an agent that continues where its last run ended. Raises sqlite3.Error, OSError."""
    directory = Path(config.directory)
    spool = Spool(directory)
    if spool.damaged_copy is not None:
        warn(
            "the agent's journal was damaged: the counts of the running window are lost, waiting "
            f"payloads are not; the damaged file is now {spool.damaged_copy}; check the disk"
        )
    sessions = FiSessionTracker(config.sessions.keep_hours * HOUR, config.sessions.most)
    reporter = Reporter(config.aa_id, f"mudra-{version()}")
    recorder = EventRecorder(
        spool,
        Counter(Windows(), sessions),
        clock,
        reporter,
        warn,
    )
    recorder.recover()
    http = httpx2.AsyncClient(
        transport=transport,
        timeout=httpx2.Timeout(HTTP_SECONDS, connect=10),
        follow_redirects=False,
        headers={"User-Agent": user_agent()},
    )
    tokens = tokens_of(config, http, clock, uniform)
    pusher = Pusher(
        config.aa_id,
        recorder,
        tokens,
        http,
        config.operator.push_url,
        directory,
        clock,
        uniform,
        warn,
        partial(_agent_note, recorder),
        config.spool.most_megabytes << 20,
    )
    pusher.metrics.last_delivery = _whole(spool.fact("last_delivery"))
    by_host = {host.lower(): fip for host, fip in config.fips.items()}
    context = SourceContext(clock, peers=Peers(by_host))
    logs = [_followed(log, context, recorder) for log in config.log]
    return Agent(config, clock, context, recorder, tokens, pusher, logs, clock.monotonic())


def tokens_of(config: Config, http: httpx2.AsyncClient, clock: Clock, uniform: Uniform) -> Tokens:
    """Build the tokens of this configuration. Raises SecretUnreadable for their key."""
    credentials, url = config.credentials, config.operator.token_url
    if not credentials.registered:
        key = dpop_key(Path(credentials.dpop_key), clock) if credentials.dpop_key else None
        secret = partial(read_source, "credentials.secret", credentials.secret)
        return token_source(url, config.aa_id, secret, http, clock, uniform, key)
    registered = RegisteredCredentials(Path(config.directory))
    return RegisteredTokens(
        registered,
        lambda: token_source(url, config.aa_id, registered.secret, http, clock, uniform),
        clock,
    )


def user_agent() -> str:
    """Return how the agent names itself to the operator."""
    return f"mudra-agent/{version()}"


def _followed(log: LogSettings, context: SourceContext, recorder: EventRecorder) -> FollowedLog:
    position, from_start = recorder.positions.get(log.path), log.start == "beginning"
    inbound, own = log.direction == "from-fips", context.apart()
    return FollowedLog(
        log.path,
        Tag.NOTIFICATIONS if inbound else Tag.REQUESTS,
        LogFile(
            Path(log.path), position, recorder.warn, context.clock.monotonic, from_start=from_start
        ),
        LineReader(log.names, own, inbound=inbound, name=log.path),
        own,
        position=position,
    )


def _agent_note(recorder: EventRecorder) -> str:
    """Return what the operator should know that is not in the payloads; may be empty."""
    try:
        facts = recorder.spool.facts()
    except sqlite3.Error:
        facts = {}
    counts = {
        "dropped-full": _whole(facts.get("dropped_full")),
        "dropped-damaged": _whole(facts.get("dropped_damaged")),
        "dropped-unwritten": recorder.dropped_unwritten,
        "late-events": recorder.counter.metrics.late,
        "clock-jumps": recorder.clock_jumps,
    }
    return ", ".join(f"{name}={number}" for name, number in counts.items() if number)


def _whole(value: Fact | None) -> int | None:
    return value if isinstance(value, int) else None
