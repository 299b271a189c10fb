"""The primary of a PostgreSQL cluster, and no other: not a standby, not one that was replaced.

A fail-over begins a new timeline. A former primary that does not know of it goes on answering
reads; with synchronous replication it can commit nothing, since its standby left it. So a process
refuses a timeline older than one that it has seen, and has a commit of its own as the proof.
"""

from time import monotonic
from typing import Final, LiteralString

import psycopg
from msgspec import Struct
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mudra.storage.database.deadline import abort_after

IDENTITY: Final = (
    "(SELECT system_identifier::text FROM pg_control_system())",
    (
        "CASE WHEN NOT pg_is_in_recovery()"
        " THEN ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END"
    ),
)
"""Two columns that name a cluster and its timeline; a standby has none of its own."""
CONFIRM: Final[LiteralString] = (
    "SELECT CASE WHEN current_setting('synchronous_standby_names') <> ''"
    " THEN pg_logical_emit_message(true, 'mudra', ''::text)::text END"
)
"""Makes the commit of a transaction that only read wait for the synchronous standby, if any."""
_IDENTITY: Final = f"SELECT {', '.join(IDENTITY)}"
_ANSWER_S: Final = 2.0
_TRIES: Final = 4
"""Addresses with many hosts and `load_balance_hosts=random` lead to another one each time."""


class SupersededPrimary(psycopg.OperationalError):
    """This server was the primary before the one that this process knows."""


class Timeline(Struct, frozen=True):
    """One primary's time in office."""

    cluster: str
    number: int | None

    def is_before(self, other: "Timeline") -> bool:
        """Return whether the other one followed this one in the same cluster."""
        return self.cluster == other.cluster and (self.number or 0) < (other.number or 0)


class PrimaryConnection(psycopg.AsyncConnection[tuple[object, ...]]):
    """A connection that knows whose it is."""

    timeline: Timeline | None = None


class Lineage:
    """The newest timeline that this process has seen."""

    def __init__(self) -> None:
        self.newest: Timeline | None = None
        self.changed_at = float("-inf")
        self.doubted: Timeline | None = None
        """Whose primary did not answer last: one that follows it is looked for first."""

    def admit(self, found: Timeline, *, may_doubt: bool = False) -> None:
        """Remember a timeline; raises SupersededPrimary for one that another has followed.

        With `may_doubt` so it does for one whose primary did not answer.
        """
        if may_doubt and found == self.doubted:
            raise SupersededPrimary(f"timeline {found.number} did not answer")
        if self.newest is not None and found.is_before(self.newest):
            raise SupersededPrimary(f"timeline {found.number} was followed by {self.newest.number}")
        if found != self.newest:
            if self.newest is not None:
                self.changed_at = monotonic()
            self.newest = found

    def is_current(self, timeline: Timeline | None) -> bool:
        """Return whether no newer timeline is known."""
        return timeline is None or self.newest is None or not timeline.is_before(self.newest)


def of_primary(conninfo: str) -> str:
    """Refuse sessions on a standby: what it says may be outdated, and it takes no changes."""
    given = conninfo_to_dict(conninfo)
    return make_conninfo(conninfo, **{"target_session_attrs": "primary"} | given)


async def connect_to_primary(
    conninfo: str, lineage: Lineage, *, connect_timeout: int, options: str | None = None
) -> PrimaryConnection:
    """Connect, in autocommit; raises SupersededPrimary when only former primaries answer."""
    for attempt in range(1, _TRIES + 1):
        connection = await PrimaryConnection.connect(
            conninfo, autocommit=True, connect_timeout=connect_timeout, options=options
        )
        try:
            with abort_after(connection, _ANSWER_S):
                row = await (await connection.execute(_IDENTITY)).fetchone()
            connection.timeline = timeline_of(row)
            lineage.admit(connection.timeline, may_doubt=attempt < _TRIES)
        except SupersededPrimary:
            await connection.close()
            if attempt == _TRIES:
                raise
        except BaseException:
            await connection.close()
            raise
        else:
            return connection
    raise AssertionError


def timeline_of(row: tuple[object, ...] | None) -> Timeline:
    """Read the last two columns of a row, `IDENTITY`."""
    assert row is not None
    number = row[-1]
    return Timeline(str(row[-2]), number if isinstance(number, int) else None)
