"""When to remind a member that its secret expires. Pure.

30, 14, 7, 3 and 1 days before, and once after. Each is sent once: of those missed
while the service was down only the most urgent is sent, since five emails in one
morning help no one, and the others count as done.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

DAYS_BEFORE: Final = (30, 14, 7, 3, 1)
AFTER_EXPIRY: Final = 0
"""The mark of the one email that is sent once the secret has expired."""
_MARKS: Final = (*DAYS_BEFORE, AFTER_EXPIRY)


class Reminder(Struct, frozen=True):
    """Marks to store as done, and the one of them, if any, for which an email is sent.

    A mark is the number of days before expiry, or AFTER_EXPIRY.
    """

    send: int | None
    done: frozenset[int]


NOTHING_DUE: Final = Reminder(None, frozenset())


def reminder_due(
    *, made_at: datetime, expires_at: datetime, done: Collection[int], now: datetime
) -> Reminder:
    """Return what is due at `now` for a secret made and expiring at these times.

    A day at or before the making of the secret does not count: after a reset for
    10 days, the reminder of 14 days is not sent at once.
    """
    passed = {mark for mark in _MARKS if made_at < expires_at - timedelta(days=mark) <= now}
    missed = passed.difference(done)
    if not missed:
        return NOTHING_DUE
    most_urgent = min(missed)
    overtaken = any(mark < most_urgent for mark in done)
    return Reminder(None if overtaken else most_urgent, frozenset(missed))
