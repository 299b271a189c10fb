"""The audit as an operator searches it: by page, the newest first."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from msgspec import Struct

from mudra.storage.database import Transaction
from mudra.storage.tables import audit_event


class AuditRow(Struct, frozen=True):
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


class TokensOfDay(Struct, frozen=True):
    """How many Entity Access Tokens were issued and refused on a day of UTC."""

    day: datetime
    issued: int
    refused: int


_MOST_COUNTED: Final = 20_000


class AuditFilter(Struct, frozen=True, kw_only=True):
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

    async def tokens_by_day(self, entity_id: str, since: datetime) -> Sequence[TokensOfDay]:
        """Count an entity's issued and refused tokens by day (UTC), the newest day first.

        Looks at the latest 20,000 rows at most; what came before them is left out.
        """
        c = audit_event.c
        latest = (
            sa.select(c.at, c.event, c.detail)
            .where(c.entity_id == entity_id, c.at >= since)
            .where(c.event.in_(["entity:token:issue", "entity:token:refuse"]))
            .order_by(c.seq.desc())
            .limit(_MOST_COUNTED)
            .subquery()
        )
        day = sa.func.date_trunc("day", latest.c.at, "UTC").label("day")
        count = sa.func.coalesce(latest.c.detail["count"].as_integer(), 1)
        issued = latest.c.event == "entity:token:issue"
        rows = await self._tx.connection.execute(
            sa.select(
                day,
                sa.func.coalesce(sa.func.sum(count).filter(issued), 0),
                sa.func.coalesce(sa.func.sum(count).filter(~issued), 0),
            )
            .group_by(day)
            .order_by(day.desc())
        )
        return [TokensOfDay(row[0], int(row[1]), int(row[2])) for row in rows]

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
