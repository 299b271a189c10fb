"""The audit as an operator searches it: by page, the newest first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from mudra.storage.database import Transaction
from mudra.storage.tables import audit_event


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One event as it is stored."""

    seq: int
    at: datetime
    event: str
    outcome: str
    actor: str
    entity_id: str
    address: str
    txn_id: str
    reason: str
    detail: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which events; what is empty is no condition.

    `event` may end in `*`; `user_id` matches the actor and the person concerned.
    """

    event: str = ""
    outcome: str = ""
    actor: str = ""
    user_id: str = ""
    entity_id: str = ""
    txn_id: str = ""
    since: datetime | None = None
    until: datetime | None = None


class PostgresAuditSearch:
    """Reads the journal; nothing here changes it."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def events(
        self, which: AuditFilter, before: int | None, limit: int
    ) -> Sequence[AuditRow]:
        """List events that come before the one numbered `before`."""
        c = audit_event.c
        query = sa.select(
            *(c.seq, c.at, c.event, c.outcome, c.actor, c.entity_id),
            *(c.address, c.txn_id, c.reason, c.detail),
        )
        for column, wanted in (
            (c.outcome, which.outcome),
            (c.actor, which.actor),
            (c.entity_id, which.entity_id),
            (c.txn_id, which.txn_id),
        ):
            query = query.where(column == wanted) if wanted else query
        if which.event.endswith("*"):
            query = query.where(c.event.startswith(which.event[:-1], autoescape=True))
        elif which.event:
            query = query.where(c.event == which.event)
        if which.user_id:
            query = query.where(
                sa.or_(
                    c.actor == f"user:{which.user_id}",
                    c.detail["user"].astext == which.user_id,
                )
            )
        if which.since is not None:
            query = query.where(c.at >= which.since)
        if which.until is not None:
            query = query.where(c.at < which.until)
        if before is not None:
            query = query.where(c.seq < before)
        rows = await self._tx.connection.execute(query.order_by(c.seq.desc()).limit(limit))
        return [AuditRow(*tuple(row)) for row in rows]
