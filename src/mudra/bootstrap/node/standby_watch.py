"""The state of the standbys and of the service's connections, for their alarms."""

import asyncio
from collections import deque
from time import monotonic
from typing import Final

from mudra.jobs.telemetry import (
    CONNECTIONS,
    CONNECTIONS_ALLOWED,
    STANDBY_BEHIND,
    STANDBY_BEHIND_S,
    STANDBY_FAULTS,
    STANDBYS,
)
from mudra.storage.database.standbys import ServerState, read_server_state

_KEPT: Final = 360
"""Positions: two hours, where one is read every 20 seconds."""
STATES: Final = ("active", "idle", "idle in transaction", "other")


class StandbyWatch:
    """Remembers when the primary's log had which length, so that a lack of it has an age.

    PostgreSQL shows the lag itself to a role with rights of monitoring alone.
    """

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._positions: deque[tuple[float, int]] = deque(maxlen=_KEPT)

    async def note(self) -> None:
        """Set the metrics; raises psycopg.Error when the database does not answer."""
        found = await asyncio.to_thread(read_server_state, self._conninfo)
        now = monotonic()
        self._positions.append((now, found.position))
        standbys = found.standbys
        STANDBYS.set(standbys.following)
        STANDBY_BEHIND.set(max((slot.behind for slot in standbys.slots), default=0))
        STANDBY_BEHIND_S.set(
            max(
                (self._age(found.position - slot.behind, now) for slot in standbys.slots), default=0
            )
        )
        STANDBY_FAULTS.set(len(standbys.faults()))
        _note_connections(found)

    def _age(self, reached: int, now: float) -> float:
        """Return for how long the log has been longer than what a standby has reached."""
        longer = [at for at, position in self._positions if position > reached]
        return now - longer[0] if longer else 0.0


def _note_connections(found: ServerState) -> None:
    CONNECTIONS_ALLOWED.set(found.allowed)
    counts = dict.fromkeys(STATES, 0)
    for state, number in found.connections.items():
        counts[state if state in counts else "other"] += number
    for state, number in counts.items():
        CONNECTIONS.labels(state.replace(" ", "-")).set(number)
