"""Timed emails and alarms: reminders of secrets, guessed passwords, undelivered email."""

from collections.abc import Callable

import structlog

from mudra.identity.accounts.acts.send_link import send_requested_links
from mudra.identity.sign_in.guessing import is_alarming, notify_guessed_users, recent_failures
from mudra.identity.sign_in.throttle import ADDRESS_PERIOD
from mudra.jobs.retry_delay import pause_after
from mudra.overview.mail_delivery import Delivered, Send, Undelivered, deliver_due
from mudra.overview.mail_queue_store import MailAlarms, MailQueue
from mudra.shared.mail.email_message import StoredEmail
from mudra.storage.database.transaction import OpenTransaction
from mudra.tokens.reminders.remind import remind, to_remind

_log = structlog.get_logger()


async def notify_people(open_transaction: OpenTransaction) -> None:
    """Notifies users of failed sign-ins, and members of what they are reminded of.

    The reminders of one entity are in one transaction.
    """
    async with open_transaction() as tx:
        await notify_guessed_users(tx)
        found = await to_remind(tx)
    for entity_id in found:
        async with open_transaction() as tx:
            await remind(tx, entity_id)


async def raise_mail_alarms(open_transaction: OpenTransaction) -> MailAlarms:
    """Logs each email once that cannot be delivered; returns what is wrong with the outbox."""
    async with open_transaction() as tx:
        found = await MailQueue(tx).raise_alarms()
    for mail_id in found.new:
        _log.error("mail cannot be delivered", mail_id=mail_id, remedy="mudra mail list --failed")
    return found


async def watch_sign_ins(open_transaction: OpenTransaction) -> int:
    """Raises an alarm while many sign-ins fail; returns how many."""
    async with open_transaction() as tx:
        failures = await recent_failures(tx)
    if is_alarming(failures):
        _log.error(
            "many failed sign-ins",
            failures=failures,
            minutes=int(ADDRESS_PERIOD.total_seconds() // 60),
            remedy="look for user:sign_in:refuse in the audit, by address",
        )
    return failures


async def send_links(open_transaction: OpenTransaction) -> None:
    """Sends the links that "forgot password" requested, until none waits."""
    found = 1
    while found:
        async with open_transaction() as tx:
            found = await send_requested_links(tx)


async def deliver_mail(
    open_tx: OpenTransaction, send: Send, count: Callable[[str], None], delivered: set[str]
) -> None:
    """Sends every email that is due; logs those that could not be delivered.

    `delivered` are the IDs of those that are sent and not recorded yet.
    """

    def report(mail: StoredEmail, outcome: Delivered | Undelivered) -> None:
        count("sent" if isinstance(outcome, Delivered) else "failed")
        if isinstance(outcome, Undelivered):
            _log.warning("mail not delivered", mail_id=mail.mail_id, problem=outcome.problem)

    await deliver_due(open_tx, send, pause_after, report, delivered)
