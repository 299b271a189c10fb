"""Timed emails and alarms: reminders of secrets, guessed passwords, undelivered email."""

from collections.abc import Callable

import structlog

from mudra.identity.accounts.send_link import send_requested_links
from mudra.identity.sign_in.guessing import is_alarming, notify_guessed_users, recent_failures
from mudra.identity.sign_in.throttle import ADDRESS_PERIOD
from mudra.jobs.retry_delay import pause_after
from mudra.overview.mail_delivery import Delivered, OpenQueue, Send, Undelivered, deliver_due
from mudra.overview.mail_queue import MailAlarms, StoredEmail
from mudra.tokens.reminders.remind import LOOK_AHEAD, LOOK_BACK, remind
from mudra.unit_of_work import OpenUnitOfWork

_log = structlog.get_logger()


async def notify_people(open_work: OpenUnitOfWork) -> None:
    """Notifies users of failed sign-ins, and members of what they are reminded of.

    The reminders of one entity are in one transaction.
    """
    async with open_work() as work:
        await notify_guessed_users(work)
        now = await work.people.now()
        candidates = await work.reminders.candidates(now + LOOK_AHEAD, now - LOOK_BACK)
    for entity_id in candidates:
        async with open_work() as work:
            await remind(
                entity_id,
                secrets=work.secrets,
                uses=work.uses,
                reminders=work.reminders,
                notices=work.notices,
                audit_log=work.audit_log,
            )


async def raise_mail_alarms(open_work: OpenUnitOfWork) -> MailAlarms:
    """Logs each email once that cannot be delivered; returns what is wrong with the outbox."""
    async with open_work() as work:
        found = await work.mail_queue.raise_alarms()
    for mail_id in found.new:
        _log.error("mail cannot be delivered", mail_id=mail_id, remedy="mudra mail list --failed")
    return found


async def watch_sign_ins(open_work: OpenUnitOfWork) -> int:
    """Raises an alarm while many sign-ins fail; returns how many."""
    async with open_work() as work:
        failures = await recent_failures(work)
    if is_alarming(failures):
        _log.error(
            "many failed sign-ins",
            failures=failures,
            minutes=int(ADDRESS_PERIOD.total_seconds() // 60),
            remedy="look for user:sign_in:refuse in the audit, by address",
        )
    return failures


async def send_links(open_work: OpenUnitOfWork) -> None:
    """Sends the links that "forgot password" requested, until none waits."""
    found = 1
    while found:
        async with open_work() as work:
            found = await send_requested_links(work)


async def deliver_mail(
    open_queue: OpenQueue, send: Send, count: Callable[[str], None], delivered: set[str]
) -> None:
    """Sends every email that is due; logs those that could not be delivered.

    `delivered` are the IDs of those that are sent and not recorded yet.
    """

    def report(mail: StoredEmail, outcome: Delivered | Undelivered) -> None:
        count("sent" if isinstance(outcome, Delivered) else "failed")
        if isinstance(outcome, Undelivered):
            _log.warning("mail not delivered", mail_id=mail.mail_id, problem=outcome.problem)

    await deliver_due(open_queue, send, pause_after, report, delivered)
