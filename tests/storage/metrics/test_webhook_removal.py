"""A webhook may be removed at the very moment at which a message of it is delivered."""

import asyncio
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.metrics.notifications.webhook import WaitingMessage, Webhook
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.shared.ids import fresh_id
from mudra.shared.secret_text import SecretText
from mudra.storage.tables.alarms import webhook_message

ROUNDS = 40
LATER = datetime(2099, 1, 1, tzinfo=UTC)
"""So that the jobs of the service leave these messages alone."""
SECRET = SecretText("not-a-real-secret-of-a-webhook")


async def kept(dependencies: Dependencies) -> WaitingMessage:
    """A webhook with a message that waits for it."""
    webhook = Webhook(fresh_id(), fresh_id(), "https://noc.example/", "operator:test", LATER)
    message_id = fresh_id()
    async with dependencies.database.transaction() as transaction:
        await Webhooks(transaction).add(webhook, SECRET)
        await transaction.connection.execute(
            sa.insert(webhook_message).values(
                message_id=message_id, webhook_id=webhook.webhook_id, body=b"{}", made_at=LATER,
                next_attempt_at=LATER, attempts=2,
            )
        )  # fmt: skip  # a row
    return WaitingMessage(
        message_id, webhook.webhook_id, webhook.url, SECRET, b"{}", LATER, attempts=1
    )


async def removed(dependencies: Dependencies, message: WaitingMessage) -> None:
    async with dependencies.database.transaction() as transaction:
        await Webhooks(transaction).remove(message.webhook_id, None)


async def settled(dependencies: Dependencies, message: WaitingMessage, number: int) -> None:
    async with dependencies.database.transaction() as transaction:
        webhooks = Webhooks(transaction)
        if number % 2:
            await webhooks.delivered(message)
        else:
            await webhooks.retry(message, "refused", timedelta(minutes=1))


def test_removal_and_delivery_at_once_never_block_one_another(service: Service) -> None:
    async def races(dependencies: Dependencies) -> int:
        for number in range(ROUNDS):
            message = await kept(dependencies)
            await asyncio.gather(
                removed(dependencies, message), settled(dependencies, message, number)
            )
        async with dependencies.database.transaction() as transaction:
            left = await transaction.connection.scalar(
                sa.select(sa.func.count()).where(webhook_message.c.made_at == LATER)
            )
        return int(left or 0)

    assert service.in_store(races) == 0
