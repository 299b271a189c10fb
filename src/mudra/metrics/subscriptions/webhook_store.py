"""The webhooks of public subscriptions in PostgreSQL.

Each has a row of `health_webhook`: its messages are delivered as those of alarms are.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.metrics.notifications.webhook import ASKED, GONE, WEBHOOKS_CHANGED, Webhook
from mudra.metrics.notifications.webhook_formats import Format
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.metrics.subscriptions.chat_subscription import format_of
from mudra.metrics.subscriptions.subscription import Subscription
from mudra.metrics.subscriptions.webhook_subscription import (
    ENDS_AFTER,
    MAX_WAITING_MESSAGES,
    Failing,
)
from mudra.shared.ids import fresh_id
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.alarms import health_webhook, webhook_message
from mudra.storage.tables.subscriptions import status_challenge, status_subscription

_S: Final = status_subscription.c
_W: Final = health_webhook.c
_M: Final = webhook_message.c
_C: Final = status_challenge.c
_MADE_BY: Final = "public"
_ENDS: Final = sa.or_(_W.gave_up_at >= _W.failing_since + ENDS_AFTER, _W.problem == GONE)
_TAKE_FAILING: Final = (
    sa.select(_S.subscription_id, _ENDS)
    .join(health_webhook, _W.subscription_id == _S.subscription_id)
    .where(_W.gave_up_at.is_not(None), sa.or_(_W.warned_at.is_(None), _ENDS))
    .limit(sa.bindparam("limit", type_=sa.Integer))
    .with_for_update(of=status_subscription, skip_locked=True)
)


class SubscriptionWebhooks:
    """Webhooks of subscriptions, their challenges and their failures."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def count_alone(self) -> None:
        """Let no other transaction count until this one ends."""
        await self._tx.lock_name("webhooks-of-subscriptions")

    async def opted_of(self, email: str) -> int:
        """Return how many webhooks an email address has confirmed."""
        return await self._count(_S.email == email, _S.opted_at.is_not(None))

    async def proven(self, host: str | None = None) -> int:
        """Return how many webhooks are proven, of a host or of all."""
        of_host = sa.true() if host is None else _S.host == host
        return await self._count(_S.url != "", _S.confirmed_at.is_not(None), of_host)

    async def challenges(
        self, since: datetime, *, email: str | None = None, host: str | None = None
    ) -> int:
        """Return how many challenges were sent, for an email address, to a host, or of all."""
        query = sa.select(sa.func.count()).select_from(status_challenge).where(_C.at > since)
        if email is not None:
            query = query.where(_C.email == email)
        if host is not None:
            query = query.where(_C.host == host)
        return int(await self._tx.connection.scalar(query) or 0)

    async def opt_in(self, subscription: Subscription, secret: SecretText) -> None:
        """Store that the email address is confirmed, and the key that signs messages."""
        now = await self._tx.now()
        await self._tx.connection.execute(
            sa.update(status_subscription)
            .where(_S.subscription_id == subscription.subscription_id)
            .values(opted_at=now, asked_at=now, waits=False)  # 48 hours from now on
        )
        webhook = Webhook(
            fresh_id(),
            "",
            subscription.url,
            _MADE_BY,
            now,
            subscription_id=subscription.subscription_id,
            format=format_of(subscription.url) or Format.STANDARD,
        )
        await Webhooks(self._tx).add(webhook, secret)

    async def key(self, subscription_id: str) -> SecretText | None:
        """Return the key of a subscription's webhook; None where there is none."""
        webhook_id = await self._tx.connection.scalar(
            sa.select(_W.webhook_id).where(_W.subscription_id == subscription_id)
        )
        if webhook_id is None:
            return None
        return await Webhooks(self._tx).secret(webhook_id)

    async def challenge(
        self,
        subscription: Subscription,
        host: str,
        event: str,
        body: bytes,
        chats: Mapping[Format, bytes],
    ) -> None:
        """Count a challenge, and queue it unless one is on its way."""
        now = await self._tx.now()
        await self._tx.connection.execute(
            sa.insert(status_challenge).values(
                challenge_id=fresh_id(), email=subscription.email, host=host, at=now
            )
        )
        if not await self._is_challenged(subscription.subscription_id):
            await self.post([subscription.subscription_id], event, body, chats)

    async def post(
        self,
        subscription_ids: Sequence[str],
        event: str,
        body: bytes,
        chats: Mapping[Format, bytes],
    ) -> None:
        """Queue a message for each webhook of these, unless too many wait for it."""
        now = await self._tx.now()
        waiting = sa.select(sa.func.count()).where(_M.webhook_id == _W.webhook_id).scalar_subquery()
        webhooks = await self._tx.connection.execute(
            sa.select(_W.webhook_id, _W.format).where(
                _W.subscription_id.in_(subscription_ids), waiting < MAX_WAITING_MESSAGES
            )
        )
        store = Webhooks(self._tx)
        for webhook_id, format_ in webhooks.all():
            await store.post_to(webhook_id, event, chats.get(Format(format_), body), now)
        await self._tx.changing(WEBHOOKS_CHANGED)

    async def take_failing(self, limit: int) -> Sequence[Failing]:
        """Take the subscriptions of which a message was given up: to warn of, or to end."""
        rows = await self._tx.connection.execute(_TAKE_FAILING, {"limit": limit})
        return [Failing(*row) for row in rows]

    async def warned(self, subscription_id: str) -> None:
        """Record that its owner was warned."""
        await self._tx.connection.execute(
            sa.update(health_webhook)
            .where(_W.subscription_id == subscription_id)
            .values(warned_at=await self._tx.now())
        )

    async def _is_challenged(self, subscription_id: str) -> bool:
        on_its_way = sa.exists().where(
            _M.webhook_id == _W.webhook_id,
            _M.event.in_(ASKED),
            _W.subscription_id == subscription_id,
        )
        return bool(await self._tx.connection.scalar(sa.select(on_its_way)))

    async def _count(self, *conditions: sa.ColumnElement[bool]) -> int:
        query = sa.select(sa.func.count()).select_from(status_subscription).where(*conditions)
        return int(await self._tx.connection.scalar(query) or 0)
