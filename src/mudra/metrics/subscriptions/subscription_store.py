"""Subscriptions to the public status in PostgreSQL, and the news that they are sent."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.identity.accounts.email_link import token_hash
from mudra.metrics.subscriptions.chat_subscription import counted_by
from mudra.metrics.subscriptions.public_news import News, NewsState
from mudra.metrics.subscriptions.subscription import (
    KEPT_ONCE_MAILED,
    LATE,
    MAX_WAITING,
    Crowd,
    Subscription,
)
from mudra.metrics.subscriptions.webhook_store import SubscriptionWebhooks
from mudra.shared.ids import fresh_id
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.announcements import status_announcement
from mudra.storage.tables.subscriptions import status_news, status_subscription

SUBSCRIPTION_ASKED: Final = "subscription"
_S: Final = status_subscription.c
_N: Final = status_news.c
_A: Final = status_announcement.c
_TAKE_NEWS: Final = (
    sa.select(status_news)
    .where(sa.not_(_N.done))
    .order_by(_N.at, _N.incident_id)
    .limit(1)
    .with_for_update(skip_locked=True)
)
_STATES: Final = sa.select(_N.incident_id, _N.state)
_OLDEST_ASKED: Final = (
    sa.select(_S.subscription_id)
    .where(_S.waits, _S.confirmed_at.is_(None))
    .order_by(_S.asked_at)
    .limit(sa.bindparam("at_most", type_=sa.Integer))
    .with_for_update(skip_locked=True)
    .scalar_subquery()
)
_TAKE_ASKED: Final = (
    sa.update(status_subscription)
    .where(_S.subscription_id.in_(_OLDEST_ASKED))
    .values(waits=False)
    .returning(status_subscription)
)
_CONFIRMATIONS: Final = sa.select(sa.func.coalesce(sa.func.sum(_S.confirmations), 0)).where(
    _S.mailed_at > sa.bindparam("since")
)
_CONFIRMATIONS_OF: Final = _CONFIRMATIONS.where(_S.email == sa.bindparam("email"))
_ANY_SUBSCRIPTION: Final = sa.exists(sa.select(_S.subscription_id))
_ANY_NEWS: Final = sa.exists().where(sa.not_(_N.done))
_PLACE: Final = ("status_subscription", "sealed_token")


class NewsStore:
    """One row for each incident that was announced."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def states(self) -> Mapping[str, NewsState]:
        """Return the last announced state of each incident by its ID."""
        rows = await self._tx.connection.execute(_STATES)
        return {incident_id: NewsState(state) for incident_id, state in rows}

    async def put(self, news: Sequence[News]) -> None:
        """Record states to be announced from now on, to all from the first."""
        for one in news:
            values = {
                "fip_id": one.fip_id,
                "codes": one.codes,
                "state": one.state.value,
                "began": one.began,
                "ended": one.ended,
                "at": one.at,
                "after": None,
                "done": False,
            }
            await self._tx.connection.execute(
                insert(status_news)
                .values(incident_id=one.incident_id, **values)
                .on_conflict_do_update(index_elements=["incident_id"], set_=values)
            )

    async def take(self) -> News | None:
        """Take one whose emails are not all written, so that no other process takes it."""
        found = await self._tx.connection.execute(_TAKE_NEWS)
        row = found.mappings().first()
        if row is None:
            return None
        return News(
            row["incident_id"],
            row["fip_id"],
            row["codes"],
            NewsState(row["state"]),
            row["began"],
            row["ended"],
            row["at"],
            row["after"] or "",
        )

    async def advance(self, incident_id: str, after: str, *, done: bool) -> None:
        """Record the last subscription that was written to."""
        await self._tx.connection.execute(
            sa.update(status_news)
            .where(_N.incident_id == incident_id)
            .values(after=after or None, done=done)
        )


