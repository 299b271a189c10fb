"""Delivers webhook messages at least once: retries with growing pauses, for a day."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.metrics.maintenance import OpenMaintenance
from mudra.metrics.notifications.webhook import WaitingMessage
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.shared.waiting.fair_queue import Queue

AT_ONCE: Final = 20
"""Messages on their way at a time."""
AT_ONCE_TO_ONE: Final = 2
"""Of them to one webhook: a receiver that answers late must not take the places of others."""
GIVE_UP_AFTER: Final = timedelta(hours=24)
_AT_DATABASE: Final = 4
"""Transactions at a time: a batch that ends at once must not wait for connections in vain."""
_COMPLETE_AGAIN_S: Final = (0.2, 1.0, 3.0, 10.0, 30.0)
"""Pauses until a post is recorded again: less in all than the two minutes of a claim."""


class Delivery(Struct, frozen=True):
    """The result of one attempt: `problem` is empty when the message was delivered."""

    message: WaitingMessage
    problem: str
    gave_up: bool


Post = Callable[[WaitingMessage, datetime], Awaitable[str]]
"""Signs and posts a message; returns why it failed, or nothing."""


async def deliver_messages(
    open_work: OpenMaintenance,
    post: Post,
    pause_after: Callable[[int], timedelta],
    report: Callable[[Delivery], None],
    *,
    of_public: bool = False,
) -> None:
    """Delivers every due message, several at once; a slow receiver delays its own alone.

    `of_public` are those of subscriptions: apart, so that they delay no alarm.
    Each is claimed and completed in separate transactions: a process that dies in between, or a
    receiver that answers too late, gets it again with the same `webhook-id`, never zero times.
    A database that is away for a moment only delays the completion.
    """
    at_database = Queue(_AT_DATABASE)

    async def deliver(message: WaitingMessage) -> None:
        async with at_database.turn(), open_work() as work:
            if not await work.messages.still_taken(message):
                return
            now = work.now
        fault = None
        try:
            problem = await post(message, now)
        except Exception as error:  # noqa: BLE001  # raised again once the attempt is recorded
            fault, problem = error, f"the call failed: {type(error).__name__}"
        async with at_database.turn():
            delivery = await _complete(open_work, message, problem, pause_after(message.attempts))
        report(delivery)
        if fault is not None:
            raise fault

    async def take(places: int) -> set[asyncio.Task[None]]:
        async with open_work() as work:
            claimed = await work.messages.take_due(
                places, work.now, at_once_to_one=AT_ONCE_TO_ONE, of_public=of_public
            )
        return {asyncio.create_task(deliver(one)) for one in claimed}

    await _all_done(take)


async def _all_done(take: Callable[[int], Awaitable[set[asyncio.Task[None]]]]) -> None:
    """Start what is due whenever places get free, until nothing is; raises the first failure."""
    failures: list[BaseException] = []
    running: set[asyncio.Task[None]] = set()
    is_taking = True
    try:
        while True:
            if is_taking and len(running) < AT_ONCE:
                try:
                    running |= await take(AT_ONCE - len(running))
                except Exception as error:  # noqa: BLE001  # raised again once all are completed
                    failures.append(error)
                    is_taking = False
            if not running:
                break
            ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            # One that fails must not leave others posted but not completed, nor stop those due.
            failures += [failure for one in ended if (failure := one.exception()) is not None]
    finally:
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    if failures:
        raise failures[0]


async def _complete(
    open_work: OpenMaintenance, message: WaitingMessage, problem: str, pause: timedelta
) -> Delivery:
    """Records the result of a post; without it the receiver would get the message again."""
    pauses_s = iter(_COMPLETE_AGAIN_S)
    while True:
        try:
            async with open_work() as work:
                late = work.now + pause > message.made_at + GIVE_UP_AFTER
                gave_up = late or message.is_final(problem)
                if not problem:
                    await work.messages.delivered(message)
                elif gave_up:
                    await work.messages.give_up(message, problem)
                else:
                    await work.messages.retry(message, problem, pause)
            return Delivery(message, problem, bool(problem) and gave_up)
        except DatabaseUnavailable:
            pause_s = next(pauses_s, None)
            if pause_s is None:
                raise
            await asyncio.sleep(pause_s)
