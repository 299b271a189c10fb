"""What the standbys of both databases are like, for the alarm of a fault among them."""

import asyncio
import contextlib

import psycopg

from mudra.jobs.telemetry import STANDBY_BEHIND, STANDBY_FAULTS, STANDBYS
from mudra.storage.database.standbys import read_standbys


async def note_standbys(first: str, second: str | None) -> None:
    """Set the metrics of standbys, those of both databases together.

    A second database that does not answer has an alarm of its own: its standbys are left out.
    Raises psycopg.Error when the first one does not answer.
    """
    found = [await asyncio.to_thread(read_standbys, first)]
    if second is not None:
        with contextlib.suppress(psycopg.OperationalError):
            found.append(await asyncio.to_thread(read_standbys, second))
    slots = [slot for one in found for slot in one.slots]
    STANDBYS.set(sum(one.following for one in found))
    STANDBY_BEHIND.set(max((slot.behind for slot in slots), default=0))
    STANDBY_FAULTS.set(sum(len(one.faults()) for one in found))
