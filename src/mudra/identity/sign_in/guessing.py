"""Detect guessed passwords: notify users, and alarm the operator."""

from mudra.identity.accounts.user import UserState
from mudra.identity.ports import IdentityUnitOfWork
from mudra.identity.sign_in.throttle import ADDRESS_PERIOD, NETWORK_FAILURES
from mudra.shared.notice import Notice, NoticeKind
from mudra.shared.time_text import iso_ms


async def notify_guessed_users(work: IdentityUnitOfWork) -> None:
    """Send an email to each user at whose password someone guesses; the throttle queued them."""
    for guessed in await work.attempts.take_guessed():
        if guessed.state is not UserState.ACTIVE:
            continue
        facts = {
            "user_name": guessed.name,
            "failures": str(guessed.failures),
            "last_failure_at": iso_ms(guessed.last_failure_at),
        }
        await work.outbox.post(Notice(guessed.email, NoticeKind.SIGN_IN_WAITS, facts))


async def recent_failures(work: IdentityUnitOfWork) -> int:
    """Count the failed sign-ins of the last five minutes, over all names and addresses."""
    return await work.attempts.count_since(await work.people.now() - ADDRESS_PERIOD)


def is_alarming(failures: int) -> bool:
    """Return whether so many recent failures need an operator's attention."""
    return failures >= NETWORK_FAILURES