class Subscriptions:
    """The subscriptions, with addresses in plain text as accounts have them; tokens encrypted."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._encryption = transaction.encryption

    @property
    def news(self) -> NewsStore:
        """Return what was announced to them."""
        return NewsStore(self._tx)

    @property
    def webhooks(self) -> SubscriptionWebhooks:
        """Return the webhooks of those that have one."""
        return SubscriptionWebhooks(self._tx)

    async def now(self) -> datetime:
        """Return the time of the transaction."""
        return await self._tx.now()

    async def ask(
        self, email: str, fip_id: str, language: str, token: SecretText, url: str
    ) -> None:
        """Store a request, by the same statements whatever is known of the address."""
        subscription_id, now = fresh_id(), await self._tx.now()
        if not await self._has_room(now):
            return
        sealed = self._encryption.encrypt_text(token, *_PLACE, subscription_id)
        asked = insert(status_subscription).values(
            subscription_id=subscription_id,
            email=email,
            fip_id=fip_id,
            language=language,
            token_hash=token_hash(token),
            sealed_token=sealed,
            waits=True,
            asked_at=now,
            url=url,
            host=counted_by(url),
        )
        await self._tx.connection.execute(
            asked.on_conflict_do_update(
                index_elements=["email", "fip_id", "url"],
                set_={"asked_at": now, "language": language, "waits": True},
                where=_S.confirmed_at.is_(None),
            )
        )
        await self._tx.changing(SUBSCRIPTION_ASKED)

    async def _has_room(self, now: datetime) -> bool:
        """Make room for one more where there is none: the oldest goes, those answered first."""
        unconfirmed = sa.select(sa.func.count()).where(_S.confirmed_at.is_(None))
        if (await self._tx.connection.scalar(unconfirmed) or 0) < MAX_WAITING:
            return True
        oldest = (
            sa.select(_S.subscription_id)
            .where(
                _S.confirmed_at.is_(None),
                _S.opted_at.is_(None),
                sa.func.coalesce(_S.mailed_at <= now - KEPT_ONCE_MAILED, sa.true()),
            )
            .order_by(_S.waits, _S.asked_at)
            .limit(1)
            .with_for_update(skip_locked=True)
            .scalar_subquery()
        )
        gone = await self._tx.connection.execute(
            sa.delete(status_subscription).where(_S.subscription_id == oldest)
        )
        return gone.rowcount == 1

    async def crowd(self) -> Crowd | None:
        """Return that more ask than are answered; None while each has its email in time."""
        asked, waits = sa.func.min(_S.asked_at), _S.waits.is_(True)
        found = await self._tx.connection.execute(
            sa.select(
                sa.func.count(), asked, sa.func.count().filter(waits), asked.filter(waits)
            ).where(_S.confirmed_at.is_(None))
        )
        unconfirmed, first, waiting, since = found.one()
        is_full = unconfirmed >= MAX_WAITING
        is_late = since is not None and since <= await self._tx.now() - LATE
        return Crowd(waiting, since or first, is_full) if is_full or is_late else None

    async def take_asked(self, limit: int) -> Sequence[Subscription]:
        """Take unconfirmed ones whose request was not answered yet, and mark them answered."""
        rows = await self._tx.connection.execute(_TAKE_ASKED, {"at_most": limit})
        return [self._read(row) for row in rows.mappings()]

    async def confirmations_since(self, since: datetime, *, email: str | None = None) -> int:
        """Return how many emails asked this address for a confirmation, or all; or a few more."""
        counted = _CONFIRMATIONS if email is None else _CONFIRMATIONS_OF
        values = {"since": since, "email": email}
        return int(await self._tx.connection.scalar(counted, values) or 0)

    async def confirmation_sent(self, subscription_id: str) -> None:
        """Record that an email asked for the confirmation."""
        await self._change(
            subscription_id, mailed_at=await self._tx.now(), confirmations=_S.confirmations + 1
        )

    async def find(self, token: SecretText) -> Subscription | None:
        """Return the subscription of a link and hold its lock for this transaction."""
        found = await self._tx.connection.execute(
            sa.select(status_subscription)
            .where(_S.token_hash == token_hash(token))
            .with_for_update()
        )
        row = found.mappings().first()
        return self._read(row) if row else None

    async def find_by_id(self, subscription_id: str) -> Subscription | None:
        """Return the subscription of this ID and hold its lock for this transaction."""
        found = await self._tx.connection.execute(
            sa.select(status_subscription)
            .where(_S.subscription_id == subscription_id)
            .with_for_update()
        )
        row = found.mappings().first()
        return self._read(row) if row else None

    async def of(self, subscription_id: str) -> Subscription:
        """Return one that is locked by this transaction."""
        found = await self._tx.connection.execute(
            sa.select(status_subscription).where(_S.subscription_id == subscription_id)
        )
        return self._read(found.mappings().one())

    async def confirm(self, subscription_id: str) -> None:
        """Record that the owner of the address confirmed it."""
        await self._change(subscription_id, confirmed_at=await self._tx.now(), waits=False)

    async def end(self, subscription_id: str) -> None:
        """Delete it."""
        await self._tx.connection.execute(
            sa.delete(status_subscription).where(_S.subscription_id == subscription_id)
        )

    async def is_anything_due(self) -> bool:
        """Return whether there is a subscription, or news or an announcement not sent to all."""
        announced = sa.exists().where(sa.not_(_A.done), _A.publish_at <= self._tx.this_moment)
        due = sa.or_(_ANY_SUBSCRIPTION, _ANY_NEWS, announced)
        return bool(await self._tx.connection.scalar(sa.select(due)))

    async def confirmed(
        self, fip_ids: Sequence[str], before: datetime, after: str, limit: int
    ) -> Sequence[Subscription]:
        """Return those to these institutions or to all, one for each address, by their IDs."""
        other = status_subscription.alias("other")
        query = sa.select(status_subscription).where(
            _concerns(status_subscription, fip_ids, before),
            # Of several of one address the first is written to.
            ~sa.exists().where(
                other.c.email == _S.email,
                other.c.url == _S.url,
                other.c.subscription_id < _S.subscription_id,
                _concerns(other, fip_ids, before),
            ),
        )
        if after:
            query = query.where(_S.subscription_id > after)
        rows = await self._tx.connection.execute(query.order_by(_S.subscription_id).limit(limit))
        return [self._read(row) for row in rows.mappings()]

    async def _change(self, subscription_id: str, **values: object) -> None:
        await self._tx.connection.execute(
            sa.update(status_subscription)
            .where(_S.subscription_id == subscription_id)
            .values(**values)
        )

    def _read(self, row: sa.RowMapping) -> Subscription:
        subscription_id = row["subscription_id"]
        sealed = bytes(row["sealed_token"])
        return Subscription(
            subscription_id,
            row["email"],
            row["fip_id"],
            row["language"],
            self._encryption.decrypt_text(sealed, *_PLACE, subscription_id),
            row["asked_at"],
            row["confirmed_at"],
            row["url"],
            row["opted_at"],
        )


def _concerns(
    table: sa.FromClause, fip_ids: Sequence[str], before: datetime
) -> sa.ColumnElement[bool]:
    confirmed = table.c.confirmed_at <= before
    return sa.and_(confirmed, table.c.fip_id.in_(["", *fip_ids])) if fip_ids else confirmed
