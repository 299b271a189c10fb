"""What the standbys are like, for the alarm of a fault among them."""

import asyncio

from mudra.jobs.telemetry import STANDBY_BEHIND, STANDBY_FAULTS, STANDBYS
from mudra.storage.database.standbys import read_standbys


async def note_standbys(conninfo: str) -> None:
    """Set the metrics of standbys; raises psycopg.Error when the database does not answer."""
    found = await asyncio.to_thread(read_standbys, conninfo)
    STANDBYS.set(found.following)
    STANDBY_BEHIND.set(max((slot.behind for slot in found.slots), default=0))
    STANDBY_FAULTS.set(len(found.faults()))
