"""Checkpoints of the audit chain in the database, shared by all nodes.

Each carries a keyed hash under a key that the database holds only encrypted: who can write
to the database alone can forge no checkpoint, only take some away. The copies in the second
place (`audit/proof/witness.py`) show that.
"""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping

from mudra.audit.chain import START, Checkpoint, CheckpointForged
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_checkpoint

CHECKPOINT_ADDED: Final = "audit-checkpoint"
"""The key under which a new checkpoint is announced."""


class CheckpointStore:
    """Implements audit/ports.py Checkpoints."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._encryption = transaction.encryption

    async def last(self) -> Checkpoint:
        """The newest checkpoint; `START` when there is none. Raises CheckpointForged."""
        c = audit_checkpoint.c
        found = await self._read(
            sa.select(audit_checkpoint).order_by(c.epoch.desc(), c.count.desc()).limit(1)
        )
        return found[0] if found else START

    async def all(self) -> Sequence[Checkpoint]:
        """Every checkpoint in order; raises CheckpointForged."""
        c = audit_checkpoint.c
        return await self._read(sa.select(audit_checkpoint).order_by(c.epoch, c.count))

    async def since(self, known: Checkpoint) -> Sequence[Checkpoint]:
        """Give the last checkpoint up to this one, and those after it; raises CheckpointForged."""
        c = audit_checkpoint.c
        place, here = sa.tuple_(c.epoch, c.count), sa.tuple_(known.epoch, known.count)
        ordered = sa.select(audit_checkpoint)
        last = ordered.where(place <= here).order_by(c.epoch.desc(), c.count.desc()).limit(1)
        later = ordered.where(place > here).order_by(c.epoch, c.count)
        return [*await self._read(last), *await self._read(later)]

    async def add(self, checkpoint: Checkpoint) -> None:
        """Sign and store a checkpoint, and wake the nodes that copy it to their second place."""
        await self._tx.connection.execute(
            sa.insert(audit_checkpoint).values(
                epoch=checkpoint.epoch,
                count=checkpoint.count,
                head=checkpoint.head,
                at=checkpoint.at,
                mac=self._encryption.checkpoint_mac(checkpoint.statement()),
            )
        )
        await self._tx.changing(CHECKPOINT_ADDED)

    async def _read(self, query: sa.Select[tuple[object, ...]]) -> list[Checkpoint]:
        found = (await self._tx.connection.execute(query)).mappings()
        # A verification reads tens of thousands: other requests go on meanwhile.
        return await asyncio.to_thread(self._checked, found)

    def _checked(self, rows: Iterable[RowMapping]) -> list[Checkpoint]:
        found = []
        for row in rows:
            at = row["at"].astimezone(UTC)
            checkpoint = Checkpoint(row["count"], row["head"], at, row["epoch"])
            if not self._encryption.is_checkpoint_mac(checkpoint.statement(), row["mac"]):
                raise CheckpointForged(
                    f"the checkpoint of row {checkpoint.count} in the database was altered"
                )
            found.append(checkpoint)
        return found
