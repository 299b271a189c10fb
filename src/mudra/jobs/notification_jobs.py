"""Letters that time brings about: reminders of secrets, and word of guessed passwords."""

import structlog

from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.ports import Notice, NoticeKind
from mudra.identity.sign_in.throttle import ADDRESS_PERIOD, NETWORK_FAILURES
from mudra.shared.time_text import iso_ms
from mudra.storage.identity.sign_in_waits import failures_of_all, take_guessed
from mudra.tokens.reminders.remind import LOOK_AHEAD, LOOK_BACK, remind

_log = structlog.get_logger()


async def remind_members(dependencies: Dependencies) -> None:
    """Send each reminder that is due, one entity in one transaction."""
    async with dependencies.unit_of_work() as work:
        now = await work.people.now()
        candidates = await work.reminders.candidates(now + LOOK_AHEAD, now - LOOK_BACK)
    for entity_id in candidates:
        async with dependencies.unit_of_work() as work:
            await remind(
                entity_id,
                secrets=work.secrets,
                uses=work.uses,
                reminders=work.reminders,
                desk=work.notices,
                journal=work.journal,
                iso=iso_ms,
            )


async def raise_mail_alarms(dependencies: Dependencies) -> int:
    """Log each letter once that cannot be delivered; gives how many there are."""
    async with dependencies.unit_of_work() as work:
        new, failing = await work.mail_queue.raise_alarms()
    for mail_id in new:
        _log.error("mail cannot be delivered", mail_id=mail_id, remedy="mudra mail list --failed")
    return failing


async def watch_sign_ins(dependencies: Dependencies) -> int:
    """Alarm while many sign-ins fail over all names and addresses (quality A3); gives how many."""
    async with dependencies.database.transaction() as transaction:
        failures = await failures_of_all(transaction)
    if failures >= NETWORK_FAILURES:
        _log.error(
            "many failed sign-ins",
            failures=failures,
            minutes=int(ADDRESS_PERIOD.total_seconds() // 60),
            remedy="look for user:sign_in:refuse in the audit, by address",
        )
    return failures


async def notify_guessing(dependencies: Dependencies) -> None:
    """Tell users of failed sign-ins at 5, 20 and 50 of them (decisions 3)."""
    async with dependencies.database.transaction() as transaction:
        outbox = dependencies.outbox(transaction)
        for guessed in await take_guessed(transaction):
            await outbox.post(
                Notice(
                    guessed.email,
                    NoticeKind.SIGN_IN_WAITS,
                    {
                        "user_name": guessed.name,
                        "failures": str(guessed.failures),
                        "last_failure_at": iso_ms(guessed.last_failure_at),
                    },
                )
            )
