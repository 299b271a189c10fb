"""Delivers webhook messages at least once: retries with growing pauses, for a day."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Final, Protocol

from msgspec import Struct

from mudra.metrics.notifications.webhook import WaitingMessage
from mudra.metrics.ports import WebhookMessages

BATCH: Final = 20
WEBHOOKS_CHANGED: Final = "webhooks"
"""The change that storage announces when messages were queued."""
GIVE_UP_AFTER: Final = timedelta(hours=24)


class Delivery(Struct, frozen=True):
    """The result of one attempt: `problem` is empty when the message was delivered."""

    message: WaitingMessage
    problem: str
    gave_up: bool


class MessagesUnitOfWork(Protocol):
    """One transaction."""

    @property
    def messages(self) -> WebhookMessages:
        """The messages."""
        ...

    @property
    def now(self) -> datetime:
        """The time of the transaction."""
        ...


OpenMessages = Callable[[], AbstractAsyncContextManager[MessagesUnitOfWork]]
Post = Callable[[WaitingMessage, datetime], Awaitable[str]]
"""Signs and posts a message; returns why it failed, or nothing."""


async def deliver_messages(
    open_work: OpenMessages,
    post: Post,
    pause_after: Callable[[int], timedelta],
    report: Callable[[Delivery], None],
) -> None:
    """Delivers every due message, several at once, so that a slow receiver delays few.

    Each is claimed and completed in separate transactions: a crash in between delivers it twice,
    with the same `webhook-id`, never zero times.
    """

    async def deliver(message: WaitingMessage) -> None:
        async with open_work() as work:
            now = work.now
        problem = await post(message, now)
        async with open_work() as work:
            pause = pause_after(message.attempts)
            gave_up = work.now + pause > message.made_at + GIVE_UP_AFTER
            if not problem:
                await work.messages.delivered(message)
            elif gave_up:
                await work.messages.give_up(message, problem)
            else:
                await work.messages.retry(message, problem, pause)
        report(Delivery(message, problem, bool(problem) and gave_up))

    while True:
        async with open_work() as work:
            claimed = await work.messages.take_due(BATCH)
        await asyncio.gather(*map(deliver, claimed))
        if len(claimed) < BATCH:
            return
