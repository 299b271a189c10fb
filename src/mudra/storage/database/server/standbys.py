"""The statement of a primary about its standbys to a role without rights of its own.

`pg_stat_replication` shows such a role how many follow, and no more; the slots have the rest.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, LiteralString

import psycopg
from msgspec import Struct

MAX_BEHIND: Final = 256 << 20
"""Bytes of log that a standby may lack: more than a checkpoint's."""
_CONNECTIONS: Final[LiteralString] = (
    "SELECT coalesce(state, 'other'), count(*) FROM pg_stat_activity"
    " WHERE usename = current_user AND pid <> pg_backend_pid() GROUP BY 1"
)
_ALLOWED: Final[LiteralString] = (
    "SELECT least(nullif(rolconnlimit, -1), current_setting('max_connections')::int"
    " - current_setting('superuser_reserved_connections')::int)"
    " FROM pg_roles WHERE rolname = current_user"
)
_STATE: Final[LiteralString] = (
    "SELECT current_setting('synchronous_standby_names'),"
    # A copy that is being made follows nothing yet, and is gone when it is finished.
    " (SELECT count(*) FROM pg_stat_replication"
    "   WHERE application_name IS DISTINCT FROM 'pg_basebackup'), pg_current_wal_lsn()"
)
_SLOTS: Final[LiteralString] = (
    "SELECT slot_name::text, active, coalesce((%s::pg_lsn - restart_lsn)::bigint, 0)"
    " FROM pg_replication_slots WHERE slot_type = 'physical' AND NOT temporary ORDER BY 1"
)
_POSITION: Final[LiteralString] = "SELECT (pg_current_wal_lsn() - '0/0')::bigint"


class Slot(Struct, frozen=True):
    """One standby's place in the log."""

    name: str
    is_active: bool
    behind: int


class Standbys(Struct, frozen=True):
    """The standbys that follow, and which of them a commit waits for."""

    synchronous: str
    following: int
    slots: Sequence[Slot]

    def faults(self) -> list[str]:
        """Return what is wrong, each with what to do."""
        found = [
            f"{slot.name} does not follow, and {slot.behind:,} bytes of log are kept for it: start "
            "it, or drop its slot"
            for slot in self.slots
            if not slot.is_active
        ]
        found += [
            f"{slot.name} is {slot.behind:,} bytes behind: look at its disk and its network"
            for slot in self.slots
            if slot.is_active and slot.behind > MAX_BEHIND
        ]
        if self.synchronous and not self.following:
            found.append(
                f"no standby follows, and a commit waits for {self.synchronous}: no write can be "
                "acknowledged, start a standby"
            )
        return found

    def text(self) -> str:
        """Return how things are."""
        if not self.following and not self.slots:
            return "none"
        behind = max((slot.behind for slot in self.slots if slot.is_active), default=0)
        waits = f"a commit waits for {self.synchronous}" if self.synchronous else "none synchronous"
        return f"{self.following} follow, {behind:,} bytes behind at most; {waits}"


class ServerState(Struct, frozen=True):
    """The state of a primary in its own words: `position` is the length of its log in bytes."""

    standbys: Standbys
    position: int
    connections: Mapping[str, int]
    """Of the asking role, by state."""
    allowed: int
    """Connections that the role may have."""


def read_standbys(conninfo: str) -> Standbys:
    """Ask the primary."""
    with psycopg.connect(conninfo, connect_timeout=5, autocommit=True) as connection:
        return _standbys(connection)


def read_server_state(conninfo: str) -> ServerState:
    """Ask the primary of its standbys, its log and its connections."""
    with psycopg.connect(conninfo, connect_timeout=5, autocommit=True) as connection:
        position = connection.execute(_POSITION).fetchone()
        connections = connection.execute(_CONNECTIONS).fetchall()
        allowed = connection.execute(_ALLOWED).fetchone()
        standbys = _standbys(connection)
    assert position is not None
    assert allowed is not None
    return ServerState(standbys, int(position[0]), dict(connections), int(allowed[0]))


def _standbys(connection: psycopg.Connection[tuple[Any, ...]]) -> Standbys:
    state = connection.execute(_STATE).fetchone()
    assert state is not None
    slots = connection.execute(_SLOTS, [str(state[2])]).fetchall()
    return Standbys(str(state[0]), int(state[1]), [Slot(*row) for row in slots])
