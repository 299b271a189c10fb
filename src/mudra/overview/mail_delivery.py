"""Deliver the emails of the outbox: at least once, with growing pauses."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.shared.mail.email_message import StoredEmail
from mudra.storage.database.transaction import OpenTransaction
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


Send = Callable[[StoredEmail], Awaitable[Delivered | Undelivered]]
Report = Callable[[StoredEmail, Delivered | Undelivered], None]


async def deliver_due(
    open_tx: OpenTransaction,
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
        await _settle_delivered(mail_id, open_tx, delivered)
    while True:
        async with open_tx() as tx:
            due = await tx.service(Outbox).take_due(_BATCH)
        for mail in due:
            async with open_tx() as tx:
                # A slow mail server may have held up the emails before it for minutes.
                if not await tx.service(Outbox).still_taken(mail):
                    continue
            outcome = await send(mail)
            report(mail, outcome)
            if isinstance(outcome, Delivered):
                delivered.add(mail.mail_id)
                await _settle_delivered(mail.mail_id, open_tx, delivered)
            else:
                await _settle_undelivered(mail, outcome, open_tx, pause_after)
        if len(due) < _BATCH:
            return


async def _settle_delivered(mail_id: str, open_tx: OpenTransaction, delivered: set[str]) -> None:
    async with open_tx() as tx:
        if await tx.service(Outbox).sent(mail_id):
            await AuditLog(tx).append(AuditEntry(EventName.MAIL_LETTER_SEND, _caller(mail_id)))
    delivered.remove(mail_id)


async def _settle_undelivered(
    mail: StoredEmail,
    outcome: Undelivered,
    open_tx: OpenTransaction,
    pause_after: Callable[[int], timedelta],
) -> None:
    again_in = pause_after(mail.attempts) if outcome.again else None
    event, caller = EventName.MAIL_LETTER_SEND, _caller(mail.mail_id)
    async with open_tx() as tx:
        await tx.service(Outbox).failed(mail, outcome.problem, again_in)
        await AuditLog(tx).append(
            AuditEntry(event, caller, reason=outcome.problem, outcome=Outcome.FAILED)
        )


def _caller(mail_id: str) -> Caller:
    return Caller("system:outbox", txn_id=mail_id)
