"""Detect guessed passwords: notify users, and alarm the operator."""

from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import UserState
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.throttle import ADDRESS_PERIOD, NETWORK_FAILURES
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.time_text import iso_ms
from mudra.storage.database.transaction import Transaction
from mudra.storage.mail.outbox import Outbox


async def notify_guessed_users(tx: Transaction) -> None:
    """Send an email to each user at whose password someone guesses; the throttle queued them."""
    for guessed in await Attempts(tx).take_guessed():
        if guessed.state is not UserState.ACTIVE:
            continue
        facts = {
            "user_name": guessed.name,
            "failures": str(guessed.failures),
            "last_failure_at": iso_ms(guessed.last_failure_at),
        }
        await tx.service(Outbox).post(Notice(guessed.email, NoticeKind.SIGN_IN_WAITS, facts))


async def recent_failures(tx: Transaction) -> int:
    """Count the failed sign-ins of the last five minutes, over all names and addresses."""
    return await Attempts(tx).count_since(await People(tx).now() - ADDRESS_PERIOD)


def is_alarming(failures: int) -> bool:
    """Return whether so many recent failures need an operator's attention."""
    return failures >= NETWORK_FAILURES
