"""What auditing asks of storage and of the key ring."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from mudra.audit.chain import Checkpoint, Row
from mudra.audit.event import AuditEntry
from mudra.audit.search import AuditFilter, AuditRow, TokensOfDay


class AuditLog(Protocol):
    """The audit log: entries are appended in the transaction of the action itself (quality L3)."""

    async def append(self, entry: AuditEntry) -> None:
        """Append an entry; when this fails, the action itself must not happen."""
        ...


class Ledger(Protocol):
    """What the one sealer asks, after the rows were committed."""

    async def head(self) -> Checkpoint:
        """The current head of the chain; `START` before the first seal. Holds the sealer's lock."""
        ...

    async def next_unsealed(self, after: int, limit: int) -> Sequence[Row]:
        """Committed rows without a seal, oldest first, numbered from `after` + 1.

        A row counts as committed only when no transaction that began before it is
        still open, so that none slips in behind the head.
        """
        ...

    async def keep_seals(self, rows: Sequence[Row], hashes: Sequence[bytes]) -> None:
        """Store the number and hash of each row."""
        ...


class Witness(Protocol):
    """The second place, out of reach of one who can write to the database."""

    async def last(self) -> Checkpoint:
        """The newest checkpoint published; `START` when there is none."""
        ...

    async def publish(self, checkpoint: Checkpoint) -> None:
        """Sign `checkpoint.statement()` and keep both."""
        ...


class AuditSearch(Protocol):
    """Reads the audit log; nothing here changes it."""

    async def events(
        self, which: AuditFilter, before: int | None, limit: int
    ) -> Sequence[AuditRow]:
        """List events, the newest first, that come before the one numbered `before`."""
        ...

    async def tokens_by_day(self, entity_id: str, since: datetime) -> Sequence[TokensOfDay]:
        """Count an entity's issued and refused tokens by day (UTC), the newest day first."""
        ...
