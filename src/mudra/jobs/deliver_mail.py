"""Deliver the letters of the outbox: at least once, with growing pauses (decisions 7)."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

import structlog

from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.audit.ports import AuditLog
from mudra.jobs.retry_delay import pause_after
from mudra.mail.smtp import Delivered, MailServer, deliver
from mudra.storage.mail.outbox import Mail, PostgresOutbox

_log = structlog.get_logger()

_BATCH: Final = 20

OpenOutbox = Callable[[], AbstractAsyncContextManager[tuple[PostgresOutbox, AuditLog]]]


async def deliver_due(
    open_outbox: OpenOutbox, server: MailServer, count: Callable[[str], None]
) -> None:
    """Hand over every letter whose time has come.

    Each is taken and settled in transactions of its own: a crash between sends
    a letter twice, never zero times.
    """
    while True:
        async with open_outbox() as (outbox, _):
            due = await outbox.take_due(_BATCH)
        for mail in due:
            await _deliver(mail, open_outbox, server, count)
        if len(due) < _BATCH:
            return


async def _deliver(
    mail: Mail, open_outbox: OpenOutbox, server: MailServer, count: Callable[[str], None]
) -> None:
    outcome = await deliver(server, mail.letter, mail_id=mail.mail_id, written_at=mail.created_at)
    caller = Caller("system:outbox", txn_id=mail.mail_id)
    async with open_outbox() as (outbox, journal):
        if isinstance(outcome, Delivered):
            await outbox.sent(mail.mail_id)
            await journal.note(AuditEntry(EventName.MAIL_LETTER_SEND, caller))
        else:
            again_in = pause_after(mail.attempts) if outcome.again else None
            await outbox.failed(mail.mail_id, outcome.problem, again_in)
            await journal.note(
                AuditEntry(
                    EventName.MAIL_LETTER_SEND,
                    caller,
                    reason=outcome.problem,
                    outcome=Outcome.FAILED,
                )
            )
            _log.warning("mail not delivered", mail_id=mail.mail_id, problem=outcome.problem)
    count("sent" if isinstance(outcome, Delivered) else "failed")
