"""Deliver the letters of the outbox: at least once, with growing pauses (decisions 7)."""

import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from email.errors import MessageError
from typing import Final

import aiosmtplib
import structlog

from mudra.audit.event import Act, Caller, EventName, Outcome
from mudra.audit.ports import Journal
from mudra.mail.smtp import MailServer, message_of, send
from mudra.storage.outbox import Mail, PostgresOutbox

_log = structlog.get_logger()

_BATCH: Final = 20
_FIRST_PAUSE: Final = timedelta(seconds=15)
_LONGEST_PAUSE: Final = timedelta(hours=1)
_DOUBLINGS: Final = 10

OpenOutbox = Callable[[], AbstractAsyncContextManager[tuple[PostgresOutbox, Journal]]]


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
    message = message_of(mail.letter, server.sender, mail.mail_id, mail.created_at)
    error = await _attempt(send(server, message))
    caller = Caller("system:outbox", txn_id=mail.mail_id)
    async with open_outbox() as (outbox, journal):
        if error is None:
            await outbox.sent(mail.mail_id)
            await journal.note(Act(EventName.MAIL_LETTER_SEND, caller))
        else:
            await outbox.failed(mail.mail_id, error, _pause(mail.attempts))
            await journal.note(
                Act(EventName.MAIL_LETTER_SEND, caller, reason=error[:200], outcome=Outcome.FAILED)
            )
    count("sent" if error is None else "failed")
    if error is not None:
        _log.warning("mail not delivered", mail_id=mail.mail_id, error=error)


async def _attempt(sending: Awaitable[None]) -> str | None:
    try:
        await sending
    except (aiosmtplib.SMTPException, OSError, MessageError, ValueError) as error:
        return f"{type(error).__name__}: {error}"[:300]
    return None


def _pause(attempts: int) -> timedelta:
    """Grow twofold, with jitter, so that many mails do not come back together."""
    pause = min(_FIRST_PAUSE * 2 ** min(attempts, _DOUBLINGS), _LONGEST_PAUSE)
    return pause * random.uniform(0.75, 1.25)  # noqa: S311  # spreads load, hides nothing
