"""Webhooks in PostgreSQL, and the messages that wait for them."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.metrics.notifications.webhook import (
    ASKED,
    CHALLENGE,
    WEBHOOKS_CHANGED,
    Attempt,
    Event,
    Owner,
    WaitingMessage,
    Webhook,
)
from mudra.metrics.notifications.webhook_event_store import WebhookEvents
from mudra.metrics.notifications.webhook_formats import NO_CHATS, Format
from mudra.shared.ids import fresh_id
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.alarms import (
    health_webhook,
    webhook_attempt,
    webhook_message,
)
from mudra.storage.tables.identity import entity
from mudra.storage.tables.subscriptions import status_subscription

_PLACE: Final = ("health_webhook", "secret")
_PREVIOUS: Final = ("health_webhook", "previous")
_ATTEMPTS: Final = 20
_TAKEN_FOR: Final = timedelta(minutes=2)
"""A message claimed and not completed by then is claimed again: its sender has crashed.

By the database's own clock: the sandbox's can be moved while a message is on its way.
"""
_MAX_PROBLEM: Final = 200
_W: Final = health_webhook.c
_M: Final = webhook_message.c
_A: Final = webhook_attempt.c
_U: Final = status_subscription.c
_OF_ALARMS: Final = sa.and_(_W.user_id.is_(None), _W.subscription_id.is_(None))
"""Those of members and the network: no person's own, and none of the public."""
_IS_TAKEN: Final = sa.func.coalesce(_M.taken_until > sa.func.clock_timestamp(), sa.false())
_IS_DUE: Final = _M.next_attempt_at <= sa.bindparam("now")
_PLACES: Final = (
    sa.select(
        _M.message_id,
        sa.func.row_number()
        .over(
            partition_by=_M.webhook_id,
            order_by=(_IS_TAKEN.desc(), _M.next_attempt_at, _M.message_id),
        )
        .label("place"),
    )
    .where(_IS_DUE)
    .subquery()
)
"""Numbers the due messages of each webhook, those first that are on their way."""
_DUE: Final = (
    sa.select(
        _M.message_id, _M.webhook_id, _W.url, _W.sealed_secret, _M.body, _M.made_at, _M.attempts,
        _M.event, _W.sealed_previous, _W.previous_until, _W.subscription_id,
    )
    .join(health_webhook, _W.webhook_id == _M.webhook_id)
    .join(_PLACES, _PLACES.c.message_id == _M.message_id)
    .where(
        *(_PLACES.c.place <= sa.bindparam("at_once"), _IS_DUE),
        sa.or_(_M.taken_until.is_(None), _M.taken_until <= sa.func.clock_timestamp()),
    )
    .order_by(_M.next_attempt_at)
    .limit(sa.bindparam("limit", type_=sa.Integer))
    .with_for_update(skip_locked=True, of=webhook_message)
)  # fmt: skip  # in the order of WaitingMessage
_DUE_OF_PUBLIC: Final = _DUE.where(_W.subscription_id.is_not(None))
_DUE_OF_ALARMS: Final = _DUE.where(_W.subscription_id.is_(None))


