"""The processes of the service that use this database now, on all machines."""

from typing import Final

import sqlalchemy as sa

from mudra.storage.database.transaction import Transaction

_RUNNING: Final = sa.text(
    "SELECT count(*) FROM node WHERE proven_at > clock_timestamp() - interval '10 seconds'"
)
"""Twice as long as an idle process is silent (decision 0003)."""


async def running_processes(transaction: Transaction) -> int:
    """Count the workers and job processes of all nodes."""
    return int(await transaction.connection.scalar(_RUNNING) or 0)
