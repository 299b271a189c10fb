"""The audit chain in PostgreSQL: implements audit/ports.py Ledger."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, cast

import sqlalchemy as sa

from mudra.audit.chain import START, Checkpoint, Row, SealedRow
from mudra.audit.event import AuditEvent, EventName, Outcome
from mudra.storage.audit.tables import audit_seal
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import audit_event

_SEALER_LOCK: Final = 0x6D75647261 + 2
_SLACK: Final = 100_000
"""How far behind the newest sealed row an older one may still turn up: far more rows than are
written within the longest transaction."""
_PAGE: Final = 5000


class PostgresLedger:
    """The chain as the one sealer sees it, in its transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def head(self) -> Checkpoint:
        """The current head of the chain; `START` before the first seal. Holds the sealer's lock."""
        await self._tx.connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_SEALER_LOCK)))
        row = (
            await self._tx.connection.execute(
                sa.select(audit_seal.c.number, audit_seal.c.hash)
                .order_by(audit_seal.c.number.desc())
                .limit(1)
            )
        ).first()
        return Checkpoint(row[0], row[1], await self._tx.now()) if row else START

    async def next_unsealed(self, after: int, limit: int) -> Sequence[Row]:
        """Committed rows without a seal, oldest first, numbered from `after` + 1."""
        highest = sa.select(sa.func.coalesce(sa.func.max(audit_seal.c.seq), 0)).scalar_subquery()
        rows = (
            await self._tx.connection.execute(
                sa.select(audit_event)
                .outerjoin(audit_seal, audit_seal.c.seq == audit_event.c.seq)
                .where(
                    audit_event.c.seq > highest - _SLACK,
                    audit_seal.c.seq.is_(None),
                    sa.text("audit_event.xid < pg_snapshot_xmin(pg_current_snapshot())"),
                )
                .order_by(audit_event.c.seq)
                .limit(limit)
            )
        ).mappings()
        return [
            Row(after + place, cast("int", row["seq"]), event_of(cast("Mapping[str, object]", row)))
            for place, row in enumerate(rows, start=1)
        ]

    async def keep_seals(self, rows: Sequence[Row], hashes: Sequence[bytes]) -> None:
        """Store the number and hash of each row."""
        await self._tx.connection.execute(
            sa.insert(audit_seal),
            [
                {"number": row.number, "seq": row.row_id, "hash": sealed}
                for row, sealed in zip(rows, hashes, strict=True)
            ],
        )

    async def sealed(self) -> AsyncIterator[SealedRow]:
        """All sealed rows by their number, page by page, so that a table of any length fits."""
        after = 0
        while True:
            rows = (
                (
                    await self._tx.connection.execute(
                        sa.select(audit_seal.c.number, audit_seal.c.hash, audit_event)
                        .outerjoin(audit_event, audit_event.c.seq == audit_seal.c.seq)
                        .where(audit_seal.c.number > after)
                        .order_by(audit_seal.c.number)
                        .limit(_PAGE)
                    )
                )
                .mappings()
                .all()
            )
            for row in rows:
                event = event_of(cast("Mapping[str, object]", row))
                yield SealedRow(Row(row["number"], row["seq"], event), row["hash"])
            if len(rows) < _PAGE:
                return
            after = rows[-1]["number"]


def event_of(row: Mapping[str, object]) -> AuditEvent:
    """Read an event from its row; a word that this version does not know raises ValueError."""
    at = row["at"]
    assert isinstance(at, datetime)
    return AuditEvent(
        event=EventName(cast("str", row["event"])),
        outcome=Outcome(cast("str", row["outcome"])),
        at=at.astimezone(UTC),
        actor=cast("str", row["actor"]),
        entity_id=cast("str", row["entity_id"]),
        address=cast("str", row["address"]),
        txn_id=cast("str", row["txn_id"]),
        reason=cast("str", row["reason"]),
        detail=cast("Mapping[str, str | int]", row["detail"]),
    )
