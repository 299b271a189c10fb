"""Issued entity tokens in PostgreSQL: those that wait for their block, and the blocks."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from mudra.audit.chain import CheckpointForged
from mudra.audit.event import EventName
from mudra.audit.token_issues import TokenBlock, TokenIssue
from mudra.storage.database.bulk_insert import bulk_insert, parameter_of
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import (
    audit_event,
    audit_token_block,
    audit_token_drop,
    audit_token_issue,
)

_PACKER_LOCK: Final = 0x6D75647261 + 7
_COLUMNS: Final = ("at", "entity_id", "address", "txn_id", "credential", "version", "jtis")
_INSERT: Final = bulk_insert(audit_token_issue, *_COLUMNS)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
KEPT: Final = timedelta(days=30)
"""So long the database keeps blocks, and archived rows, whatever the settings are."""


async def add_issues(
    transaction: Transaction, issues: Sequence[TokenIssue], at: datetime | None = None
) -> None:
    """Store issues, which get their number here; `at` is the database's time when not given."""
    moment = at or await transaction.now()
    rows = [
        {
            "at": moment,
            "entity_id": issue.entity_id,
            "address": issue.address,
            "txn_id": issue.txn_id,
            "credential": issue.credential,
            "version": issue.version,
            "jtis": " ".join(issue.jtis),
        }
        for issue in issues
    ]
    await transaction.connection.execute(_INSERT, parameter_of(rows))


class TokenIssueStore:
    """Issues and blocks as the one packer, and a verification, see them."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._encryption = transaction.encryption

    async def waiting(self, limit: int) -> Sequence[TokenIssue]:
        """Give issues without a block in order of `seq`. Holds the packer's lock."""
        await self._tx.connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_PACKER_LOCK)))
        rows = await self._tx.connection.execute(
            sa.select(audit_token_issue).order_by(audit_token_issue.c.seq).limit(limit)
        )
        return [issue_of(row) for row in rows]

    async def longest_wait(self) -> datetime | None:
        """Return the time of the oldest issue without a block."""
        return await self._time(sa.select(sa.func.min(audit_token_issue.c.at)))

    async def next_number(self) -> int:
        """Return the number of the next block; numbers of dropped ones never come again."""
        highest = sa.func.greatest(
            sa.select(sa.func.max(audit_token_block.c.number)).scalar_subquery(),
            sa.select(sa.func.max(audit_token_drop.c.until)).scalar_subquery(),
            0,
        )
        return int(await self._tx.connection.scalar(sa.select(highest)) or 0) + 1

    async def keep(self, block: TokenBlock, packed: Sequence[int]) -> None:
        """Store a block, and delete the issues that it holds."""
        await self._tx.connection.execute(
            sa.insert(audit_token_block).values(**msgspec.structs.asdict(block))
        )
        which = sa.any_(sa.literal(list(packed), ARRAY(sa.BigInteger)))
        await self._tx.connection.execute(
            sa.delete(audit_token_issue).where(audit_token_issue.c.seq == which)
        )

    async def blocks(self, first: int, last: int) -> Sequence[TokenBlock]:
        """Give the blocks with these numbers, as far as they are there."""
        number = audit_token_block.c.number
        rows = await self._tx.connection.execute(
            sa.select(audit_token_block).where(number >= first, number <= last).order_by(number)
        )
        return [block_of(row) for row in rows]

    async def unnamed(self, after: int, row_id: int) -> int:
        """Return a block after this one that no event after `row_id` names; 0 for none."""
        b, e = audit_token_block.c, audit_event.c
        named = sa.select(e.detail["block"].as_integer()).where(
            e.seq > row_id, e.event == EventName.AUDIT_TOKENS_PACK.value
        )
        first = sa.select(b.number).where(
            sa.or_(b.number < 1, b.number > after), b.number.not_in(named)
        )
        return int(await self._tx.connection.scalar(first.order_by(b.number).limit(1)) or 0)

    async def oldest(self) -> datetime | None:
        """Return the time of the first token in the oldest block."""
        b = audit_token_block.c
        return await self._time(sa.select(b.first_at).order_by(b.number).limit(1))

    async def until(self, before: datetime, limit: int) -> int:
        """Return the last of the oldest blocks that end before this time; 0 when none does.

        What the database keeps is none of them: it counts its days from the end of the newest.
        """
        b = audit_token_block.c
        newest = sa.select(sa.func.max(b.last_at)).scalar_subquery()
        end = sa.func.least(sa.literal(before), newest - sa.literal(KEPT, sa.Interval))
        oldest = sa.select(b.number, b.last_at).order_by(b.number).limit(limit).subquery()
        # A block that ends later is the limit, whatever those after it say of themselves.
        young = sa.select(sa.func.min(oldest.c.number)).where(oldest.c.last_at >= end)
        highest = sa.select(sa.func.max(oldest.c.number)).where(
            oldest.c.number < sa.func.coalesce(young.scalar_subquery(), sa.literal(1 << 62))
        )
        return int(await self._tx.connection.scalar(highest) or 0)

    async def drop(self, until: int, now: datetime) -> int:
        """Sign that blocks up to this one are dropped, and drop them; give their number."""
        await self._tx.connection.execute(
            sa.insert(audit_token_drop).values(
                until=until, at=now, mac=self._encryption.checkpoint_mac(_statement(until, now))
            )
        )
        dropped = sa.select(sa.func.audit_token_blocks_drop(sa.literal(until, sa.BigInteger)))
        return int(await self._tx.connection.scalar(dropped) or 0)

    async def dropped(self) -> int:
        """Return up to which block they were dropped; raises CheckpointForged."""
        d = audit_token_drop.c
        row = (
            await self._tx.connection.execute(
                sa.select(d.until, d.at, d.mac).order_by(d.until.desc()).limit(1)
            )
        ).first()
        if row is None:
            return 0
        until, at, mac = row
        if not self._encryption.is_checkpoint_mac(_statement(until, at), mac):
            raise CheckpointForged(f"the drop of token blocks up to {until} was altered")
        return int(until)

    async def _time(self, query: sa.Select[Any]) -> datetime | None:
        found = await self._tx.connection.scalar(query)
        return found.astimezone(UTC) if found is not None else None


def issue_of(row: sa.Row[Any]) -> TokenIssue:
    """Read an issue from its row."""
    return TokenIssue(
        *(row.seq, row.at.astimezone(UTC), row.entity_id, row.address, row.txn_id),
        *(row.credential, row.version, tuple(row.jtis.split())),
    )


def block_of(row: sa.Row[Any]) -> TokenBlock:
    """Read a block from its row."""
    return TokenBlock(
        *(row.number, row.first_seq, row.last_seq),
        *(row.first_at.astimezone(UTC), row.last_at.astimezone(UTC)),
        *(row.entities, row.marks, row.data),
    )


def _statement(until: int, at: datetime) -> bytes:
    micros = (at - _EPOCH) // timedelta(microseconds=1)
    return msgspec.json.encode(["mudra-audit-tokens-drop-1", until, micros])
