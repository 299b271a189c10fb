"""Deliver the messages of webhooks: at least once, with growing pauses, for a day."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Final

import structlog

from mudra.jobs.retry_delay import pause_after
from mudra.storage.metrics.alarms import PostgresWebhooks, WaitingMessage
from mudra.webhook.reach import Reach

_log = structlog.get_logger()

_BATCH: Final = 20

OpenWebhooks = Callable[[], AbstractAsyncContextManager[tuple[PostgresWebhooks, datetime]]]
"""Opens a transaction, and gives its time."""


async def deliver_messages(
    open_webhooks: OpenWebhooks, reach: Reach, count: Callable[[str], None]
) -> None:
    """Send every message whose time has come, some at once, so that a slow one delays few.

    Each is taken and settled in transactions of its own: a crash between sends
    it twice, under the same `webhook-id`, never zero times.
    """
    while True:
        async with open_webhooks() as (webhooks, _):
            taken = await webhooks.take_due(_BATCH)
        await asyncio.gather(*(_deliver(one, open_webhooks, reach, count) for one in taken))
        if len(taken) < _BATCH:
            return


async def _deliver(
    message: WaitingMessage,
    open_webhooks: OpenWebhooks,
    reach: Reach,
    count: Callable[[str], None],
) -> None:
    # Imported with the first message: most services never send one.
    from mudra.webhook.send import Taken, send  # noqa: PLC0415
    from mudra.webhook.sign import signed_headers  # noqa: PLC0415

    async with open_webhooks() as (_, now):
        headers = signed_headers(message.secret, message.message_id, now, message.body)
    outcome = await send(message.url, message.body, headers, reach)
    async with open_webhooks() as (webhooks, _):
        if isinstance(outcome, Taken):
            await webhooks.delivered(message)
            count("sent")
            return
        again = await webhooks.failed(message, outcome.problem, pause_after(message.attempts))
    count("failed" if again else "given up")
    _log.warning(
        "webhook message not delivered",
        webhook_id=message.webhook_id,
        message_id=message.message_id,
        problem=outcome.problem,
        again=again,
    )