class Webhooks:
    """Stored webhooks, and the messages that wait for delivery."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._encryption = transaction.encryption

    async def list(self, owner: Owner | None) -> Sequence[Webhook]:
        """Returns one owner's webhooks, or all but people's own for None; oldest first."""
        waiting = (
            sa.select(sa.func.count())
            .where(_M.webhook_id == _W.webhook_id)
            .correlate(health_webhook)
            .label("waiting")
        )
        tried = (
            sa.select(sa.func.max(_A.at))
            .where(_A.webhook_id == _W.webhook_id)
            .correlate(health_webhook)
            .label("tried_at")
        )
        following = (
            sa.select(sa.func.min(_M.next_attempt_at))
            .where(_M.webhook_id == _W.webhook_id)
            .correlate(health_webhook)
            .label("next_at")
        )
        query = sa.select(
            _W.webhook_id, _W.entity_id, _W.url, _W.made_by, _W.made_at, waiting, _W.delivered_at,
            _W.problem, _W.fips, _W.format, _W.previous_until, tried,
            following,
            sa.func.coalesce(sa.cast(_W.user_id, sa.Text), "").label("user_id"),
        ).where(_owned_by(owner)).order_by(_W.made_at, _W.webhook_id)  # fmt: skip
        found = await self._tx.connection.execute(query)
        return [
            Webhook(**{**row, "fips": tuple(row["fips"]), "format": Format(row["format"])})
            for row in found.mappings()
        ]

    async def add(self, webhook: Webhook, secret: SecretText) -> None:
        """Stores a new one with the key that signs its messages, encrypted."""
        await self._tx.connection.execute(
            sa.insert(health_webhook).values(
                webhook_id=webhook.webhook_id,
                entity_id=webhook.entity_id,
                url=webhook.url,
                sealed_secret=self._encryption.encrypt_text(secret, *_PLACE, webhook.webhook_id),
                made_by=webhook.made_by,
                made_at=webhook.made_at,
                fips=list(webhook.fips),
                format=webhook.format.value,
                user_id=webhook.user_id or None,
                subscription_id=webhook.subscription_id or None,
            )
        )

    async def events(self, webhook_id: str) -> Sequence[Event]:
        """Returns the latest events, waiting ones among them, the newest first."""
        return await WebhookEvents(self._tx).of(webhook_id)

    async def resend(self, webhook_id: str, message_id: str, now: datetime) -> str | None:
        """Queues an event that is kept once more, under its ID; None where none of it is."""
        return await WebhookEvents(self._tx).resend(webhook_id, message_id, now)

    async def secret(self, webhook_id: str) -> SecretText | None:
        """Returns the key of a webhook; None where there is none of this ID."""
        sealed = await self._tx.connection.scalar(
            sa.select(_W.sealed_secret).where(_W.webhook_id == webhook_id)
        )
        if sealed is None:
            return None
        return self._encryption.decrypt_text(sealed, *_PLACE, webhook_id)

    async def new_secret(
        self, webhook_id: str, secret: SecretText, previous_until: datetime
    ) -> None:
        """Replaces the key; until then the previous one signs as well."""
        sealed = await self._tx.connection.scalar(
            sa.select(_W.sealed_secret).where(_W.webhook_id == webhook_id).with_for_update()
        )
        if sealed is None:
            return
        previous = self._encryption.decrypt_text(sealed, *_PLACE, webhook_id)
        await self._tx.connection.execute(
            sa.update(health_webhook)
            .where(_W.webhook_id == webhook_id)
            .values(
                sealed_secret=self._encryption.encrypt_text(secret, *_PLACE, webhook_id),
                sealed_previous=self._encryption.encrypt_text(previous, *_PREVIOUS, webhook_id),
                previous_until=previous_until,
            )
        )

    async def remove(self, webhook_id: str, owner: Owner | None) -> Webhook | None:
        """Removes it with its messages; None when there is none, or it is another owner's."""
        found = [one for one in await self.list(owner) if one.webhook_id == webhook_id]
        if not found:
            return None
        await self._tx.connection.execute(
            sa.delete(health_webhook).where(_W.webhook_id == webhook_id)
        )
        return found[0]

    async def post(
        self, entity_ids: Sequence[str], body: bytes, now: datetime, *,
        event: str = "", to_network: bool = True, fip_id: str | None = None,
        chats: Mapping[Format, bytes] = NO_CHATS,
    ) -> None:  # fmt: skip
        """Queues one message for each webhook of these entities, if active, and of the network.

        And for each of an active FIU that names this FIP. `chats` has the bodies for chats; without
        them no chat gets the message, since a chat refuses what is not in its format.
        """
        concerned: sa.ColumnElement[bool] = _W.entity_id.in_(
            ["", *entity_ids] if to_network else [*entity_ids]
        )
        if fip_id is not None:
            concerned = sa.or_(concerned, _W.fips.contains([fip_id]))
        # A suspended or retired member reads no incidents by its tokens, nor by its webhooks.
        active = sa.select(entity.c.entity_id).where(entity.c.status == "active")
        allowed = sa.or_(_W.entity_id == "", _W.entity_id.in_(active))
        concerned = sa.and_(concerned, allowed, _OF_ALARMS)
        if not chats:
            concerned = sa.and_(concerned, _W.format == Format.STANDARD.value)
        webhooks = await self._tx.connection.execute(
            sa.select(_W.webhook_id, _W.format).where(concerned)
        )
        await self._queue(
            [
                _message(webhook_id, event, chats.get(Format(format_), body), now)
                for webhook_id, format_ in webhooks
            ]
        )

    async def post_to(self, webhook_id: str, event: str, body: bytes, now: datetime) -> None:
        """Queues one message for this webhook."""
        await self._queue([_message(webhook_id, event, body, now)])

    async def has_waiting(self, webhook_id: str, event: str) -> bool:
        """Returns whether a message of this event waits for delivery."""
        # Two tests at once wait for each other.
        await self._tx.connection.execute(
            sa.select(_W.webhook_id).where(_W.webhook_id == webhook_id).with_for_update()
        )
        waiting = sa.exists().where(_M.webhook_id == webhook_id, _M.event == event)
        return bool(await self._tx.connection.scalar(sa.select(waiting)))

    async def attempts(self, webhook_id: str) -> Sequence[Attempt]:
        """Returns the latest deliveries and failures, the newest first."""
        rows = await self._tx.connection.execute(
            sa.select(_A.at, _A.message_id, _A.event, _A.number, _A.problem)
            .where(_A.webhook_id == webhook_id)
            .order_by(*_NEWEST)
            .limit(_ATTEMPTS)
        )
        return [Attempt(*row) for row in rows]

    async def _queue(self, rows: Sequence[Mapping[str, object]]) -> None:
        if rows:
            await self._tx.connection.execute(sa.insert(webhook_message), rows)
            await self._tx.changing(WEBHOOKS_CHANGED)

    async def take_due(
        self, limit: int, now: datetime, *, at_once_to_one: int, of_public: bool
    ) -> Sequence[WaitingMessage]:
        """Takes due messages of alarms or of the public, so that no other process delivers them.

        Of one webhook so many that `at_once_to_one` are on their way to it, by all processes.
        """
        due = _DUE_OF_PUBLIC if of_public else _DUE_OF_ALARMS
        values = {"now": now, "at_once": at_once_to_one, "limit": limit}
        rows = (await self._tx.connection.execute(due, values)).all()
        if rows:
            await self._tx.connection.execute(
                sa.update(webhook_message)
                .where(_M.message_id.in_([row[0] for row in rows]))
                .values(
                    taken_until=sa.func.clock_timestamp() + _TAKEN_FOR, attempts=_M.attempts + 1
                )
            )
        return [
            WaitingMessage(
                *row[:3],
                self._encryption.decrypt_text(row[3], *_PLACE, row[1]),
                *row[4:8],
                previous=self._encryption.decrypt_text(row[8], *_PREVIOUS, row[1])
                if row[8] is not None and row[9] > now
                else None,
                subscription_id=row[10] or "",
            )
            for row in rows
        ]

    async def still_taken(self, message: WaitingMessage) -> bool:
        """Extends the claim; returns False when another node took the message, or it is gone."""
        claims = await self._tx.connection.execute(
            sa.update(webhook_message)
            .where(_claimed(message))
            .values(taken_until=sa.func.clock_timestamp() + _TAKEN_FOR)
        )
        return claims.rowcount == 1

    async def delivered(self, message: WaitingMessage) -> None:
        """Deletes a delivered message; a challenge activates the subscription."""
        now = await self._tx.now()
        if message.subscription_id and message.event == CHALLENGE:
            # Before the webhook: an end locks the two in this order.
            await self._tx.connection.execute(
                sa.update(status_subscription)
                .where(_U.subscription_id == message.subscription_id, _U.confirmed_at.is_(None))
                .values(confirmed_at=now)
            )
        good = dict.fromkeys(("failing_since", "gave_up_at", "warned_at"))
        await self._update_webhook(message, "", delivered_at=now, **good)
        await self._complete(message, "")

    async def retry(self, message: WaitingMessage, problem: str, in_: timedelta) -> None:
        """Stores why a delivery failed, and when to try again."""
        await self._update_webhook(message, problem[:_MAX_PROBLEM], **await self._failing(message))
        await self._tx.connection.execute(
            sa.update(webhook_message)
            .where(_claimed(message))
            .values(next_attempt_at=await self._tx.now() + in_, taken_until=None)
        )

    async def give_up(self, message: WaitingMessage, problem: str) -> None:
        """Stores why a delivery failed, and deletes the message."""
        failing = await self._failing(message)
        if failing:
            failing["gave_up_at"] = await self._tx.now()
        await self._update_webhook(message, problem[:_MAX_PROBLEM], **failing)
        await self._complete(message, problem[:_MAX_PROBLEM])

    async def _failing(self, message: WaitingMessage) -> dict[str, object]:
        """Returns since when a subscription's address fails; one that is not proven never did."""
        if not message.subscription_id or message.event in ASKED:
            return {}
        return {"failing_since": sa.func.coalesce(_W.failing_since, await self._tx.now())}

    async def _update_webhook(
        self, message: WaitingMessage, problem: str, **values: object
    ) -> None:
        # Always before the message itself: a removal locks the two in this order.
        updated = await self._tx.connection.execute(
            sa.update(health_webhook)
            .where(_W.webhook_id == message.webhook_id)
            .values(problem=problem, **values)
        )
        if updated.rowcount == 0:
            return
        await self._tx.connection.execute(
            insert(webhook_attempt)
            .values(
                message_id=message.message_id,
                number=message.attempts + 1,
                webhook_id=message.webhook_id,
                event=message.event,
                at=await self._tx.now(),
                problem=problem,
            )
            .on_conflict_do_nothing()
        )
        older = (
            sa.select(_A.message_id, _A.number)
            .where(_A.webhook_id == message.webhook_id)
            .order_by(*_NEWEST)
            .offset(_ATTEMPTS)
        )
        await self._tx.connection.execute(
            sa.delete(webhook_attempt).where(sa.tuple_(_A.message_id, _A.number).in_(older))
        )

    async def _complete(self, message: WaitingMessage, problem: str) -> None:
        """Deletes a message; of alarms its event is kept, to be sent again."""
        if not message.subscription_id:
            await WebhookEvents(self._tx).keep(message, problem)
        await self._tx.connection.execute(
            sa.delete(webhook_message).where(_M.message_id == message.message_id)
        )


_NEWEST: Final = (_A.at.desc(), _A.message_id, _A.number.desc())


def _owned_by(owner: Owner | None) -> sa.ColumnElement[bool]:
    if owner is None:
        return _OF_ALARMS
    if owner.user_id:
        return _W.user_id == owner.user_id
    return sa.and_(_OF_ALARMS, _W.entity_id == owner.entity_id)


def _message(webhook_id: str, event: str, body: bytes, now: datetime) -> dict[str, object]:
    return {
        "message_id": fresh_id(),
        "webhook_id": webhook_id,
        "event": event,
        "body": body,
        "made_at": now,
        "next_attempt_at": now,
    }


def _claimed(message: WaitingMessage) -> sa.ColumnElement[bool]:
    """Matches the message unless another node has claimed it since."""
    return sa.and_(_M.message_id == message.message_id, _M.attempts == message.attempts + 1)
