"""Deliver the emails of the outbox: at least once, with growing pauses."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.shared.email_message import StoredEmail
from mudra.storage.mail.outbox import Outbox

_BATCH: Final = 20


class Delivered(Struct, frozen=True):
    """The mail server has accepted the email and is responsible for it."""


class Undelivered(Struct, frozen=True):
    """The mail server has not accepted the email; `again` if a later attempt may help.

    Only what the server says finally about this email or its recipient is final. A
    wrong password or certificate of ours is not: an operator fixes it, and the email
    is sent then.
    """

    again: bool
    problem: str


OpenQueue = Callable[[], AbstractAsyncContextManager[tuple[Outbox, AuditLog]]]
Send = Callable[[StoredEmail], Awaitable[Delivered | Undelivered]]
Report = Callable[[StoredEmail, Delivered | Undelivered], None]


async def deliver_due(
    open_queue: OpenQueue,
    send: Send,
    pause_after: Callable[[int], timedelta],
    report: Report,
    delivered: set[str],
) -> None:
    """Send every email whose time has come, and report each outcome.

    Each is taken and settled in transactions of its own: a crash in between sends
    an email twice, never zero times. Where the database fails in between, the email's ID stays
    in `delivered`, which the process keeps from run to run: the next one records it first.
    """
    for mail_id in tuple(delivered):
        await _settle_delivered(mail_id, open_queue, delivered)
    while True:
        async with open_queue() as (queue, _):
            due = await queue.take_due(_BATCH)
        for mail in due:
            async with open_queue() as (queue, _):
                # A slow mail server may have held up the emails before it for minutes.
                if not await queue.still_taken(mail):
                    continue
            outcome = await send(mail)
            report(mail, outcome)
            if isinstance(outcome, Delivered):
                delivered.add(mail.mail_id)
                await _settle_delivered(mail.mail_id, open_queue, delivered)
            else:
                await _settle_undelivered(mail, outcome, open_queue, pause_after)
        if len(due) < _BATCH:
            return


async def _settle_delivered(mail_id: str, open_queue: OpenQueue, delivered: set[str]) -> None:
    async with open_queue() as (queue, audit_log):
        if await queue.sent(mail_id):
            await audit_log.append(AuditEntry(EventName.MAIL_LETTER_SEND, _caller(mail_id)))
    delivered.remove(mail_id)


async def _settle_undelivered(
    mail: StoredEmail,
    outcome: Undelivered,
    open_queue: OpenQueue,
    pause_after: Callable[[int], timedelta],
) -> None:
    again_in = pause_after(mail.attempts) if outcome.again else None
    event, caller = EventName.MAIL_LETTER_SEND, _caller(mail.mail_id)
    async with open_queue() as (queue, audit_log):
        await queue.failed(mail, outcome.problem, again_in)
        await audit_log.append(
            AuditEntry(event, caller, reason=outcome.problem, outcome=Outcome.FAILED)
        )


def _caller(mail_id: str) -> Caller:
    return Caller("system:outbox", txn_id=mail_id)
