"""What `agent status` tells: from the running agent, or from its disk when it is down."""

import json
import sqlite3
from pathlib import Path
from typing import Final

import httpx
import msgspec

from mudra.agent.counting.payload import format_time
from mudra.agent.host.assembly import VERSION, Agent
from mudra.agent.host.config import Config
from mudra.agent.spool.dead_letter import dead_letters
from mudra.agent.spool.spool import Backlog, read_only

_ASK_SECONDS: Final = 3


class Status(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The state of one agent."""

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
    events: int = 0
    late_events: int = 0
    not_counted: dict[str, int] = {}
    clock_offset_seconds: float | None = None
    clock_jumps: int = 0
    last_fault: str = ""
    disk_fault: str = ""
    warning: str = ""
    """From the operator: the secret is in its grace period."""


def status_of(agent: Agent, facts: dict[str, object], backlog: Backlog) -> Status:
    """The state of an agent that runs in this process."""
    health, push = agent.health(), agent.pusher.metrics
    count, heard = agent.recorder.counter.metrics, agent.context.metrics
    stored = _stored(agent.config, facts, backlog)
    return msgspec.structs.replace(
        stored,
        running=True,
        ready=health.ready,
        reasons=health.reasons,
        events=count.events,
        late_events=count.late,
        not_counted={
            name: number
            for name, number in {
                "late answers": count.late_answers,
                "answers without a call": count.unmatched,
                "repeated": count.repeated,
                "notifications without session or status": count.unread_notifications,
                "calls of other kinds": heard.other_calls,
                "unknown FIP": heard.unknown_peer,
                "unreadable": heard.unreadable,
                "out of time": heard.out_of_time,
            }.items()
            if number
        },
        clock_offset_seconds=None if push.clock_offset is None else push.clock_offset / 1000,
        clock_jumps=agent.recorder.jumps,
        last_fault=push.last_fault,
        disk_fault=agent.recorder.disk_fault,
        warning=agent.tokens.warning,
    )


def ask_status(config: Config) -> Status:
    """The state of the agent of this configuration, running or not. Raises sqlite3.Error."""
    listen = config.http.listen[0].replace("0.0.0.0", "127.0.0.1")  # noqa: S104 - asked, not bound
    try:
        answer = httpx.get(f"http://{listen}/status", timeout=_ASK_SECONDS, trust_env=False)
        return msgspec.json.decode(answer.content, type=Status)
    except (httpx.HTTPError, msgspec.DecodeError):
        return stored_status(config)


def stored_status(config: Config) -> Status:
    """What the disk knows. Raises sqlite3.Error when there is no spool yet."""
    db = read_only(Path(config.directory))
    try:
        facts = {name: json.loads(value) for name, value in db.execute("SELECT * FROM fact")}
        row = db.execute("SELECT count(*), total(size), min(window) FROM record").fetchone()
    finally:
        db.close()
    return _stored(config, facts, Backlog(row[0], int(row[1]), row[2]))


def no_spool(error: sqlite3.Error, config: Config) -> str:
    """Why there is no status, and what to do."""
    return (
        f"there is no readable spool in {config.directory} ({error}); has the agent run there, "
        "and may this user read the directory?"
    )


def _stored(config: Config, facts: dict[str, object], backlog: Backlog) -> Status:
    receipt = facts.get("last_receipt")
    return Status(
        aa_id=config.aa_id,
        agent_version=VERSION,
        running=False,
        ready=False,
        reasons=("the agent does not run",),
        last_window=_moment(facts.get("last_window")),
        last_delivery=_moment(facts.get("last_delivery")),
        last_receipt=receipt if isinstance(receipt, str) else None,
        backlog_payloads=backlog.records,
        backlog_bytes=backlog.bytes,
        oldest_waiting=_moment(backlog.oldest),
        delivered=_number(facts.get("delivered")),
        dead_letters=len(dead_letters(Path(config.directory))),
        dropped_full=_number(facts.get("dropped_full")),
        dropped_damaged=_number(facts.get("dropped_damaged")),
    )


def _moment(value: object) -> str | None:
    return format_time(value) if isinstance(value, int) else None


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
