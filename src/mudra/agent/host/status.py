"""The contents of `agent status`: from the running agent, or from its disk when it is down."""

import sqlite3
from pathlib import Path
from typing import Final

import httpx2
import msgspec

from mudra.agent.counting.payload import format_time
from mudra.agent.host.assembly import Agent
from mudra.agent.host.config import UNIX, Config
from mudra.agent.sources.left_out import MEANING, Reason
from mudra.agent.spool.dead_letter import dead_letters
from mudra.agent.spool.payload_files import Backlog, backlog_of, payloads_in
from mudra.agent.spool.spool import Fact, read_facts, read_only
from mudra.shared.build_version import version

_ASK_SECONDS: Final = 3


class Status(msgspec.Struct, frozen=True, rename="camel"):
    """The state of one agent. Its JSON has every field, also where there is nothing to say."""

    aa_id: str
    agent_version: str
    running: bool
    ready: bool
    reasons: tuple[str, ...]
    last_window: str | None
    """The window that closed last."""
    last_delivery: str | None
    last_receipt: str | None
    backlog_payloads: int
    backlog_bytes: int
    oldest_waiting: str | None
    delivered: int
    dead_letters: int
    dropped_full: int
    dropped_damaged: int
    last_event: str | None = None
    """When the AA's systems last reported a call; None since the start."""
    events: int = 0
    late_events: int = 0
    windows_reported_again: int = 0
    """Late events changed them after they had been pushed."""
    not_counted: dict[str, int] = {}
    samples: dict[str, str] = {}
    """Of what is not counted: what is wrong with the latest of each kind."""
    clock_offset_seconds: float | None = None
    clock_jumps: int = 0
    last_fault: str = ""
    disk_fault: str = ""
    warning: str = ""
    """From the operator: the secret is in its grace period."""


def status_of(agent: Agent, facts: dict[str, Fact], backlog: Backlog) -> Status:
    """Return the state of an agent that runs in this process."""
    health, push = agent.health(), agent.pusher.metrics
    counter, source = agent.recorder.counter.metrics, agent.context.metrics
    warning = agent.tokens.warning
    stored = _stored(agent.config, facts, backlog)
    return msgspec.structs.replace(
        stored,
        running=True,
        ready=health.ready,
        reasons=health.reasons,
        last_event=_time(agent.recorder.last_event),
        events=counter.events,
        late_events=counter.late,
        windows_reported_again=agent.recorder.counter.windows.reopened,
        not_counted={
            name: number
            for name, number in {
                "late answers": counter.late_answers,
                "answers without a call": counter.unmatched,
                "repeated": counter.repeated,
                "notifications without session or status": counter.unread_notifications,
                **{MEANING[reason]: source.counts[reason] for reason in Reason},
            }.items()
            if number
        },
        samples={MEANING[reason]: text for reason, text in source.samples.items()},
        clock_offset_seconds=None if push.clock_offset is None else push.clock_offset / 1000,
        clock_jumps=agent.recorder.clock_jumps,
        last_fault=push.last_error,
        disk_fault=agent.recorder.disk_error,
        warning="" if warning is None else warning.message,
    )


def ask_status(config: Config) -> Status:
    """Return the state of this agent, running or not. Raises sqlite3.Error and OSError."""
    listen = config.http.listen[0].replace("0.0.0.0", "127.0.0.1")  # noqa: S104 - asked, not bound
    socket = listen.removeprefix(UNIX) if listen.startswith(UNIX) else None
    address = "http://localhost" if socket else f"http://{listen}"
    try:
        with httpx2.Client(
            transport=httpx2.HTTPTransport(uds=socket), timeout=_ASK_SECONDS
        ) as http:
            answer = http.get(f"{address}/status")
        return msgspec.json.decode(answer.content, type=Status)
    except (httpx2.HTTPError, msgspec.DecodeError):
        return stored_status(config)


def stored_status(config: Config) -> Status:
    """Return what the disk says. Raises sqlite3.Error when there is no spool yet."""
    db = read_only(Path(config.directory))
    try:
        facts = read_facts(db)
    finally:
        db.close()
    return _stored(config, facts, backlog_of(list(payloads_in(Path(config.directory)))))


def no_spool(error: sqlite3.Error | OSError, config: Config) -> str:
    """Explain why there is no status, and what to do."""
    return (
        f"there is no readable spool in {config.directory} ({error}); has the agent run there, "
        "and may this user read the directory?"
    )


def _stored(config: Config, facts: dict[str, Fact], backlog: Backlog) -> Status:
    receipt = facts.get("last_receipt")
    return Status(
        aa_id=config.aa_id,
        agent_version=version(),
        running=False,
        ready=False,
        reasons=("the agent does not run",),
        last_window=_time(facts.get("last_window")),
        last_delivery=_time(facts.get("last_delivery")),
        last_receipt=receipt if isinstance(receipt, str) else None,
        backlog_payloads=backlog.payloads,
        backlog_bytes=backlog.bytes,
        oldest_waiting=_time(backlog.oldest),
        delivered=_number(facts.get("delivered")),
        dead_letters=len(dead_letters(Path(config.directory))),
        dropped_full=_number(facts.get("dropped_full")),
        dropped_damaged=_number(facts.get("dropped_damaged")),
    )


def _time(value: Fact | None) -> str | None:
    return format_time(value) if isinstance(value, int) else None


def _number(value: Fact | None) -> int:
    return value if isinstance(value, int) else 0
