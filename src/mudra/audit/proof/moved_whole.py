"""The check whether the second place contradicts that a database was moved whole."""

import asyncio
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from mudra.audit.audit_chain import AuditChain
from mudra.audit.chain import Checkpoint
from mudra.audit.proof.second_place import beyond

_LATE: Final = 2
"""Checkpoints: the last one may not have reached the second place when its node stopped."""


class Compared(Struct, frozen=True):
    """The statement of the second place about a database that came from elsewhere."""

    count: int
    """Rows that are sealed in the database."""
    beyond: Checkpoint | None
    """The newest checkpoint that counts events which the database lacks."""
    vouched: bool
    """The second place has the database's last checkpoints, or there is none yet."""

    @property
    def missing(self) -> int:
        """Return how many events at least are missing."""
        return self.beyond.count - self.count if self.beyond else 0


async def compared(chain: AuditChain, also: Sequence[Checkpoint]) -> Compared:
    """Compare a database with its second place and a collected log; raises CheckpointForged."""
    witnessed = [*await asyncio.to_thread(chain.witness.all), *also]
    stored = await chain.checkpoints.all()
    count, cluster = await chain.ledger.count(), await chain.ledger.cluster()
    # An epoch of this cluster began after the move: it takes nothing back that may be missing.
    before = [one for one in await chain.ledger.epochs() if one.cluster != cluster]
    last = stored[-_LATE:]
    vouched = not last or not set(witnessed).isdisjoint(last)
    return Compared(count, beyond(stored, witnessed, before, count), vouched)
