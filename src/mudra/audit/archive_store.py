"""Archives of the audit as the database knows them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
import sqlalchemy as sa

from mudra.audit.chain import Checkpoint, CheckpointForged
from mudra.audit.ports import Archive
from mudra.audit.token_issue_store import KEPT
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_archive, audit_event, audit_seal

_BATCH: Final = 5000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Archives:
    """The archives in a transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._encryption = transaction.encryption

    async def all(self) -> Sequence[Archive]:
        """Every archive in order; raises CheckpointForged."""
        rows = await self._tx.connection.execute(
            sa.select(audit_archive).order_by(audit_archive.c.until)
        )
        found = []
        for row in rows:
            until = Checkpoint(row.until, row.head, row.sealed_at.astimezone(UTC), row.epoch)
            at = row.at.astimezone(UTC)
            archive = Archive(until, row.last_block, row.name, row.sha256, at)
            if not self._encryption.is_checkpoint_mac(_statement(archive), row.mac):
                raise CheckpointForged(f"archive {archive.name} in the database was altered")
            found.append(archive)
        return found

    async def add(self, archive: Archive) -> None:
        """Sign and store one."""
        await self._tx.connection.execute(
            sa.insert(audit_archive).values(
                until=archive.until.count,
                epoch=archive.until.epoch,
                head=archive.until.head,
                sealed_at=archive.until.at,
                last_block=archive.last_block,
                name=archive.name,
                sha256=archive.sha256,
                at=archive.at,
                mac=self._encryption.checkpoint_mac(_statement(archive)),
            )
        )

    async def drop(self, until: int) -> int:
        """Delete the oldest rows up to this number, a batch of them; give their number.

        None while the database keeps the last of them: it counts its days to the newest event.
        """
        e, s = audit_event.c, audit_seal.c
        newest = sa.select(e.at).order_by(e.seq.desc()).limit(1).scalar_subquery()
        last = sa.select(e.at).join(audit_seal, s.seq == e.seq).where(s.number == until)
        dropped = sa.select(
            sa.func.audit_archived_drop(sa.literal(until, sa.BigInteger), _BATCH)
        ).where(last.scalar_subquery() <= newest - sa.literal(KEPT, sa.Interval))
        return int(await self._tx.connection.scalar(dropped) or 0)


def _statement(archive: Archive) -> bytes:
    at = (archive.at - _EPOCH) // timedelta(microseconds=1)
    return b"mudra-audit-archive-1" + msgspec.json.encode(
        [
            archive.until.statement().decode(),
            *(archive.last_block, archive.name, archive.sha256, at),
        ]
    )
