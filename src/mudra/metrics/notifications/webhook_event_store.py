"""The latest events of each webhook in PostgreSQL: those that wait, and those that are over."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.metrics.notifications.webhook import (
    MAX_EVENTS,
    WEBHOOKS_CHANGED,
    Event,
    WaitingMessage,
)
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.alarms import webhook_attempt, webhook_event, webhook_message

_E: Final = webhook_event.c
_M: Final = webhook_message.c
_A: Final = webhook_attempt.c
_LAST: Final = (
    sa.select(_A.problem, _A.at)
    .where(_A.message_id == _M.message_id)
    .order_by(_A.number.desc())
    .limit(1)
    .lateral()
)
_OF: Final = (
    sa.union_all(
        sa.select(
            *(_M.message_id, _M.event, _M.made_at, _M.attempts, sa.null().label("over_at")),
            *(sa.func.coalesce(_LAST.c.problem, "").label("problem"), _M.body),
            *(_LAST.c.at.label("tried_at"), _M.next_attempt_at.label("next_at")),
        )
        .outerjoin(_LAST, sa.true())
        .where(_M.webhook_id == sa.bindparam("of")),
        sa.select(
            *(_E.message_id, _E.event, _E.made_at, _E.attempts, _E.over_at, _E.problem, _E.body),
            *(_E.over_at.label("tried_at"), sa.null().label("next_at")),
        ).where(_E.webhook_id == sa.bindparam("of")),
    )
    .order_by(sa.desc("made_at"), sa.desc("message_id"))
    .limit(MAX_EVENTS)
)


class WebhookEvents:
    """Events by webhook, the latest `MAX_EVENTS` of each."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def of(self, webhook_id: str) -> Sequence[Event]:
        """Returns the latest, the newest first."""
        rows = await self._tx.connection.execute(_OF, {"of": webhook_id})
        return [Event(*row) for row in rows]

    async def keep(self, message: WaitingMessage, problem: str) -> None:
        """Keeps a message that was delivered or given up; the oldest of its webhook goes."""
        values = {
            "message_id": message.message_id,
            "webhook_id": message.webhook_id,
            "event": message.event,
            "body": message.body,
            "made_at": message.made_at,
            "attempts": message.attempts + 1,
            "over_at": await self._tx.now(),
            "problem": problem,
        }
        # The webhook may have been removed meanwhile, and its events with it.
        there = sa.select(sa.literal(1)).where(
            sa.exists().where(_M.message_id == message.message_id)
        )
        if await self._tx.connection.scalar(there) is None:
            return
        await self._tx.connection.execute(
            insert(webhook_event)
            .values(**values)
            .on_conflict_do_update(index_elements=["message_id"], set_=values)
        )
        older = (
            sa.select(_E.message_id)
            .where(_E.webhook_id == message.webhook_id)
            .order_by(_E.over_at.desc(), _E.message_id)
            .offset(MAX_EVENTS)
        )
        await self._tx.connection.execute(sa.delete(webhook_event).where(_E.message_id.in_(older)))

    async def resend(self, webhook_id: str, message_id: str, now: datetime) -> str | None:
        """Queues one that is over once more, under its ID; returns its event, None for none.

        Its attempts go on being counted: the former ones stay in the list.
        """
        found = await self._tx.connection.execute(
            sa.delete(webhook_event)
            .where(_E.webhook_id == webhook_id, _E.message_id == message_id)
            .returning(_E.message_id, _E.event, _E.body, _E.attempts)
        )
        row = found.first()
        if row is None:
            return None
        await self._tx.connection.execute(
            sa.insert(webhook_message).values(
                message_id=row.message_id,
                webhook_id=webhook_id,
                event=row.event,
                body=row.body,
                attempts=row.attempts,
                made_at=now,
                next_attempt_at=now,
            )
        )
        await self._tx.changing(WEBHOOKS_CHANGED)
        return str(row.event)
