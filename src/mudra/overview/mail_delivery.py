"""Deliver the emails of the outbox: at least once, with growing pauses (decisions 7)."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Final, Protocol

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.audit.ports import AuditLog
from mudra.overview.mail_queue import StoredEmail

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


class DeliveryQueue(Protocol):
    """The outbox as its sender sees it."""

    async def take_due(self, limit: int) -> Sequence[StoredEmail]:
        """Take emails whose time has come, so that no other sender takes them."""
        ...

    async def still_taken(self, mail: StoredEmail) -> bool:
        """Extend the claim; returns False when another node took the email, or it is gone."""
        ...

    async def sent(self, mail_id: str) -> None:
        """Record that an email was delivered."""
        ...

    async def failed(self, mail: StoredEmail, error: str, again_in: timedelta | None) -> None:
        """Record a failure, and when to try again (None: never)."""
        ...


OpenQueue = Callable[[], AbstractAsyncContextManager[tuple[DeliveryQueue, AuditLog]]]
Send = Callable[[StoredEmail], Awaitable[Delivered | Undelivered]]
Report = Callable[[StoredEmail, Delivered | Undelivered], None]


async def deliver_due(
    open_queue: OpenQueue, send: Send, pause_after: Callable[[int], timedelta], report: Report
) -> None:
    """Send every email whose time has come, and report each outcome.

    Each is taken and settled in transactions of its own: a crash in between sends
    an email twice, never zero times.
    """
    while True:
        async with open_queue() as (queue, _):
            due = await queue.take_due(_BATCH)
        for mail in due:
            async with open_queue() as (queue, _):
                # A slow mail server may have held up the emails before it for minutes.
                if not await queue.still_taken(mail):
                    continue
            outcome = await send(mail)
            async with open_queue() as (queue, audit_log):
                await _settle(mail, outcome, queue, audit_log, pause_after)
            report(mail, outcome)
        if len(due) < _BATCH:
            return


async def _settle(
    mail: StoredEmail,
    outcome: Delivered | Undelivered,
    queue: DeliveryQueue,
    audit_log: AuditLog,
    pause_after: Callable[[int], timedelta],
) -> None:
    caller = Caller("system:outbox", txn_id=mail.mail_id)
    if isinstance(outcome, Delivered):
        await queue.sent(mail.mail_id)
        await audit_log.append(AuditEntry(EventName.MAIL_LETTER_SEND, caller))
        return
    again_in = pause_after(mail.attempts) if outcome.again else None
    await queue.failed(mail, outcome.problem, again_in)
    await audit_log.append(
        AuditEntry(
            EventName.MAIL_LETTER_SEND, caller, reason=outcome.problem, outcome=Outcome.FAILED
        )
    )
